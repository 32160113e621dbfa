/** What a PDF file without compression shows, one line for each line of a page. */
export function readPdfText(file: Buffer): string {
  const source = file.toString('latin1');
  const lines = Array.from(source.matchAll(/\[(.*)\] TJ/g), ([, parts = '']) =>
    Array.from(parts.matchAll(/<([0-9a-f]*)>/g), ([, hexadecimal = '']) =>
      Buffer.from(hexadecimal, 'hex').toString('latin1'),
    ).join(''),
  );
  return lines.map((line) => line.replaceAll('\u00a0', ' ').trim()).join('\n');
}
