import type { SKRSContext2D } from '@napi-rs/canvas';
import { COLOURS } from './card-style';

interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly radius: number;
}

/** A box in the colour of the card with a line around it. The line is inside of it, in the middle of its pixels. */
export function drawBox(context: SKRSContext2D, { left, top, width, height, radius }: Box): void {
  context.beginPath();
  context.roundRect(left + 0.5, top + 0.5, width - 1, height - 1, radius);
  context.fillStyle = COLOURS.card;
  context.fill();
  context.strokeStyle = COLOURS.line;
  context.lineWidth = 1;
  context.stroke();
}
