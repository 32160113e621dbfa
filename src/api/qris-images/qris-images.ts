import { LRUCache } from 'lru-cache';
import type { Queryable } from '../../db/connection/pool';
import { findOriginalResponse } from '../../db/payments/find-original-response';
import { renderQrisPng, renderQrisSvg } from '../../qris/image';

/** Some ten thousand images. */
const MAX_BYTES = 32 * 1_024 * 1_024;

const RENDERERS = {
  png: renderQrisPng,
  svg: async (payload: string) => Buffer.from(await renderQrisSvg(payload)),
} as const;

export type ImageFormat = keyof typeof RENDERERS;

interface ImageQuery {
  readonly paymentId: string;
  readonly format: ImageFormat;
}

/**
 * The images of QR codes. An image never changes, so each one is read and rendered once and then kept in memory.
 * Concurrent requests for an image share its rendering, and slow readers share its bytes.
 */
export class QrisImages {
  readonly #cache: LRUCache<string, Buffer, ImageQuery>;

  constructor(db: Queryable) {
    this.#cache = new LRUCache<string, Buffer, ImageQuery>({
      maxSize: MAX_BYTES,
      sizeCalculation: (image) => image.length,
      fetchMethod: async (_name, _stale, { context: { paymentId, format } }) => {
        const creation = await findOriginalResponse(db, paymentId);
        const payload = creation !== 'archived' && creation?.payment.qrisPayload;
        return payload ? RENDERERS[format](payload) : undefined;
      },
    });
  }

  /** Undefined if the payment has no QR code. */
  find(paymentId: string, format: ImageFormat): Promise<Buffer | undefined> {
    return this.#cache.fetch(`${paymentId}.${format}`, { context: { paymentId, format } });
  }
}
