/** The endpoint to ping, and the merchant to which it has to belong. */
export interface WebhookPingInput {
  readonly endpointId: string;
  readonly merchantId: string;
}

/** The result of a ping, as the dashboard shows it. `failure` is null if the receiver returned 2xx in time. */
export interface PingReport {
  readonly durationMs: number;
  readonly statusCode: number | null;
  readonly failure: string | null;
  readonly responseExcerpt: string | null;
}

/** Until then a ping has a result: an attempt takes at most 10 s. */
export const PING_TIMEOUT_MS = 12_000;

/** How long a page waits for the result: less than the 10 s that a response may take in all. */
export const PING_WAIT_MS = 8_000;
