import path from 'node:path';

/** The typeface of pages, cards, images and receipts. */
export const FONT_FAMILY = 'Plus Jakarta Sans';

const FILES = path.join(path.dirname(require.resolve('@fontsource/plus-jakarta-sans/package.json')), 'files');

/** The path of a WOFF2 file with a part of the letters, as the package divides them. */
export function fontFile(part: 'latin' | 'latin-ext', weight: 400 | 500 | 600 | 700): string {
  return path.join(FILES, `plus-jakarta-sans-${part}-${weight}-normal.woff2`);
}
