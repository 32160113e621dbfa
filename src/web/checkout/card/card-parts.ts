import type { Path2D, SKRSContext2D } from '@napi-rs/canvas';
import { drawQrisPath } from '../../../qris/image';
import { CODE_WATERMARK } from '../watermark';
import type { Card, CardCode, CardDeadline, CardIcon, CardLine, CardPart } from './card';
import { drawBox } from './card-box';
import {
  ANY_APP,
  COLOURS,
  CONTENT_WIDTH,
  DEADLINE,
  FACT,
  ICON_COLOURS,
  LINES,
  PADDING,
  PIXELS_PER_UNIT,
  QRIS_MARK,
  UNITS,
} from './card-style';
import { balancedLines, linesOf, widthOf, write } from './card-text';
import type { Skia } from './skia';

/** A part whose size is known: the height that it takes, and how it is drawn from its upper end. */
export interface Block {
  readonly height: number;
  readonly draw: (context: SKRSContext2D, top: number) => void;
}

export interface Canvases {
  readonly skia: Skia;
  /** Measures texts. */
  readonly context: SKRSContext2D;
  readonly environment: Card['environment'];
}

const MIDDLE = UNITS / 2;

/** The block of a part. @throws Error if the payload of a code does not fit into a QR code */
export function blockOf(canvases: Canvases, part: CardPart): Block {
  switch (part.kind) {
    case 'line':
      return lineBlock(canvases, part, CONTENT_WIDTH);
    case 'deadline':
      return deadlineBlock(canvases, part);
    case 'icon':
      return iconBlock(canvases, part);
    case 'code':
      return codeBlock(canvases, part);
    case 'facts':
      return stack(part.rows.map((row) => factBlock(canvases, row)));
  }
}

/** Blocks below each other. */
export function stack(blocks: readonly Block[]): Block {
  return {
    height: blocks.reduce((sum, { height }) => sum + height, 0),
    draw(context, top) {
      let next = top;
      for (const { height, draw } of blocks) {
        draw(context, next);
        next += height;
      }
    },
  };
}

function lineBlock({ context: measuring }: Canvases, { text, style }: CardLine, width: number): Block {
  const look = LINES[style];
  const lines = balancedLines(measuring, text, look, width);
  return {
    height: lines.length * look.lineHeight + look.below,
    draw: (context, top) => write(context, lines, look, { x: MIDDLE, top, align: 'center' }),
  };
}

const BADGE = { across: 12, down: 8, radius: 10, gap: 6, below: 16 } as const;

/** A badge: its label, and the time in bold. */
function deadlineBlock({ context: measuring }: Canvases, { label, time }: CardDeadline): Block {
  const bold = { ...DEADLINE, weight: 700 } as const;
  const labelWidth = widthOf(measuring, label, DEADLINE);
  const width = labelWidth + BADGE.gap + widthOf(measuring, time, bold);
  const height = DEADLINE.lineHeight + 2 * BADGE.down;
  return {
    height: height + BADGE.below,
    draw(context, top) {
      const left = MIDDLE - width / 2;
      context.fillStyle = COLOURS.neutralSoft;
      context.beginPath();
      context.roundRect(left - BADGE.across, top, width + 2 * BADGE.across, height, BADGE.radius);
      context.fill();
      const position = { top: top + BADGE.down, align: 'left' } as const;
      write(context, [label], DEADLINE, { ...position, x: left });
      write(context, [time], bold, { ...position, x: left + labelWidth + BADGE.gap });
    },
  };
}

const DISC = { size: 64, above: 8, below: 12, pathSize: 24, line: 1.8 } as const;

function iconBlock({ skia }: Canvases, { icon: { path, tone } }: CardIcon): Block {
  const [disc, line] = ICON_COLOURS[tone];
  const { size, above, below, pathSize } = DISC;
  return {
    height: above + size + below,
    draw(context, top) {
      context.save();
      context.translate(MIDDLE - size / 2, top + above);
      context.scale(size / pathSize, size / pathSize);
      context.fillStyle = disc;
      context.beginPath();
      context.arc(pathSize / 2, pathSize / 2, pathSize / 2, 0, 2 * Math.PI);
      context.fill();
      context.strokeStyle = line;
      context.lineWidth = DISC.line;
      context.lineCap = 'round';
      context.lineJoin = 'round';
      context.stroke(new skia.Path2D(path));
      context.restore();
    },
  };
}

