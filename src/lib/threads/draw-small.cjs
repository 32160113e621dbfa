// The thread of `shrinkImage`: plain JavaScript, so that Node.js loads it beside the build and beside the tests.
'use strict';
const { parentPort, workerData } = require('node:worker_threads');
const { createCanvas, loadImage } = require('@napi-rs/canvas');

/** Draws an image on white. */
async function drawSmall({ bytes, side }) {
  const image = await loadImage(Buffer.from(bytes)).catch(() => undefined);
  if (image === undefined) return 'no_image';
  const scale = Math.min(1, side / Math.max(image.width, image.height));
  const scaled = (length) => Math.max(1, Math.round(length * scale));
  const [width, height] = [scaled(image.width), scaled(image.height)];
  const canvas = createCanvas(width, height);
  const context = canvas.getContext('2d');
  context.fillStyle = '#fff';
  context.fillRect(0, 0, width, height);
  context.imageSmoothingQuality = 'high';
  context.drawImage(image, 0, 0, width, height);
  return { png: await canvas.encode('png'), width, height };
}

async function respond() {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port of a thread has no origin
  parentPort.postMessage(await drawSmall(workerData));
}

// A rejection is an error of the thread.
void respond();
