import type { SKRSContext2D } from '@napi-rs/canvas';
import { FONT_FAMILY } from '../../../qris/font';
import type { TextStyle } from './card-style';

/** `word-spacing` of the page. */
const WORD_SPACING = 0.08;
/** Where the letters stand in their line: half of the height of a capital below its middle. */
const BASELINE = 0.35;

export interface TextPosition {
  /** The left end, the middle or the right end of each line. */
  readonly x: number;
  readonly top: number;
  readonly align: 'left' | 'center' | 'right';
}

function setStyle(
  context: SKRSContext2D,
  { size, weight, letterSpacing = 0, isTabular = false, colour }: TextStyle,
): void {
  context.font = `${weight} ${size}px "${FONT_FAMILY}"`;
  context.wordSpacing = `${size * WORD_SPACING}px`;
  context.letterSpacing = `${size * letterSpacing}px`;
  context.fontVariantNumeric = isTabular ? 'tabular-nums' : 'normal';
  context.fillStyle = colour;
}

/** The lines in which a text fits into the width. The last one is cut if there are too many. */
export function linesOf(context: SKRSContext2D, text: string, style: TextStyle, width: number): string[] {
  setStyle(context, style);
  const fits = (line: string) => context.measureText(line).width <= width;
  const lines: string[] = [];
  let rest = text.trim();
  while (rest !== '' && lines.length < style.maxLines) {
    const isLast = lines.length === style.maxLines - 1;
    const line = fits(rest) ? rest : isLast ? cut(rest, fits) : beginning(rest, fits);
    lines.push(line);
    rest = isLast ? '' : rest.slice(line.length).trimStart();
  }
  return lines;
}

/** How many characters a line of a card has at most: the narrowest letter is an eighth of its size. */
const MAX_CHARACTERS = 250;

/** The words and parts of words that fit, or as many characters as fit if the first part does not. */
function beginning(text: string, fits: (line: string) => boolean): string {
  const most = longest(text, fits);
  if (text.charAt(most.length) === ' ') return most;
  return /^.*[ -]/u.exec(most)?.[0].trimEnd() ?? most;
}

/** The lines of a text in the middle of a card, about as long as each other. */
export function balancedLines(context: SKRSContext2D, text: string, style: TextStyle, width: number): string[] {
  const lines = linesOf(context, text, style, width);
  let [narrow, wide] = [width / 2, width];
  while (wide - narrow > 1) {
    const middle = (narrow + wide) / 2;
    const others = linesOf(context, text, style, middle);
    if (others.length === lines.length && others.join(' ') === lines.join(' ')) wide = middle;
    else narrow = middle;
  }
  return linesOf(context, text, style, wide);
}

function cut(text: string, fits: (line: string) => boolean): string {
  return `${longest(text, (line) => fits(`${line.trimEnd()}…`)).trimEnd()}…`;
}

/** The longest beginning of whole characters that fits. */
function longest(text: string, fits: (line: string) => boolean): string {
  const characters = Array.from(text.slice(0, MAX_CHARACTERS));
  let [shortest, most] = [0, characters.length];
  while (shortest < most) {
    const middle = Math.ceil((shortest + most) / 2);
    if (fits(characters.slice(0, middle).join(''))) shortest = middle;
    else most = middle - 1;
  }
  return characters.slice(0, Math.max(shortest, 1)).join('');
}

/** Writes lines below each other. */
export function write(
  context: SKRSContext2D,
  lines: readonly string[],
  style: TextStyle,
  position: TextPosition,
): void {
  setStyle(context, style);
  context.textAlign = position.align;
  for (const [index, line] of lines.entries()) {
    const middle = position.top + (index + 0.5) * style.lineHeight;
    context.fillText(line, position.x, middle + style.size * BASELINE);
  }
}

export function widthOf(context: SKRSContext2D, text: string, style: TextStyle): number {
  setStyle(context, style);
  return context.measureText(text).width;
}
