import type { IconTone } from '../icons';
import type { LineStyle } from './card';

/** Sizes are in units, of which a card is as wide: the CSS pixels of a checkout page on a phone. */
export const UNITS = 400;
/** A phone shows the image sharply, and a chat that makes it smaller keeps its text readable. */
export const PIXELS_PER_UNIT = 2.25;
export const PADDING = 20;
export const CONTENT_WIDTH = UNITS - 2 * PADDING;

/** The light colours of `tokens.css`: an image has one scheme. */
export const COLOURS = {
  page: '#f4f6f5',
  card: '#ffffff',
  text: '#17211c',
  dim: '#4f5d56',
  line: '#dde4e0',
  good: '#0b6b4b',
  onGood: '#ffffff',
  amber: '#8a5a00',
  amberSoft: '#fcf2dc',
  red: '#b3261e',
  redSoft: '#fcebe9',
  blue: '#1f5fa8',
  blueSoft: '#e7f0fa',
  neutralSoft: '#ebefed',
} as const;

/** The disc of a drawing, and its line. */
export const ICON_COLOURS: Readonly<Record<IconTone, readonly [disc: string, line: string]>> = {
  neutral: [COLOURS.neutralSoft, COLOURS.dim],
  good: [COLOURS.good, COLOURS.onGood],
  blue: [COLOURS.blueSoft, COLOURS.blue],
  amber: [COLOURS.amberSoft, COLOURS.amber],
  red: [COLOURS.redSoft, COLOURS.red],
};

export interface TextStyle {
  readonly size: number;
  readonly weight: 400 | 600 | 700;
  readonly lineHeight: number;
  readonly colour: string;
  /** Parts of the size. */
  readonly letterSpacing?: number;
  /** Digits are as wide as each other. */
  readonly isTabular?: boolean;
  /** A text of more lines is cut. */
  readonly maxLines: number;
}

interface StyledLine extends TextStyle {
  /** Free units below it. */
  readonly below: number;
}

const BODY = { size: 16, weight: 400, lineHeight: 24, colour: COLOURS.text, maxLines: 4 } as const;

/** The styles of the lines, with the sizes and weights of `checkout.css`. */
export const LINES: Readonly<Record<LineStyle, StyledLine>> = {
  task: { ...BODY, colour: COLOURS.dim, maxLines: 1, below: 0 },
  title: { ...BODY, size: 22, weight: 700, lineHeight: 28, maxLines: 2, below: 6 },
  explanation: { ...BODY, below: 14 },
  amount: {
    ...BODY,
    size: 40,
    weight: 700,
    lineHeight: 44,
    letterSpacing: -0.02,
    isTabular: true,
    maxLines: 1,
    below: 14,
  },
  name: { ...BODY, size: 18, weight: 700, maxLines: 2, below: 0 },
  small: { ...BODY, size: 13, lineHeight: 18, colour: COLOURS.dim, maxLines: 2, below: 0 },
};

export const SHOP_NAME: TextStyle = { ...BODY, weight: 600, lineHeight: 20, maxLines: 2 };
export const INITIALS: TextStyle = { ...BODY, weight: 700, maxLines: 1 };
export const DEADLINE: TextStyle = { ...BODY, size: 14, lineHeight: 20, isTabular: true, maxLines: 1 };
export const FACT: TextStyle = { ...BODY, size: 14, lineHeight: 20, maxLines: 3 };
export const QRIS_MARK: TextStyle = { ...BODY, size: 18, weight: 700, letterSpacing: 0.1, maxLines: 1 };
export const ANY_APP: TextStyle = { ...BODY, size: 12, maxLines: 1 };
export const ENVIRONMENT: TextStyle = { ...BODY, size: 13, lineHeight: 18, colour: COLOURS.amber, maxLines: 1 };
