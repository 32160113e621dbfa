import type { Canvas, SKRSContext2D } from '@napi-rs/canvas';
import { FONT_FAMILY, fontFile } from './font';
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
  /** A word that stands all over the card, behind everything; null: none. */
  readonly mark: string | null;
}

/** Sizes are in units, of which a card is as wide. */
const UNITS = 600;
/** A phone shows the image sharply, and a chat that makes it smaller keeps its text readable. */
const PIXELS_PER_UNIT = 1.5;
const WIDTH = UNITS * PIXELS_PER_UNIT;
const PADDING = 36;
const TEXT_WIDTH = UNITS - 2 * PADDING;
const ROW = { size: 21, height: 46 } as const;
/** The word of a mark in its square of pixels. It is light enough for a scanner to read the code in front of it. */
const MARK = { square: 300, size: 52, colour: '#dcdcdc' } as const;
/** A text is never smaller than this part of its size. */
const SMALLEST_PART = 0.6;
/** The height of a line, and where its letters stand in it. */
const LINE = 1.3;
const BASELINE = 1;
const COLOURS = { text: '#17211c', dim: '#4f5d56', line: '#dde4e0' } as const;

/** Skia with the Latin letters of the font. */
async function loadSkia() {
  const skia = await import('@napi-rs/canvas');
  for (const part of ['latin', 'latin-ext'] as const) {
    for (const weight of [500, 700] as const) skia.GlobalFonts.registerFromPath(fontFile(part, weight), FONT_FAMILY);
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
export async function renderCardPng({ above, payload, below, mark }: Card): Promise<Buffer> {
  const skia = await (loaded ??= loadSkia());
  const text = textRows(skia, [...above, ...below]);
  const end = pixelsOf(heightOf(above));
  const code = payload === null ? [] : largestCode(payload);
  const rows = [...text.slice(0, end), ...code, ...text.slice(end)];
  return encodePng(mark === null ? rows : withMark(skia, rows, mark), { width: WIDTH, bitDepth: 8 });
}

/** The code as large as whole pixels allow. */
function largestCode(payload: string): Uint8Array[] {
  const pixelsPerModule = Math.floor(WIDTH / modulesAcross(payload));
  return codeRows(payload, { rowsPerModule: pixelsPerModule, bytesPerModule: pixelsPerModule, bytesPerRow: WIDTH });
}

/** The rows with the word behind them, again and again. */
function withMark(skia: Skia, rows: readonly Uint8Array[], mark: string): Uint8Array[] {
  const { square, size, colour } = MARK;
  const canvas = skia.createCanvas(square, square);
  const context = canvas.getContext('2d');
  context.fillStyle = '#fff';
  context.fillRect(0, 0, square, square);
  context.translate(square / 2, square / 2);
  context.rotate(-Math.PI / 4);
  context.font = `700 ${size}px "${FONT_FAMILY}"`;
  context.textAlign = 'center';
  context.fillStyle = colour;
  context.fillText(mark, 0, size / 3);
  const behind = greyRows(canvas).map((line) => Uint8Array.from({ length: WIDTH }, (_, x) => line[x % square] ?? 0));
  return rows.map((row, y) => darker(row, behind[y % square] ?? row));
}

/** The darker pixels of two rows: a million of an image. */
function darker(row: Uint8Array, behind: Uint8Array): Uint8Array {
  const result = row.slice();
  for (let x = 0; x < WIDTH; x += 1) {
    const grey = behind[x] ?? 0;
    if (grey < (result[x] ?? 0)) result[x] = grey;
  }
  return result;
}

type CardPart = CardText | CardRow;
type Skia = Awaited<ReturnType<typeof loadSkia>>;

function heightOf(parts: readonly CardPart[]): number {
  return parts.reduce((sum, part) => sum + heightOfPart(part), 0);
}

function heightOfPart(part: CardPart): number {
  return part.gap + (part.kind === 'row' ? ROW.height : Math.ceil(part.size * LINE));
}

const pixelsOf = (units: number) => Math.ceil(units * PIXELS_PER_UNIT);

/** The parts below each other as rows of grey pixels. */
function textRows(skia: Skia, parts: readonly CardPart[]): Uint8Array[] {
  const height = pixelsOf(heightOf(parts));
  const canvas = skia.createCanvas(WIDTH, height);
  const context = canvas.getContext('2d');
  context.fillStyle = '#fff';
  context.fillRect(0, 0, WIDTH, height);
  context.scale(PIXELS_PER_UNIT, PIXELS_PER_UNIT);
  let top = 0;
  for (const part of parts) {
    if (part.kind === 'row') drawRow(context, part, top);
    else drawText(context, part, top);
    top += heightOfPart(part);
  }
  return greyRows(canvas);
}

function greyRows(canvas: Canvas): Uint8Array[] {
  const { width, height } = canvas;
  const bytes = canvas.data();
  const pixels = new Uint32Array(bytes.buffer, bytes.byteOffset, width * height);
  // The lowest byte of a pixel is its red, which is near its grey.
  return Array.from({ length: height }, (_, y) => new Uint8Array(pixels.subarray(y * width, (y + 1) * width)));
}

function drawText(context: SKRSContext2D, { text, size, gap, isBold = false, isDim = false }: CardText, top: number) {
  const shown = fit(context, text, { size, weight: isBold ? 700 : 500, width: TEXT_WIDTH });
  context.fillStyle = isDim ? COLOURS.dim : COLOURS.text;
  context.textAlign = 'center';
  context.fillText(shown, UNITS / 2, top + gap + size * BASELINE);
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
  context.fillText(fit(context, value, { size, weight: 500, width }), UNITS - PADDING, baseline);
}

interface Fit {
  readonly size: number;
  readonly weight: number;
  readonly width: number;
}

/** Sets the font in which the text fits. @returns the text, cut if it does not fit in the smallest one */
function fit(context: SKRSContext2D, text: string, { size, weight, width }: Fit): string {
  context.font = `${weight} ${size}px "${FONT_FAMILY}"`;
  const needed = context.measureText(text).width;
  if (needed <= width) return text;
  const smaller = Math.max(width / needed, SMALLEST_PART);
  context.font = `${weight} ${Math.floor(size * smaller)}px "${FONT_FAMILY}"`;
  const characters = Array.from(text);
  const isTooLong = (length: number) => context.measureText(`${characters.slice(0, length).join('')}…`).width > width;
  if (context.measureText(text).width <= width) return text;
  let length = Math.min(characters.length, Math.floor((characters.length * width) / (needed * smaller)) + 2);
  while (length > 0 && isTooLong(length)) length -= 1;
  return `${characters.slice(0, length).join('').trimEnd()}…`;
}
