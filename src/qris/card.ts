import path from 'node:path';
import type { SKRSContext2D } from '@napi-rs/canvas';
import { codeRows, encodePng, modulesAcross } from './image';

/** A line of text. One that is too long is drawn smaller, and then cut. */
export interface CardText {
  readonly kind: 'text';
  readonly text: string;
  readonly size: number;
  readonly isBold?: boolean;
  readonly isDim?: boolean;
  /** Free pixels above it. */
  readonly gap: number;
}

/** A name at the left and its value at the right. */
export interface CardRow {
  readonly kind: 'row';
  readonly name: string;
  readonly value: string;
  readonly gap: number;
}

export interface Card {
  readonly above: readonly (CardText | CardRow)[];
  /** The payload of the code; null if the card has none. */
  readonly payload: string | null;
  readonly below: readonly (CardText | CardRow)[];
}

const WIDTH = 600;
const PADDING = 36;
const TEXT_WIDTH = WIDTH - 2 * PADDING;
const ROW = { size: 21, height: 46 } as const;
/** A text is never smaller than this part of its size. */
const SMALLEST_PART = 0.6;
/** The height of a line, and where its letters stand in it. */
const LINE = 1.3;
const BASELINE = 1;
const COLOURS = { text: '#17211c', dim: '#4f5d56', line: '#dde4e0' } as const;

const FAMILY = 'Plus Jakarta Sans';
const FONTS = path.join(path.dirname(require.resolve('@fontsource/plus-jakarta-sans/package.json')), 'files');

/** Skia with the Latin letters of the font, as its package divides them. */
async function loadSkia() {
  const skia = await import('@napi-rs/canvas');
  for (const part of ['latin', 'latin-ext']) {
    for (const weight of [500, 700]) {
      skia.GlobalFonts.registerFromPath(path.join(FONTS, `plus-jakarta-sans-${part}-${weight}-normal.woff2`), FAMILY);
    }
  }
  return skia;
}

/** Skia is loaded with the first card: it takes memory, and most dashboards draw none. */
let loaded: ReturnType<typeof loadSkia> | undefined;

/**
 * A card as a greyscale PNG, to save or to print. Skia draws only its text: to draw and encode the whole card took
 * 25 ms of CPU.
 * @throws Error if the payload does not fit into a QR code; a payload of 512 characters fits
 */
export async function renderCardPng({ above, payload, below }: Card): Promise<Buffer> {
  const skia = await (loaded ??= loadSkia());
  const text = textRows(skia, [...above, ...below]);
  const end = heightOf(above);
  const code = payload === null ? [] : largestCode(payload);
  return encodePng([...text.slice(0, end), ...code, ...text.slice(end)], { width: WIDTH, bitDepth: 8 });
}

/** The code as large as whole pixels allow. */
function largestCode(payload: string): Uint8Array[] {
  const pixelsPerModule = Math.floor(WIDTH / modulesAcross(payload));
  return codeRows(payload, { rowsPerModule: pixelsPerModule, bytesPerModule: pixelsPerModule, bytesPerRow: WIDTH });
}

type CardPart = CardText | CardRow;
type Skia = Awaited<ReturnType<typeof loadSkia>>;

function heightOf(parts: readonly CardPart[]): number {
  return parts.reduce((sum, part) => sum + heightOfPart(part), 0);
}

function heightOfPart(part: CardPart): number {
  return part.gap + (part.kind === 'row' ? ROW.height : Math.ceil(part.size * LINE));
}

/** The parts below each other as rows of grey pixels. */
function textRows(skia: Skia, parts: readonly CardPart[]): Uint8Array[] {
  const height = heightOf(parts);
  const canvas = skia.createCanvas(WIDTH, height);
  const context = canvas.getContext('2d');
  context.fillStyle = '#fff';
  context.fillRect(0, 0, WIDTH, height);
  let top = 0;
  for (const part of parts) {
    if (part.kind === 'row') drawRow(context, part, top);
    else drawText(context, part, top);
    top += heightOfPart(part);
  }
  const bytes = canvas.data();
  const pixels = new Uint32Array(bytes.buffer, bytes.byteOffset, WIDTH * height);
  // The lowest byte of a pixel is its red, which is near its grey.
  return Array.from({ length: height }, (_, y) => new Uint8Array(pixels.subarray(y * WIDTH, (y + 1) * WIDTH)));
}

function drawText(context: SKRSContext2D, { text, size, gap, isBold = false, isDim = false }: CardText, top: number) {
  const shown = fit(context, text, { size, weight: isBold ? 700 : 500, width: TEXT_WIDTH });
  context.fillStyle = isDim ? COLOURS.dim : COLOURS.text;
  context.textAlign = 'center';
  context.fillText(shown, WIDTH / 2, top + gap + size * BASELINE);
}

function drawRow(context: SKRSContext2D, { name, value, gap }: CardRow, partTop: number): void {
  const { size, height } = ROW;
  const top = partTop + gap;
  const baseline = top + height / 2 + size / 3;
  context.fillStyle = COLOURS.line;
  context.fillRect(PADDING, top, TEXT_WIDTH, 2);
  context.textAlign = 'left';
  context.fillStyle = COLOURS.dim;
  const shownName = fit(context, name, { size, weight: 500, width: TEXT_WIDTH / 2 });
  const width = TEXT_WIDTH - context.measureText(shownName).width - size;
  context.fillText(shownName, PADDING, baseline);
  context.textAlign = 'right';
  context.fillStyle = COLOURS.text;
  context.fillText(fit(context, value, { size, weight: 500, width }), WIDTH - PADDING, baseline);
}

interface Fit {
  readonly size: number;
  readonly weight: number;
  readonly width: number;
}

/** Sets the font in which the text fits. @returns the text, cut if it does not fit in the smallest one */
function fit(context: SKRSContext2D, text: string, { size, weight, width }: Fit): string {
  context.font = `${weight} ${size}px "${FAMILY}"`;
  const needed = context.measureText(text).width;
  if (needed <= width) return text;
  const smaller = Math.max(width / needed, SMALLEST_PART);
  context.font = `${weight} ${Math.floor(size * smaller)}px "${FAMILY}"`;
  const characters = Array.from(text);
  const isTooLong = (length: number) => context.measureText(`${characters.slice(0, length).join('')}…`).width > width;
  if (context.measureText(text).width <= width) return text;
  let length = Math.min(characters.length, Math.floor((characters.length * width) / (needed * smaller)) + 2);
  while (length > 0 && isTooLong(length)) length -= 1;
  return `${characters.slice(0, length).join('').trimEnd()}…`;
}
