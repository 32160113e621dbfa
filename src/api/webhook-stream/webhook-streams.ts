import { setTimeout as sleep } from 'node:timers/promises';
import type { Response } from 'express';
import type { Queryable } from '../../db/connection/pool';
import {
  findStreamEnd,
  findStreamPage,
  isOfThisDatabase,
  type StreamCursor,
  type StreamedEvent,
} from '../../db/webhooks/find-webhook-stream';
import { SUBJECT_ID_NAMES } from '../../domain/subject';
import { ApiError } from '../../http/api-error';
import { eventText, writeAndDrain } from '../../http/event-stream';
import type { Logger } from '../../observability/logger';
import { streamedEventId, type StreamCursors } from './stream-cursor';

const INTERVAL_MS = 500;
/** After a full page: the events of a long absence are read without taking a whole connection. */
const PAGE_INTERVAL_MS = 100;
/** A cursor after this many intervals, so that proxies do not close an idle connection. */
const INTERVALS_PER_CURSOR = 20;
/** The limit of one process. Each stream costs two statements a second. */
const MAX_STREAMS = 20;
const MAX_STREAMS_PER_MERCHANT = 8;
const MAX_STREAMS_PER_KEY = 4;
const RETRY_AFTER_SECONDS = 5;
const LIFETIME_MS = 15 * 60_000;
/** A position that is older would take hours to read from. */
const MAX_CURSOR_AGE_MS = 3 * 86_400_000;

/** A stream that may be opened, or is open. */
interface StreamSlot {
  readonly keyId: string;
  readonly merchantId: string;
}

interface Reader {
  /** The `Last-Event-ID` that the client has sent. */
  readonly lastEventId: string | undefined;
  /** Whether the key may still read. */
  readonly isAuthorized: () => Promise<boolean>;
}

interface StreamSettings {
  readonly cursors: StreamCursors;
  readonly log: Logger;
  readonly lifetimeMs?: number;
}

/** The event streams of `lunas listen`. Each reads its merchant's events from PostgreSQL, at its own speed. */
export class WebhookStreams {
  /** Undefined: it is not open yet. */
  readonly #slots = new Map<StreamSlot, Response | undefined>();
  #isStopped = false;

  /** @param db connections that nothing else needs */
  constructor(
    private readonly db: Queryable,
    private readonly settings: StreamSettings,
  ) {}

  /**
   * Takes a slot, which the end of the response returns: call `open` next, without waiting for anything.
   * @throws ApiError `rate_limited` if the key, the merchant or the process has as many streams as it may have
   */
  reserve(slot: StreamSlot): StreamSlot {
    const slots = [...this.#slots.keys()];
    const ofMerchant = slots.filter(({ merchantId }) => merchantId === slot.merchantId);
    const ofKey = ofMerchant.filter(({ keyId }) => keyId === slot.keyId).length;
    if (ofKey >= MAX_STREAMS_PER_KEY) {
      throw tooManyStreams(`The key has ${MAX_STREAMS_PER_KEY} event streams already; end one of them.`);
    }
    if (ofMerchant.length >= MAX_STREAMS_PER_MERCHANT) {
      throw tooManyStreams(`The merchant has ${MAX_STREAMS_PER_MERCHANT} event streams already; end one of them.`);
    }
    if (slots.length >= MAX_STREAMS) {
      throw tooManyStreams('This process has as many event streams as it may have; try again later.');
    }
    const own = { ...slot };
    this.#slots.set(own, undefined);
    return own;
  }

  /** Sends the events after the cursor until one side ends the stream, or its lifetime is over. */
  open(slot: StreamSlot, reader: Reader, response: Response): void {
    const closed = new AbortController();
    const release = () => {
      closed.abort();
      this.#slots.delete(slot);
    };
    // The client may have gone while its key was read: there is no further event then.
    if (response.closed) return release();
    this.#slots.set(slot, response);
    response.once('close', release);
    this.#run(slot, reader, response, closed.signal).catch((error: unknown) => {
      if (!closed.signal.aborted) this.settings.log.warn({ err: error }, 'event stream ended');
      response.destroy();
    });
  }

  /** Ends all streams: the readers connect again, to another process. */
  stop(): void {
    this.#isStopped = true;
    for (const response of this.#slots.values()) response?.end();
  }

  async #run(
    { merchantId }: StreamSlot,
    { lastEventId, isAuthorized }: Reader,
    response: Response,
    closed: AbortSignal,
  ): Promise<void> {
    const endAtMs = performance.now() + (this.settings.lifetimeMs ?? LIFETIME_MS);
    const idOf = (cursor: StreamCursor) => this.settings.cursors.seal(cursor, merchantId);
    const known = await this.#knownCursor(lastEventId, merchantId);
    let next = known ?? (await findStreamEnd(this.db));
    // By the same text the reader knows that it misses nothing.
    const readyId = known && lastEventId !== undefined ? lastEventId : idOf(next);
    await writeAndDrain(response, eventText({ id: readyId, event: 'ready', data: {} }), closed);
    for (let intervals = 1; !closed.aborted && !this.#isStopped; intervals += 1) {
      if (!(await isAuthorized())) return void response.end();
      const page = await findStreamPage(this.db, merchantId, next);
      for (const event of page.events) await writeAndDrain(response, deliveryText(event, idOf(event.cursor)), closed);
      next = page.cursor;
      const isEnd = performance.now() >= endAtMs;
      // The cursor passes the events of other merchants too.
      if (isEnd || page.isFull || intervals % INTERVALS_PER_CURSOR === 0) {
        const text = eventText({ id: idOf(next), event: isEnd ? 'end' : 'cursor', data: {} });
        await writeAndDrain(response, text, closed);
      }
      if (isEnd) return void response.end();
      await sleep(page.isFull ? PAGE_INTERVAL_MS : INTERVAL_MS, undefined, { signal: closed, ref: false });
    }
  }

  /** Undefined without a cursor from which the stream can continue. */
  async #knownCursor(text: string | undefined, merchantId: string): Promise<StreamCursor | undefined> {
    const cursor = text === undefined ? undefined : this.settings.cursors.open(text, merchantId);
    if (!cursor || cursor.atMs < Date.now() - MAX_CURSOR_AGE_MS) return undefined;
    return (await isOfThisDatabase(this.db, cursor)) ? cursor : undefined;
  }
}

function tooManyStreams(message: string): ApiError {
  return new ApiError('streams_open', message, { headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) } });
}

function deliveryText({ cursor, subject, event, body, isRedelivery }: StreamedEvent, id: string): string {
  const subjectId = { [`${SUBJECT_ID_NAMES[subject.kind]}_id`]: subject.id };
  const data = { delivery_id: streamedEventId(cursor), event, ...subjectId, is_redelivery: isRedelivery, body };
  return eventText({ id, event: 'delivery', data });
}
