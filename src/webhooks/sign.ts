import { createHmac, createSecretKey, randomBytes, type KeyObject } from 'node:crypto';

const SECRET_PREFIX = 'whsec_';

/**
 * The value of `X-Service-Signature` (docs/webhooks.md#receiver-requirements): `t=<unix seconds>,v1=<hex>`, one `v1`
 * for each valid secret. It signs `<t>.<raw body>` with HMAC-SHA256. The key is the endpoint's whole `whsec_…` string.
 */
export function signWebhook(rawBody: string, secrets: readonly string[], atSeconds: number): string {
  const signatures = secrets.map((secret) => {
    const hex = createHmac('sha256', secret).update(`${atSeconds}.${rawBody}`, 'utf8').digest('hex');
    return `v1=${hex}`;
  });
  return [`t=${atSeconds}`, ...signatures].join(',');
}

/** What the signature of Standard Webhooks covers. */
interface SignedDelivery {
  readonly deliveryId: string;
  readonly body: string;
}

/**
 * The headers of Standard Webhooks (standardwebhooks.com), with one `v1` for each valid secret.
 * They sign `<id>.<timestamp>.<raw body>`, so that the delivery id is authentic too.
 */
export function standardWebhookHeaders(
  { deliveryId, body }: SignedDelivery,
  secrets: readonly string[],
  atSeconds: number,
): Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string> {
  const content = `${deliveryId}.${atSeconds}.${body}`;
  const signatures = secrets.map((secret) => {
    const base64 = createHmac('sha256', standardKeyOf(secret)).update(content, 'utf8').digest('base64');
    return `v1,${base64}`;
  });
  return {
    'webhook-id': deliveryId,
    'webhook-timestamp': String(atSeconds),
    'webhook-signature': signatures.join(' '),
  };
}

/** The key that the base64 of a secret encodes. */
function standardKeyOf(secret: string): KeyObject {
  const base64 = secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret;
  return createSecretKey(base64, 'base64');
}

const SECRET_BYTES = 32;

/**
 * The secret that signs the webhooks of an endpoint, or of `lunas listen`: 256 random bits, in the form of Standard
 * Webhooks.
 */
export function newWebhookSecret(): string {
  return `${SECRET_PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`;
}