/** The mark begins where the modules of the code do. */
const FRAME = { padding: 8, markAcross: 32, above: 12, below: 14, radius: 14, after: 12 } as const;

function codeBlock(canvases: Canvases, { payload, anyApp, caption }: CardCode): Block {
  const code = modulesBlock(canvases, payload);
  const mark: Block = {
    height: QRIS_MARK.lineHeight,
    draw(context, top) {
      const [left, right] = [PADDING + FRAME.markAcross, UNITS - PADDING - FRAME.markAcross];
      write(context, ['QRIS'], QRIS_MARK, { x: left, top, align: 'left' });
      write(context, [anyApp], ANY_APP, { x: right, top, align: 'right' });
    },
  };
  const width = CONTENT_WIDTH - 4 * FRAME.padding;
  const content = stack([mark, code, ...caption.map((line) => lineBlock(canvases, line, width))]);
  const height = FRAME.above + content.height + FRAME.below;
  return {
    height: height + FRAME.after,
    draw(context, top) {
      drawBox(context, { left: PADDING, top, width: CONTENT_WIDTH, height, radius: FRAME.radius });
      content.draw(context, top + FRAME.above);
    },
  };
}

/** The code as large as whole pixels for its modules allow. */
function modulesBlock({ skia, environment }: Canvases, payload: string): Block {
  const { size, path } = drawQrisPath(payload);
  const pixelsPerModule = Math.floor(((CONTENT_WIDTH - 2 * FRAME.padding) * PIXELS_PER_UNIT) / size);
  const width = size * pixelsPerModule;
  const left = Math.round((UNITS * PIXELS_PER_UNIT - width) / 2);
  return {
    height: width / PIXELS_PER_UNIT,
    draw(context, top) {
      context.save();
      context.setTransform(pixelsPerModule, 0, 0, pixelsPerModule, left, Math.round(top * PIXELS_PER_UNIT));
      context.fillStyle = COLOURS.card;
      context.fillRect(0, 0, size, size);
      if (environment !== null) drawBehindCode(context, size, environment.name);
      fillBlack(context, new skia.Path2D(path));
      context.restore();
    },
  };
}

function fillBlack(context: SKRSContext2D, path: Path2D): void {
  context.fillStyle = '#000';
  context.fill(path);
}

function drawBehindCode(context: SKRSContext2D, size: number, name: string): void {
  const { angle, part, colour } = CODE_WATERMARK;
  context.save();
  context.translate(size / 2, size / 2);
  context.rotate((angle * Math.PI) / 180);
  const style = { ...QRIS_MARK, letterSpacing: 0, size: size * part, lineHeight: size * part, colour };
  write(context, [name], style, { x: 0, top: -style.lineHeight / 2, align: 'center' });
  context.restore();
}

const ROW = { down: 9, gap: 16 } as const;
/** A name is never wider than this part of a row. */
const NAME_PART = 0.45;

function factBlock({ context: measuring }: Canvases, [name, value]: readonly [string, string]): Block {
  const dim = { ...FACT, colour: COLOURS.dim };
  const names = linesOf(measuring, name, dim, CONTENT_WIDTH * NAME_PART);
  const nameWidth = Math.max(...names.map((line) => widthOf(measuring, line, dim)), 0);
  const values = linesOf(measuring, value, FACT, CONTENT_WIDTH - nameWidth - ROW.gap);
  return {
    height: 1 + 2 * ROW.down + Math.max(names.length, values.length) * FACT.lineHeight,
    draw(context, top) {
      context.fillStyle = COLOURS.line;
      context.fillRect(PADDING, top, CONTENT_WIDTH, 1);
      const position = { top: top + 1 + ROW.down };
      write(context, names, dim, { ...position, x: PADDING, align: 'left' });
      write(context, values, FACT, { ...position, x: UNITS - PADDING, align: 'right' });
    },
  };
}
