import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import { types } from 'node:util';
import { WebhookVerificationError } from './errors';
import { requireOptions } from './options';
import type { ReceivedEvent } from './types';

/** The headers of a request: those of `node:http` and Express, of `fetch`, or a plain object. */
export type WebhookHeaders =
  { get(name: string): string | null } | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyOptions {
  /** How far the time of the signature may be from the clock. By default 300. */
  readonly toleranceSeconds?: number | undefined;
}

export interface SignOptions {
  /** By default a random UUID. */
  readonly deliveryId?: string | undefined;
  /** By default now. */
  readonly at?: Date | undefined;
}

interface SignatureParts {
  readonly timestamp: string;
  readonly given: readonly Buffer[];
  readonly key: string | Buffer;
  /** Before the body. */
  readonly signedPrefix: string;
}

const PREFIX = 'whsec_';
const DEFAULT_TOLERANCE_SECONDS = 300;

/** For servers that receive webhooks, and for their tests. */
export const webhooks = { verify, sign };

/**
 * Verifies a webhook, and parses its body. If the request has the headers of Standard Webhooks (`webhook-…`), these
 * decide; otherwise `X-Service-Signature` decides.
 * @param rawBody the bytes as they arrived, before anything parsed them
 * @param secret of the endpoint, `whsec_…`
 * @throws WebhookVerificationError if the request was not signed with the secret, or not recently
 * @throws TypeError for an argument that verifies no request, such as a body that is already parsed
 */
function verify(
  rawBody: string | Uint8Array,
  headers: WebhookHeaders,
  secret: string,
  options: VerifyOptions = {},
): ReceivedEvent {
  requireOptions('webhooks.verify', options, { toleranceSeconds: true });
  const { toleranceSeconds = DEFAULT_TOLERANCE_SECONDS } = options;
  const key = keyOf(secret);
  requireHeaders(headers);
  const read = (name: string) => readHeader(headers, name);
  const parts = partsOf(read, secret, key);
  requireRawBody(rawBody);
  const isRecent = Math.abs(Date.now() / 1_000 - Number(parts.timestamp)) <= toleranceSeconds;
  if (!/^\d{1,12}$/.test(parts.timestamp) || !isRecent) {
    throw new WebhookVerificationError(`The webhook was not signed within ${toleranceSeconds} s of now.`);
  }
  const expected = createHmac('sha256', parts.key).update(parts.signedPrefix).update(rawBody).digest();
  const isGenuine = parts.given.some((given) => given.length === expected.length && timingSafeEqual(given, expected));
  if (!isGenuine) throw new WebhookVerificationError('The webhook was not signed with this secret.');
  return JSON.parse(typeof rawBody === 'string' ? rawBody : Buffer.from(rawBody).toString('utf8'));
}

/**
 * The headers with which Lunas would send this body, in both schemes. For tests of a receiver.
 * @param secret of the endpoint, `whsec_…`
 */
function sign(rawBody: string | Uint8Array, secret: string, options: SignOptions = {}): Record<string, string> {
  requireOptions('webhooks.sign', options, { deliveryId: true, at: true });
  const { deliveryId = randomUUID(), at = new Date() } = options;
  const timestamp = Math.floor(at.getTime() / 1_000);
  const standard = createHmac('sha256', keyOf(secret)).update(`${deliveryId}.${timestamp}.`).update(rawBody);
  const contract = createHmac('sha256', secret).update(`${timestamp}.`).update(rawBody);
  return {
    'content-type': 'application/json',
    'x-service-event': eventOf(rawBody),
    'x-service-delivery': deliveryId,
    'x-service-signature': `t=${timestamp},v1=${contract.digest('hex')}`,
    'webhook-id': deliveryId,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `v1,${standard.digest('base64')}`,
  };
}

/** JavaScript accepts any value, such as one header. */
function requireHeaders(headers: unknown): void {
  if (typeof headers === 'object' && headers !== null) return;
  throw new TypeError('webhooks.verify needs all headers of the request, such as request.headers.');
}

/** A framework may have parsed the body. */
function requireRawBody(rawBody: unknown): void {
  if (typeof rawBody === 'string' || types.isUint8Array(rawBody)) return;
  throw new TypeError(
    'webhooks.verify needs the raw body, as a string or a Buffer, before anything parses it. ' +
      "In Express, use express.raw({ type: 'application/json' }) for this route, and not express.json().",
  );
}

/** The bytes that a secret encodes. */
function keyOf(secret: unknown): Buffer {
  if (typeof secret !== 'string') {
    const kind = secret === undefined ? 'undefined' : 'no text';
    throw new TypeError(`The secret of the endpoint is ${kind}. Set the variable that has it (whsec_…).`);
  }
  const key = secret.startsWith(PREFIX) ? Buffer.from(secret.slice(PREFIX.length), 'base64') : Buffer.alloc(0);
  if (key.length === 0) throw new TypeError('The secret of an endpoint starts with whsec_.');
  return key;
}

type ReadHeader = (name: string) => string | undefined;

function partsOf(read: ReadHeader, secret: string, key: Buffer): SignatureParts {
  if (read('webhook-signature') !== undefined) return standardParts(read, key);
  if (read('x-service-signature') !== undefined) return contractParts(read, secret);
  throw new WebhookVerificationError(
    'The request has no signature: neither webhook-signature nor X-Service-Signature. Pass all headers of the request.',
  );
}

function standardParts(read: ReadHeader, key: Buffer): SignatureParts {
  const timestamp = read('webhook-timestamp') ?? '';
  const signatures = (read('webhook-signature') ?? '').split(' ').filter((signature) => signature.startsWith('v1,'));
  const given = signatures.map((signature) => Buffer.from(signature.slice('v1,'.length), 'base64'));
  return { timestamp, given, key, signedPrefix: `${read('webhook-id') ?? ''}.${timestamp}.` };
}

function contractParts(read: ReadHeader, secret: string): SignatureParts {
  const parts = (read('x-service-signature') ?? '').split(',');
  const timestamp = parts.find((part) => part.startsWith('t='))?.slice('t='.length) ?? '';
  const signatures = parts.filter((part) => part.startsWith('v1='));
  const given = signatures.map((signature) => Buffer.from(signature.slice('v1='.length), 'hex'));
  return { timestamp, given, key: secret, signedPrefix: `${timestamp}.` };
}

/** The names of a plain object may be in any case. */
function readHeader(headers: WebhookHeaders, name: string): string | undefined {
  if (isHeaders(headers)) return headers.get(name) ?? undefined;
  const found = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  return typeof found === 'string' ? found : found?.join(',');
}

function isHeaders(headers: WebhookHeaders): headers is { get(name: string): string | null } {
  return typeof headers.get === 'function';
}

function eventOf(rawBody: string | Uint8Array): string {
  const body: { event?: unknown } | null = JSON.parse(Buffer.from(rawBody).toString('utf8'));
  return typeof body?.event === 'string' ? body.event : '';
}
