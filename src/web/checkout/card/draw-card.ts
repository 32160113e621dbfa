import type { SKRSContext2D } from '@napi-rs/canvas';
import { encodePng } from '../../../qris/image';
import { WATERMARK } from '../watermark';
import type { Card } from './card';
import { environmentBlock, shopBlock, stripBlock } from './card-head';
import { blockOf, stack, type Canvases } from './card-parts';
import { COLOURS, PIXELS_PER_UNIT, QRIS_MARK, UNITS } from './card-style';
import { write } from './card-text';
import { loadSkia } from './skia';

const WIDTH = UNITS * PIXELS_PER_UNIT;
const BOTTOM = 12;
const BYTES_PER_PIXEL = 4;

/** The image of a logo by its hash; undefined if the shop has removed it. */
export type ReadLogo = (hash: string) => Promise<Buffer | undefined>;

/**
 * A card as a PNG, to save or to print.
 * @throws Error if the payload does not fit into a QR code; a payload of 512 characters fits
 */
export async function renderCardPng(card: Card, readLogo: ReadLogo): Promise<Buffer> {
  const skia = await loadSkia();
  const { shop, environment, parts } = card;
  const logo = shop.logo === null ? undefined : await readLogo(shop.logo.hash);
  const image = logo === undefined ? null : await skia.loadImage(logo);
  const canvases: Canvases = { skia, context: skia.createCanvas(1, 1).getContext('2d'), environment };
  const bar = environmentBlock(canvases);
  const content = stack([
    stripBlock(shop),
    shopBlock(canvases, shop, image),
    ...parts.map((part) => blockOf(canvases, part)),
  ]);
  const barHeight = bar?.height ?? 0;
  const height = Math.ceil((barHeight + content.height + BOTTOM) * PIXELS_PER_UNIT);
  const canvas = skia.createCanvas(WIDTH, height);
  const context = canvas.getContext('2d');
  context.fillStyle = COLOURS.card;
  context.fillRect(0, 0, WIDTH, height);
  context.scale(PIXELS_PER_UNIT, PIXELS_PER_UNIT);
  if (environment !== null) drawWatermark(context, { name: environment.name, height });
  bar?.draw(context, 0);
  content.draw(context, barHeight);
  return encodePng(rowsOf(canvas.data(), height), { width: WIDTH, pixel: 'colour' });
}

function rowsOf(pixels: Buffer, height: number): Buffer[] {
  const length = WIDTH * BYTES_PER_PIXEL;
  return Array.from({ length: height }, (_, y) => pixels.subarray(y * length, (y + 1) * length));
}

interface WatermarkSize {
  readonly name: string;
  /** In pixels. */
  readonly height: number;
}

/** The name all over the card, as on the page. */
function drawWatermark(context: SKRSContext2D, { name, height }: WatermarkSize): void {
  const { across, down, size, baseline, angle, opacity } = WATERMARK;
  const style = { ...QRIS_MARK, size, lineHeight: 0, letterSpacing: 0, colour: COLOURS.amber };
  const units = height / PIXELS_PER_UNIT;
  const reach = Math.ceil(Math.hypot(UNITS, units));
  context.save();
  context.globalAlpha = opacity;
  context.rotate((angle * Math.PI) / 180);
  for (let y = -reach; y < reach; y += down) {
    for (let x = -reach; x < reach; x += across) {
      write(context, [name], style, { x: x + across / 2, top: y + baseline, align: 'center' });
    }
  }
  context.restore();
}
