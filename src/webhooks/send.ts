import { types } from 'node:util';
import { SpanKind, type SpanOptions } from '@opentelemetry/api';
import { Agent, request } from 'undici';
import { messageOf } from '../errors';
import { abortAfter } from '../lib/abort-after';
import { httpDate, seconds, soleValue } from '../lib/fields';
import { traceHeaders } from '../observability/correlation';
import { withSpan, type SpanResult } from '../observability/tracing';
import { VERSION } from '../package-info';
import { resolverFor, type ResolveHost } from './resolve-host';
import { signWebhook, standardWebhookHeaders } from './sign';
import { addressRulesOf, createGuardedConnector, urlViolation, type ReceiverRules } from './ssrf-guard';

/** Maximum duration of an attempt, until the last byte of the response. */
export const ATTEMPT_TIMEOUT_MS = 10_000;
const MAX_RESPONSE_BYTES = 16_384;
const EXCERPT_CHARACTERS = 500;
/** The `failure` of an attempt whose receiver may have got the webhook, but sent no complete response in time. */
export const TIMED_OUT = `no complete response within ${ATTEMPT_TIMEOUT_MS / 1_000} s`;

/** One delivery, ready to send: the stored bytes, and the valid secrets of the endpoint. */
export interface OutgoingWebhook {
  readonly deliveryId: string;
  readonly event: string;
  readonly body: string;
  readonly url: string;
  readonly secrets: readonly string[];
}

/** The result of one attempt. `failure` is null if the receiver returned 2xx in time. */
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

type ReceivedResponse = Pick<WebhookAttempt, 'statusCode' | 'failure' | 'responseExcerpt' | 'retryAfterSeconds'>;

/** The response of an attempt without one. */
export const NO_RESPONSE = { statusCode: null, responseExcerpt: null, retryAfterSeconds: null } as const;

/**
 * Sends webhooks to receivers that the rules allow: 10 seconds in all, no redirects, no proxy. It reads at most 16 kB
 * of the response and does not decompress it. Each attempt in flight has its own connection, so endpoints on one
 * server do not delay each other.
 */
export function createWebhookSender(
  rules: ReceiverRules,
  resolve: ResolveHost = resolverFor(rules.environment),
): WebhookSender {
  const addressRules = addressRulesOf(rules);
  const connect = createGuardedConnector(addressRules, resolve);
  const agent = new Agent({ connect, pipelining: 1, keepAliveTimeout: 10_000 });
  return {
    send: (webhook, signal) => withSpan(spanOf(webhook), () => attempt(webhook, signal), describeAttempt),
    close: () => agent.destroy(),
  };

  async function attempt(webhook: OutgoingWebhook, signal?: AbortSignal): Promise<WebhookAttempt> {
    const startedAt = new Date();
    const broken = urlViolation(webhook.url, addressRules);
    const response =
      broken === null
        ? await abortAfter(ATTEMPT_TIMEOUT_MS, signal, (limited) => post(agent, webhook, startedAt, limited))
        : { ...NO_RESPONSE, failure: `not called: the URL ${broken}` };
    return { startedAt, durationMs: Date.now() - startedAt.getTime(), ...response };
  }
}

/** Nothing of the URL: merchants put secrets there. */
function spanOf({ event, deliveryId }: OutgoingWebhook): readonly [string, SpanOptions] {
  return [`webhook ${event}`, { kind: SpanKind.CLIENT, attributes: { 'lunas.delivery_id': deliveryId } }];
}

function describeAttempt({ statusCode, failure }: WebhookAttempt): SpanResult {
  return {
    isError: failure !== null,
    ...(statusCode !== null && { attributes: { 'http.response.status_code': statusCode } }),
  };
}

async function post(agent: Agent, webhook: OutgoingWebhook, at: Date, signal: AbortSignal): Promise<ReceivedResponse> {
  try {
    const atSeconds = Math.floor(at.getTime() / 1_000);
    const response = await request(webhook.url, {
      method: 'POST',
      dispatcher: agent,
      signal,
      headers: {
        'Content-Type': 'application/json',
        'User-Agent': `Lunas-Webhooks/${VERSION}`,
        'X-Service-Event': webhook.event,
        'X-Service-Delivery': webhook.deliveryId,
        ...traceHeaders(),
        'X-Service-Signature': signWebhook(webhook.body, webhook.secrets, atSeconds),
        ...standardWebhookHeaders(webhook, webhook.secrets, atSeconds),
      },
      body: webhook.body,
    });
    return await readResponse(response, at);
  } catch (error) {
    return { ...NO_RESPONSE, failure: describeFailure(error) };
  }
}

async function readResponse(
  { statusCode, headers, body }: Awaited<ReturnType<typeof request>>,
  at: Date,
): Promise<ReceivedResponse> {
  const { text, interruptedBy } = await readPrefix(body);
  const isSuccess = statusCode >= 200 && statusCode < 300;
  const isBusy = statusCode === 429 || statusCode === 503;
  return {
    statusCode,
    failure: isSuccess
      ? interruptedBy && `${interruptedBy}, after status ${statusCode}`
      : `the receiver returned ${statusCode}`,
    responseExcerpt: text.slice(0, EXCERPT_CHARACTERS).replaceAll('\0', ''),
    retryAfterSeconds: isBusy ? secondsIn(headers['retry-after'], at) : null,
  };
}

/** The first 16 kB of a response body; the rest is not read. `interruptedBy` is the error that ended it early. */
async function readPrefix(
  body: AsyncIterable<Buffer>,
): Promise<{ readonly text: string; readonly interruptedBy: string | null }> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let interruptedBy: string | null = null;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= MAX_RESPONSE_BYTES) break;
    }
  } catch (error) {
    interruptedBy = describeFailure(error);
  }
  return { text: Buffer.concat(chunks).subarray(0, MAX_RESPONSE_BYTES).toString('utf8'), interruptedBy };
}

/** `Retry-After` is in seconds or a date (RFC 9110, section 10.2.3). Null: no time, or one that has passed. */
function secondsIn(lines: string | string[] | undefined, at: Date): number | null {
  const retryAfter = soleValue(lines);
  const date = httpDate.safeParse(retryAfter).data;
  if (date !== undefined) return date > at ? (date.getTime() - at.getTime()) / 1_000 : null;
  return seconds(0).parse(retryAfter) || null;
}

function describeFailure(error: unknown): string {
  if (error instanceof DOMException && error.name === 'TimeoutError') return TIMED_OUT;
  // A connection attempt to several addresses fails with one error for each.
  if (types.isNativeError(error) && 'errors' in error && Array.isArray(error.errors)) {
    return error.errors.map(describeFailure).join('; ');
  }
  return messageOf(error);
}
