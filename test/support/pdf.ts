import { inflateSync } from 'node:zlib';

/** The content of each page of a PDF file: what is drawn, and where. */
export function readPdfPages(file: Buffer): string[] {
  const streams = file.toString('latin1').matchAll(/(?<=\bstream\n)[^]*?(?=\nendstream)/g);
  return Array.from(streams, ([stream]) => inflateSync(Buffer.from(stream, 'latin1')).toString('latin1'));
}

/** What a page shows, one line for each of its lines. */
export function textOfPage(content: string): string {
  const lines = Array.from(content.matchAll(/\[(.*)\] TJ/g), ([, parts = '']) =>
    Array.from(parts.matchAll(/<([0-9a-f]*)>/g), ([, hexadecimal = '']) =>
      Buffer.from(hexadecimal, 'hex').toString('latin1'),
    ).join(''),
  );
  return lines.map((line) => line.replaceAll('\u00a0', ' ').trim()).join('\n');
}

/** What a PDF file shows. */
export function readPdfText(file: Buffer): string {
  return readPdfPages(file).map(textOfPage).join('\n');
}
