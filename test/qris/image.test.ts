import { inflateSync } from 'node:zlib';
import QRCode from 'qrcode';
import { renderQrisPng, renderQrisSvg } from '../../src/qris/image';
import { WARUNG_PAYLOAD } from '../support/warung-qris';

const QUIET_ZONE = 4;

/** Decodes a greyscale PNG of one bit per pixel, with any filter. */
function readPng(png: Buffer): { size: number; isDark(x: number, y: number): boolean } {
  expect(png.subarray(0, 8)).toEqual(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]));
  const size = png.readUInt32BE(16);
  expect(png.readUInt32BE(20)).toBe(size);
  expect([png.readUInt8(24), png.readUInt8(25)]).toEqual([1, 0]);
  const data: Buffer[] = [];
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) {
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT')
      data.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
  }
  const raw = inflateSync(Buffer.concat(data));
  const stride = Math.ceil(size / 8);
  const pixels = Buffer.alloc(stride * size);
  for (let y = 0; y < size; y++) {
    const filter = raw.readUInt8(y * (stride + 1));
    for (let x = 0; x < stride; x++) {
      const left = x >= 1 ? pixels.readUInt8(y * stride + x - 1) : 0;
      const up = y > 0 ? pixels.readUInt8((y - 1) * stride + x) : 0;
      const corner = x >= 1 && y > 0 ? pixels.readUInt8((y - 1) * stride + x - 1) : 0;
      const nearest = [left, up, corner].reduce((best, candidate) => {
        const guess = left + up - corner;
        return Math.abs(guess - candidate) < Math.abs(guess - best) ? candidate : best;
      });
      const predicted = [0, left, up, (left + up) >> 1, nearest][filter] ?? 0;
      pixels.writeUInt8((raw.readUInt8(y * (stride + 1) + 1 + x) + predicted) & 0xff, y * stride + x);
    }
  }
  return { size, isDark: (x, y) => (pixels.readUInt8(y * stride + (x >> 3)) & (0x80 >> (x & 7))) === 0 };
}

describe('the image of a QRIS', () => {
  const { modules } = QRCode.create(WARUNG_PAYLOAD, { errorCorrectionLevel: 'M' });
  const across = modules.size + 2 * QUIET_ZONE;

  it('PNG: all modules of a level-M code, with a quiet zone of four, large enough to scan', async () => {
    const image = readPng(await renderQrisPng(WARUNG_PAYLOAD));
    const pixelsPerModule = image.size / across;
    expect(Number.isInteger(pixelsPerModule)).toBe(true);
    expect(pixelsPerModule).toBeGreaterThanOrEqual(6);
    const middle = (at: number) => Math.floor((at + 0.5) * pixelsPerModule);
    for (let row = 0; row < across; row++) {
      for (let column = 0; column < across; column++) {
        const [y, x] = [row - QUIET_ZONE, column - QUIET_ZONE];
        const inside = x >= 0 && y >= 0 && x < modules.size && y < modules.size;
        const expected = inside && modules.get(y, x) === 1;
        if (image.isDark(middle(column), middle(row)) !== expected) throw new Error(`module ${row}/${column} is wrong`);
      }
    }
  });

  it('SVG: the same modules', async () => {
    const svg = await renderQrisSvg(WARUNG_PAYLOAD);
    expect(svg).toMatch(/^<svg [^>]*viewBox="0 0 (\d+) \1"/);
    expect(svg).toContain(`viewBox="0 0 ${across} ${across}"`);
  });

  it('a payload of maximum length can be rendered as an image', async () => {
    expect((await renderQrisPng('a'.repeat(512))).length).toBeGreaterThan(0);
  });
});
