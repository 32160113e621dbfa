import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { Agent, request } from 'undici';
import { z } from 'zod';
import { UserError } from '../../errors';
import { parseJson } from '../../lib/parse-json';

/** The API sends something every 10 s. */
const SILENCE_TIMEOUT_MS = 30_000;
const CONNECT_TIMEOUT_MS = 5_000;

/** What to do if another server listens at the address, or none. */
export const OTHER_ADDRESS = 'If the API has another address, give it with --api-url.';

const errorSchema = z.object({ error: z.object({ message: z.string() }) });

export interface EventStream {
  readonly apiUrl: string;
  readonly key: string;
  /** The stream continues after it; null: it begins now. */
  readonly cursor: string | null;
}

/**
 * The messages of `GET /webhooks/stream`, until the connection ends.
 * @throws UserError if the API rejects the key @throws Error if there is no connection, or it breaks
 */
export async function* readEventStream(
  { apiUrl, key, cursor }: EventStream,
  signal: AbortSignal,
): AsyncGenerator<EventSourceMessage> {
  const agent = new Agent({ connect: { timeout: CONNECT_TIMEOUT_MS }, bodyTimeout: SILENCE_TIMEOUT_MS });
  try {
    const { statusCode, body } = await request(new URL('/webhooks/stream', apiUrl), {
      dispatcher: agent,
      signal,
      headers: { authorization: `Bearer ${key}`, ...(cursor !== null && { 'last-event-id': cursor }) },
    });
    if (statusCode !== 200) throw rejection(apiUrl, statusCode, await body.text());
    let messages: EventSourceMessage[] = [];
    const parser = createParser({ onEvent: (message) => messages.push(message) });
    const decoder = new TextDecoder();
    for await (const chunk of body) {
      parser.feed(decoder.decode(z.instanceof(Uint8Array).parse(chunk), { stream: true }));
      const complete = messages;
      messages = [];
      yield* complete;
    }
  } finally {
    await agent.destroy();
  }
}

function rejection(apiUrl: string, statusCode: number, body: string): Error {
  const parsed = errorSchema.safeParse(parseJson(body));
  const message = parsed.data?.error.message ?? `status ${statusCode}`;
  if (statusCode === 429 || statusCode >= 500) return new Error(message);
  if (statusCode === 404) return new UserError(`${apiUrl} has no event stream. ${OTHER_ADDRESS}`);
  return new UserError(`The API rejected the key: ${message}`);
}
