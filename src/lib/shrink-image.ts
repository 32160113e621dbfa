import { once } from 'node:events';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { Mutex } from 'async-mutex';
import { z } from 'zod';
import { codeOf } from '../errors';
import { PACKAGE_ROOT } from '../package-info';
import { readImageHeader } from './image-header';

export interface SmallImage {
  readonly png: Buffer;
  readonly width: number;
  readonly height: number;
}

/** Why an image is not drawn. `over_limit`: it took too much time or memory. */
export type ImageRejection = 'no_image' | 'too_many_pixels' | 'over_limit';

/** The longest side of an image that is decoded: it takes 16 MB then. */
export const MAX_DECODED_SIDE = 2_048;

const THREAD = path.join(PACKAGE_ROOT, 'src', 'lib', 'threads', 'draw-small.cjs');
/** The heap of the thread. Pixels are outside of it: `MAX_DECODED_SIDE` limits them. */
const THREAD_MEMORY = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 8 } as const;
/** The largest image takes 0.1 s with the start of the thread. */
const THREAD_LIMIT_MS = 10_000;
const OVER_LIMIT: ReadonlySet<string | undefined> = new Set(['ABORT_ERR', 'ERR_WORKER_OUT_OF_MEMORY']);

/** The message of the thread. */
const drawnSchema = z.union([
  z.literal('no_image'),
  z.object({ png: z.custom<Uint8Array>((value) => ArrayBuffer.isView(value)), width: z.number(), height: z.number() }),
]);

/** One at a time: decoded images are large. */
const decoding = new Mutex();

/**
 * Draws an image on white, and encodes what can be seen: no metadata and no foreign bytes are left. A small image keeps
 * its size. It is decoded in a thread of its own, so that this one responds to requests meanwhile.
 * @param side the longest one of the result
 */
export async function shrinkImage(bytes: Buffer, side: number): Promise<SmallImage | ImageRejection> {
  const header = readImageHeader(bytes);
  if (header === undefined || Math.min(header.width, header.height) < 1) return 'no_image';
  if (Math.max(header.width, header.height) > MAX_DECODED_SIDE) return 'too_many_pixels';
  return decoding.runExclusive(() => drawSmall(bytes, side));
}

/** A new thread for each image: what it took is free afterwards. */
async function drawSmall(bytes: Buffer, side: number): Promise<SmallImage | ImageRejection> {
  const thread = new Worker(THREAD, { workerData: { bytes, side }, resourceLimits: THREAD_MEMORY });
  try {
    const [message]: unknown[] = await once(thread, 'message', { signal: AbortSignal.timeout(THREAD_LIMIT_MS) });
    const drawn = drawnSchema.parse(message);
    return drawn === 'no_image' ? drawn : { ...drawn, png: Buffer.from(drawn.png) };
  } catch (error) {
    if (OVER_LIMIT.has(codeOf(error))) return 'over_limit';
    throw error;
  } finally {
    await thread.terminate();
  }
}
