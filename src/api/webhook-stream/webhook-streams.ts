import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Response } from 'express';
import { abortAfter } from '../../lib/abort-after';
import { findStreamPage, type StreamCursor, type StreamedEvent } from '../../db/queries/find-webhook-stream';
import type { Queryable } from '../../db/connection/pool';
import type { Logger } from '../../observability/logger';
import { ApiError } from '../../http/api-error';
import { formatCursor, paymentEventId } from './stream-cursor';

const INTERVAL_MS = 500;
/** A comment after this many intervals, so that proxies do not close an idle connection. */
const INTERVALS_PER_COMMENT = 20;
/** Of one process. Each stream costs two statements a second. */
const MAX_STREAMS = 20;
const MAX_STREAMS_PER_KEY = 4;
const RETRY_AFTER_SECONDS = 5;
/** A reader that takes longer is gone. */
const DRAIN_TIMEOUT_MS = 30_000;

interface Reader {
  readonly keyId: string;
  readonly merchantId: string;
  readonly cursor: StreamCursor;
  /** Whether the key may still read. */
  readonly isAuthorized: () => Promise<boolean>;
}

/** The event streams of `lunas listen`. Each reads its merchant's events from PostgreSQL, at its own speed. */
export class WebhookStreams {
  /** By key. */
  readonly #open = new Map<string, Set<Response>>();
  #isStopped = false;

  constructor(
    private readonly db: Queryable,
    private readonly log: Logger,
  ) {}

  /** @throws ApiError `rate_limited` if the key, or the process, has as many streams as it may have */
  requirePlace(keyId: string): void {
    const count = [...this.#open.values()].reduce((sum, { size }) => sum + size, 0);
    const ofKey = this.#open.get(keyId)?.size ?? 0;
    if (count < MAX_STREAMS && ofKey < MAX_STREAMS_PER_KEY) return;
    throw new ApiError(
      'rate_limited',
      ofKey < MAX_STREAMS_PER_KEY
        ? 'This process has as many event streams as it may have; try again later.'
        : `The key has ${MAX_STREAMS_PER_KEY} event streams already; end one of them.`,
      { headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) } },
    );
  }

  /** Sends the events after the cursor until one side ends the stream. */
  add(reader: Reader, response: Response): void {
    const { keyId } = reader;
    const ofKey = this.#open.get(keyId) ?? new Set<Response>();
    this.#open.set(keyId, ofKey.add(response));
    const closed = new AbortController();
    response.once('close', () => {
      closed.abort();
      ofKey.delete(response);
      if (ofKey.size === 0) this.#open.delete(keyId);
    });
    response.flushHeaders();
    this.#run(reader, response, closed.signal).catch((error: unknown) => {
      if (!closed.signal.aborted) this.log.warn({ err: error }, 'event stream ended');
      response.destroy();
    });
  }

  /** Ends all streams: the readers connect again, to another process. */
  stop(): void {
    this.#isStopped = true;
    for (const response of [...this.#open.values()].flatMap((ofKey) => Array.from(ofKey))) response.end();
  }

  async #run({ merchantId, cursor, isAuthorized }: Reader, response: Response, closed: AbortSignal): Promise<void> {
    let next = cursor;
    await write(response, `id: ${formatCursor(next)}\nevent: ready\ndata: {}\n\n`, closed);
    for (let intervals = 1; !closed.aborted && !this.#isStopped; intervals += 1) {
      if (!(await isAuthorized())) return void response.end();
      const page = await findStreamPage(this.db, merchantId, next);
      for (const event of page.events) await write(response, eventText(event), closed);
      next = page.cursor;
      // The cursor passes the events of other merchants too.
      if (page.isFull || intervals % INTERVALS_PER_COMMENT === 0)
        await write(response, `id: ${formatCursor(next)}\nevent: cursor\ndata: {}\n\n`, closed);
      if (!page.isFull) await sleep(INTERVAL_MS, undefined, { signal: closed, ref: false });
    }
  }
}

function eventText({ cursor, event, body, isRedelivery }: StreamedEvent): string {
  const { paymentId } = cursor;
  const data = { delivery_id: paymentEventId(cursor), event, payment_id: paymentId, is_redelivery: isRedelivery, body };
  return `id: ${formatCursor(cursor)}\nevent: delivery\ndata: ${JSON.stringify(data)}\n\n`;
}

/** A reader that does not read must not fill the memory: the next event waits until this one has left. */
async function write(response: Response, text: string, closed: AbortSignal): Promise<void> {
  if (closed.aborted || response.writableEnded || response.write(text)) return;
  await abortAfter(DRAIN_TIMEOUT_MS, closed, (signal) => once(response, 'drain', { signal }));
}
