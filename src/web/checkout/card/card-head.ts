import type { Image, SKRSContext2D } from '@napi-rs/canvas';
import { textOn } from '../../../domain/accent';
import { initialsOf } from '../../ui/initials';
import type { CardShop } from './card';
import { drawBox } from './card-box';
import type { Block, Canvases } from './card-parts';
import { COLOURS, CONTENT_WIDTH, ENVIRONMENT, INITIALS, PADDING, SHOP_NAME, UNITS } from './card-style';
import { linesOf, widthOf, write } from './card-text';

const BAR = { down: 4, gap: 8, stripe: 17, letterSpacing: 0.08 } as const;

/** The bar of an environment without real money, with the stripes of `environment.css`. */
export function environmentBlock({ context: measuring, environment }: Canvases): Block | null {
  if (environment === null) return null;
  const name = { ...ENVIRONMENT, weight: 700, letterSpacing: BAR.letterSpacing } as const;
  const nameWidth = widthOf(measuring, environment.name, name);
  const width = nameWidth + BAR.gap + widthOf(measuring, environment.explanation, ENVIRONMENT);
  const height = 2 * BAR.down + ENVIRONMENT.lineHeight;
  return {
    height: height + 1,
    draw(context, top) {
      drawStripes(context, top, height);
      const left = (UNITS - width) / 2;
      const position = { top: top + BAR.down, align: 'left' } as const;
      write(context, [environment.name], name, { ...position, x: left });
      write(context, [environment.explanation], ENVIRONMENT, { ...position, x: left + nameWidth + BAR.gap });
    },
  };
}

function drawStripes(context: SKRSContext2D, top: number, height: number): void {
  context.fillStyle = COLOURS.page;
  context.fillRect(0, top, UNITS, height);
  context.fillStyle = COLOURS.amberSoft;
  for (let x = -height; x < UNITS; x += 2 * BAR.stripe) {
    context.beginPath();
    context.moveTo(x, top + height);
    context.lineTo(x + height, top);
    context.lineTo(x + height + BAR.stripe, top);
    context.lineTo(x + BAR.stripe, top + height);
    context.fill();
  }
  context.fillStyle = COLOURS.line;
  context.fillRect(0, top + height, UNITS, 1);
}

const STRIP = 6;

/** The strip in the colour of a shop that has one. */
export function stripBlock({ accent }: CardShop): Block {
  return {
    height: PADDING,
    draw(context, top) {
      if (accent === null) return;
      context.fillStyle = accent;
      context.fillRect(0, top, UNITS, STRIP);
    },
  };
}

const HEAD = { gap: 12, below: 12, after: 12 } as const;
const LOGO = { height: 40, around: 5, radius: 10, part: 0.45 } as const;
const INITIALS_SIZE = 44;

/** An emblem of the shop with its width. */
interface Emblem {
  readonly width: number;
  readonly height: number;
  readonly draw: (context: SKRSContext2D, left: number, top: number) => void;
}

/** The shop by its logo or its initials, and its name. */
export function shopBlock({ context: measuring }: Canvases, shop: CardShop, logo: Image | null): Block {
  const emblem = logo === null ? initialsEmblem(shop) : logoEmblem(logo);
  const lines = linesOf(measuring, shop.merchantName, SHOP_NAME, CONTENT_WIDTH - emblem.width - HEAD.gap);
  const nameWidth = Math.max(...lines.map((line) => widthOf(measuring, line, SHOP_NAME)), 0);
  const nameHeight = lines.length * SHOP_NAME.lineHeight;
  const left = (UNITS - emblem.width - HEAD.gap - nameWidth) / 2;
  const height = Math.max(emblem.height, nameHeight);
  return {
    height: height + HEAD.below + 1 + HEAD.after,
    draw(context, top) {
      emblem.draw(context, left, top + (height - emblem.height) / 2);
      const x = left + emblem.width + HEAD.gap;
      write(context, lines, SHOP_NAME, { x, top: top + (height - nameHeight) / 2, align: 'left' });
      context.fillStyle = COLOURS.line;
      context.fillRect(PADDING, top + height + HEAD.below, CONTENT_WIDTH, 1);
    },
  };
}

function initialsEmblem({ merchantName, accent }: CardShop): Emblem {
  const radius = INITIALS_SIZE / 2;
  const colour = accent === null ? COLOURS.onGood : textOn(accent);
  return {
    width: INITIALS_SIZE,
    height: INITIALS_SIZE,
    draw(context, left, top) {
      context.fillStyle = accent ?? COLOURS.good;
      context.beginPath();
      context.arc(left + radius, top + radius, radius, 0, 2 * Math.PI);
      context.fill();
      const position = { x: left + radius, top: top + radius - INITIALS.lineHeight / 2, align: 'center' } as const;
      write(context, [initialsOf(merchantName)], { ...INITIALS, colour }, position);
    },
  };
}

/** In a white box with a line around it. */
function logoEmblem(logo: Image): Emblem {
  const scale = Math.min(LOGO.height / logo.height, (CONTENT_WIDTH * LOGO.part) / logo.width);
  const [shownWidth, shownHeight] = [logo.width * scale, logo.height * scale];
  const width = shownWidth + 2 * LOGO.around;
  const height = LOGO.height + 2 * LOGO.around;
  return {
    width,
    height,
    draw(context, left, top) {
      drawBox(context, { left, top, width, height, radius: LOGO.radius });
      context.drawImage(logo, left + LOGO.around, top + (height - shownHeight) / 2, shownWidth, shownHeight);
    },
  };
}
