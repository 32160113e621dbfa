import { Mutex } from 'async-mutex';
import { readImageHeader } from './image-header';

export interface SmallImage {
  readonly png: Buffer;
  readonly width: number;
  readonly height: number;
}

/** The longest side of an image that is decoded: it takes 16 MB then. */
export const MAX_DECODED_SIDE = 2_048;

/** One at a time: decoded images are large. */
const decoding = new Mutex();

/**
 * Draws an image on white, and encodes what can be seen: no metadata and no foreign bytes are left. A small image keeps
 * its size.
 * @param side the longest one of the result
 * @returns the reason if it is no image, or one that is too large to decode
 */
export async function shrinkImage(bytes: Buffer, side: number): Promise<SmallImage | 'no_image' | 'too_many_pixels'> {
  const header = readImageHeader(bytes);
  if (header === undefined || Math.min(header.width, header.height) < 1) return 'no_image';
  if (Math.max(header.width, header.height) > MAX_DECODED_SIDE) return 'too_many_pixels';
  return decoding.runExclusive(() => drawSmall(bytes, side));
}

async function drawSmall(bytes: Buffer, side: number): Promise<SmallImage | 'no_image'> {
  // It takes memory, and few processes need it.
  const { createCanvas, loadImage } = await import('@napi-rs/canvas');
  const image = await loadImage(bytes).catch(() => undefined);
  if (image === undefined) return 'no_image';
  const scale = Math.min(1, side / Math.max(image.width, image.height));
  const scaled = (length: number) => Math.max(1, Math.round(length * scale));
  const [width, height] = [scaled(image.width), scaled(image.height)];
  const canvas = createCanvas(width, height);
  const context = canvas.getContext('2d');
  context.fillStyle = '#fff';
  context.fillRect(0, 0, width, height);
  context.imageSmoothingQuality = 'high';
  context.drawImage(image, 0, 0, width, height);
  return { png: await canvas.encode('png'), width, height };
}
