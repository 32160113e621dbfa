import { createHmac } from 'node:crypto';

/**
 * The value of `X-Service-Signature`: `t=<unix seconds>,v1=<hex>`, one `v1` for each valid secret.
 * It signs `<t>.<raw body>` with HMAC-SHA256. The key is the endpoint's whole `whsec_…` string (design §4, Webhooks).
 */
export function signWebhook(rawBody: string, secrets: readonly string[], atSeconds: number): string {
  const signatures = secrets.map((secret) => {
    const hex = createHmac('sha256', secret).update(`${atSeconds}.${rawBody}`, 'utf8').digest('hex');
    return `v1=${hex}`;
  });
  return [`t=${atSeconds}`, ...signatures].join(',');
}
