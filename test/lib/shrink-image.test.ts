import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { EventEmitter } from 'node:events';
import { createCanvas, loadImage, type Canvas } from '@napi-rs/canvas';
import { z } from 'zod';
import { MAX_DECODED_SIDE, shrinkImage, type SmallImage } from '../../src/lib/shrink-image';

/** Red at the left, transparent at the right. */
function drawn(width: number, height: number): Canvas {
  const canvas = createCanvas(width, height);
  const context = canvas.getContext('2d');
  context.fillStyle = '#f00';
  context.fillRect(0, 0, width / 2, height);
  return canvas;
}

const PNG = drawn(600, 300).encodeSync('png');
const JPEG = drawn(600, 300).encodeSync('jpeg', 90);
const WEBP = drawn(600, 300).encodeSync('webp', 90);
const SVG = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(1)</script></svg>');

async function shrunk(bytes: Buffer): Promise<SmallImage> {
  const image = await shrinkImage(bytes, 256);
  if (typeof image === 'string') throw new Error(image);
  return image;
}

it.each([
  ['PNG', PNG, [255, 255, 255, 255]],
  // It has no transparency.
  ['JPEG', JPEG, [0, 0, 0, 255]],
  ['WebP', WEBP, [255, 255, 255, 255]],
])('%s: becomes a PNG of at most the given side, on white', async (_format, bytes, right) => {
  const { png, width, height } = await shrunk(bytes);
  const image = await loadImage(png);
  expect([image.width, image.height]).toEqual([256, 128]);
  expect([width, height]).toEqual([256, 128]);
  const canvas = createCanvas(256, 128);
  canvas.getContext('2d').drawImage(image, 0, 0);
  const pixel = (x: number) => Array.from(canvas.getContext('2d').getImageData(x, 64, 1, 1).data);
  const [red = 0, green = 255] = pixel(30);
  expect([red > 240, green < 20]).toEqual([true, true]);
  expect(pixel(230)).toEqual(right);
});

it('keeps the size of a small image, and no byte that does not show', async () => {
  const secret = 'location of the photographer';
  const comment = Buffer.concat([Buffer.from([0xff, 0xfe, 0, secret.length + 2]), Buffer.from(secret)]);
  const small = drawn(40, 20).encodeSync('jpeg', 90);
  const { png, width, height } = await shrunk(Buffer.concat([small.subarray(0, 2), comment, small.subarray(2)]));
  expect([width, height, png.includes(secret)]).toEqual([40, 20, false]);
  const polyglot = await shrunk(Buffer.concat([PNG, SVG, Buffer.from('PK\x03\x04')]));
  expect([polyglot.width, polyglot.png.includes('<svg'), polyglot.png.includes('PK')]).toEqual([256, false, false]);
});

/** The header of a PNG with other sizes. */
function resized(width: number, height: number): Buffer {
  const bytes = Buffer.from(PNG);
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes;
}

function resizedJpeg(width: number): Buffer {
  const bytes = Buffer.from(JPEG);
  bytes.writeUInt16BE(width, bytes.indexOf(Buffer.from([0xff, 0xc0])) + 7);
  return bytes;
}

function resizedWebp(width: number): Buffer {
  const bytes = Buffer.from(WEBP);
  bytes.writeUIntLE(width - 1, 24, 3);
  return bytes;
}

it.each([
  ['a PNG of 60,000 pixels a side', resized(60_000, 60_000)],
  ['a PNG that is one pixel too wide', resized(MAX_DECODED_SIDE + 1, 1)],
  ['a JPEG of 65,000 pixels', resizedJpeg(65_000)],
  ['a WebP of 16,000 pixels', resizedWebp(16_000)],
])('an image with too many pixels is not decoded: %s', async (_name, bytes) => {
  expect(await shrinkImage(bytes, 256)).toBe('too_many_pixels');
});

it.each([
  ['nothing', Buffer.alloc(0)],
  ['an SVG', SVG],
  ['an SVG behind the signature of a PNG', Buffer.concat([PNG.subarray(0, 8), SVG])],
  ['a GIF', Buffer.from('GIF89a\x01\x00\x01\x00\x00\x00\x00;', 'latin1')],
  ['a page', Buffer.from('<!doctype html><p>')],
  ['a PNG without size', resized(0, 0)],
  ['a PNG with another size than its pixels', Buffer.concat([resized(3, 3).subarray(0, 60), PNG.subarray(-12)])],
  ['half a PNG', PNG.subarray(0, PNG.length / 2)],
  ['half a JPEG', JPEG.subarray(0, JPEG.length / 2)],
  ['half a WebP', WEBP.subarray(0, WEBP.length / 2)],
  ['the header of a JPEG', JPEG.subarray(0, 20)],
  ['the header of a WebP', WEBP.subarray(0, 20)],
  ['a JPEG of markers without an end', Buffer.alloc(1_000, 0xff).fill(0xd8, 1, 2)],
])('a file that is no image is not accepted: %s', async (_name, bytes) => {
  expect(await shrinkImage(bytes, 256)).toBe('no_image');
});

it('decodes each image in a thread of its own, one at a time, and leaves none', async () => {
  const large = drawn(MAX_DECODED_SIDE, MAX_DECODED_SIDE).encodeSync('png');
  let [started, running, most] = [0, 0, 0];
  const onThread = (message: unknown) => {
    const { worker } = z.object({ worker: z.instanceof(EventEmitter) }).parse(message);
    started += 1;
    running += 1;
    most = Math.max(most, running);
    worker.once('exit', () => (running -= 1));
  };
  subscribe('worker_threads', onThread);
  const images = await Promise.all([large, large, large].map(shrunk));
  unsubscribe('worker_threads', onThread);
  expect(images.map(({ width, height }) => [width, height])).toEqual(Array.from(images, () => [256, 256]));
  expect([started, most, running]).toEqual([3, 1, 0]);
});
