import { Agent, request } from 'undici';
import { VERSION } from '../package';
import { signWebhook } from './sign';

const DEADLINE_MS = 10_000;
const MAX_ANSWER_BYTES = 16_384;
const EXCERPT_CHARACTERS = 500;

/** One delivery, ready to be sent: the stored bytes, and the endpoint's secrets that are valid now. */
export interface OutgoingWebhook {
  readonly deliveryId: string;
  readonly event: string;
  readonly body: string;
  readonly url: string;
  readonly secrets: readonly string[];
}

/** What came of one try. `failure` is null when the receiver answered 2xx in time. */
export interface WebhookAttempt {
  readonly startedAt: Date;
  readonly durationMs: number;
  readonly statusCode: number | null;
  readonly failure: string | null;
  readonly responseExcerpt: string | null;
  readonly retryAfterSeconds: number | null;
}

export interface WebhookSender {
  send(webhook: OutgoingWebhook, signal?: AbortSignal): Promise<WebhookAttempt>;
  close(): Promise<void>;
}

type Answer = Pick<WebhookAttempt, 'statusCode' | 'failure' | 'responseExcerpt' | 'retryAfterSeconds'>;

/** Sends webhooks: ten seconds in all, no redirects, at most 16 kB of the answer is read. */
export function createWebhookSender(): WebhookSender {
  const agent = new Agent({ connections: 16, pipelining: 1, keepAliveTimeout: 10_000 });
  return {
    async send(webhook, signal) {
      const startedAt = new Date();
      const deadline = AbortSignal.timeout(DEADLINE_MS);
      const ends = signal ? AbortSignal.any([signal, deadline]) : deadline;
      const answer = await post(agent, webhook, startedAt, ends).catch(noAnswer);
      return { startedAt, durationMs: Date.now() - startedAt.getTime(), ...answer };
    },
    close: () => agent.destroy(),
  };
}

async function post(agent: Agent, webhook: OutgoingWebhook, at: Date, signal: AbortSignal): Promise<Answer> {
  const { statusCode, headers, body } = await request(webhook.url, {
    method: 'POST',
    dispatcher: agent,
    signal,
    headers: {
      'Content-Type': 'application/json',
      'User-Agent': `Lunas-Webhooks/${VERSION}`,
      'X-Service-Event': webhook.event,
      'X-Service-Delivery': webhook.deliveryId,
      'X-Service-Signature': signWebhook(webhook.body, webhook.secrets, Math.floor(at.getTime() / 1_000)),
    },
    body: webhook.body,
  });
  const text = await readStart(body);
  const retryAfter = Number(headers['retry-after']);
  return {
    statusCode,
    failure: statusCode >= 200 && statusCode < 300 ? null : `the receiver answered ${statusCode}`,
    responseExcerpt: text.slice(0, EXCERPT_CHARACTERS).replaceAll('\0', ''),
    retryAfterSeconds: (statusCode === 429 || statusCode === 503) && retryAfter >= 0 ? retryAfter : null,
  };
}

/** The first 16 kB of an answer; what comes after is not read. */
async function readStart(body: AsyncIterable<Buffer> & { destroy(): unknown }): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= MAX_ANSWER_BYTES) break;
  }
  return Buffer.concat(chunks).subarray(0, MAX_ANSWER_BYTES).toString('utf8');
}

function noAnswer(error: unknown): Answer {
  const reason = error instanceof Error ? error.message : String(error);
  const failure = error instanceof Error && error.name === 'TimeoutError' ? 'no answer within 10 s' : reason;
  return { statusCode: null, failure, responseExcerpt: null, retryAfterSeconds: null };
}
