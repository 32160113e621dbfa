import { promisify } from 'node:util';
import { crc32, deflate } from 'node:zlib';
import QRCode from 'qrcode';
import { drawText, type TextLine } from './bitmap-text';

/** Level M corrects 15 % of damage. */
const CODE = { errorCorrectionLevel: 'M' } as const;
/** Modules of the quiet zone: ISO/IEC 18004 requires at least four. */
const MARGIN = 4;
/** Large enough for a phone's camera at arm's length. With one bit per pixel, a module is one byte of a row. */
const PIXELS_PER_MODULE = 8;
/** A pixel is one bit. */
const PIXELS_PER_BYTE = 8;
/** The first byte of a scan line (RFC 2083). */
const NO_FILTER = Buffer.of(0);

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const WHITE = 0xff;
const BLACK = 0x00;

const compress = promisify(deflate);

/**
 * The payload as a PNG. The encoder of `qrcode` takes 12 to 21 ms for it, on the event loop that all requests share;
 * this one takes 3 ms.
 * @throws Error if the text does not fit into a QR code; a payload of 512 characters fits
 */
export async function renderQrisPng(payload: string): Promise<Buffer> {
  return encodePng(scanLinesOf(payload));
}

/** The payload as a PNG with lines of text below it. @throws like `renderQrisPng` */
export async function renderLabelledQrisPng(payload: string, lines: readonly TextLine[]): Promise<Buffer> {
  const code = scanLinesOf(payload);
  const bytesPerLine = (code[0]?.length ?? 1) - 1;
  const text = lines.flatMap((line) => drawText(line, bytesPerLine));
  const blank = Array.from({ length: MARGIN * PIXELS_PER_MODULE }, () => Buffer.alloc(bytesPerLine, WHITE));
  return encodePng([...code, ...[...text, ...blank].map((pixels) => Buffer.concat([NO_FILTER, pixels]))]);
}

/** The dark modules as the path of an SVG whose view box has this size, quiet zone included. @throws like the others */
export function drawQrisPath(payload: string): { readonly size: number; readonly path: string } {
  const { modules } = QRCode.create(payload, CODE);
  const squares: string[] = [];
  for (let y = 0; y < modules.size; y += 1) {
    for (let x = 0; x < modules.size; x += 1) {
      if (modules.get(y, x)) squares.push(`M${x + MARGIN} ${y + MARGIN}h1v1h-1z`);
    }
  }
  return { size: modules.size + 2 * MARGIN, path: squares.join('') };
}

function scanLinesOf(payload: string): Buffer[] {
  return moduleRows(payload).flatMap((row) => Array.from({ length: PIXELS_PER_MODULE }, () => row));
}

/** @param scanLines each with its filter byte */
async function encodePng(scanLines: readonly Buffer[]): Promise<Buffer> {
  const pixels = await compress(Buffer.concat(scanLines));
  const width = ((scanLines[0]?.length ?? 1) - 1) * PIXELS_PER_BYTE;
  const size = { width, height: scanLines.length };
  return Buffer.concat([SIGNATURE, chunk('IHDR', header(size)), chunk('IDAT', pixels), chunk('IEND')]);
}

/** The payload as an SVG without a fixed size. @throws like `renderQrisPng` */
export function renderQrisSvg(payload: string): Promise<string> {
  return QRCode.toString(payload, { ...CODE, margin: MARGIN, type: 'svg' });
}

/** Each row of modules as a scan line of the PNG: the filter byte, then one byte for each module. */
function moduleRows(payload: string): Buffer[] {
  const { modules } = QRCode.create(payload, CODE);
  const size = modules.size + 2 * MARGIN;
  const rows = Array.from({ length: size }, () => Buffer.concat([NO_FILTER, Buffer.alloc(size, WHITE)]));
  for (let y = 0; y < modules.size; y += 1) {
    for (let x = 0; x < modules.size; x += 1) {
      if (modules.get(y, x)) rows[y + MARGIN]?.writeUInt8(BLACK, x + MARGIN + 1);
    }
  }
  return rows;
}

/** A greyscale image of one bit per pixel. */
function header({ width, height }: { readonly width: number; readonly height: number }): Buffer {
  const content = Buffer.alloc(13);
  content.writeUInt32BE(width, 0);
  content.writeUInt32BE(height, 4);
  content.writeUInt8(1, 8);
  return content;
}

function chunk(type: 'IHDR' | 'IDAT' | 'IEND', content: Buffer = Buffer.alloc(0)): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), content]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(content.length);
  checksum.writeUInt32BE(crc32(typed));
  return Buffer.concat([length, typed, checksum]);
}
