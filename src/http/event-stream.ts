import { once } from 'node:events';
import type { Response } from 'express';
import { abortAfter } from '../lib/abort-after';

/** A buffering proxy would hold the events back. */
export const EVENT_STREAM_HEADERS = { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' } as const;

/** Proxies do not close a connection that has one from time to time. */
export const COMMENT = ':\n\n';

/** A reader that takes longer is gone. */
const DRAIN_TIMEOUT_MS = 30_000;

/** A server-sent event. Without `event` the reader only takes the rest. */
interface StreamEvent {
  /** After how long the reader connects again. */
  readonly retryMs?: number;
  /** The reader sends it as `Last-Event-ID` when it connects again. */
  readonly id?: string;
  readonly event?: string;
  readonly data?: object;
}

/** The event as text. */
export function eventText({ retryMs, id, event, data }: StreamEvent): string {
  const fields = { retry: retryMs, id, event, data: data && JSON.stringify(data) };
  const present = Object.entries(fields).filter(([, value]) => value !== undefined);
  return `${present.map(([name, value]) => `${name}: ${value}\n`).join('')}\n`;
}

/** Writes to one of many readers, for none of which the others wait. One that does not read loses its connection. */
export function writeOrDestroy(response: Response, text: string): void {
  if (response.writableNeedDrain) response.destroy();
  else response.write(text);
}

/**
 * Writes, and waits until the reader has taken it: the next event stays out of the memory until then.
 * @param closed when the response is closed
 * @throws if the reader does not read, or the response is closed meanwhile
 */
export async function writeAndDrain(response: Response, text: string, closed: AbortSignal): Promise<void> {
  if (closed.aborted || response.writableEnded || response.write(text)) return;
  await abortAfter(DRAIN_TIMEOUT_MS, closed, (signal) => once(response, 'drain', { signal }));
}
