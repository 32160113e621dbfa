import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import type { RunFile } from '../../src/local-stack/run-file';

/** A response, and when the request was sent. */
export interface TimedResponse {
  readonly status: number;
  readonly tookMs: number;
  readonly retryAfter: string | null;
}

export interface LoadResult {
  readonly responses: readonly TimedResponse[];
  readonly seconds: number;
}

const TIMEOUT_MS = 30_000;
/** A caller waits for as long as `Retry-After`, but not longer than this. */
const MAX_WAIT_MS = 1_000;

/** HTTP of one merchant, with many connections. */
export class MerchantLoad {
  readonly #pool: Pool;
  readonly #headers: Record<string, string>;

  constructor({ api_url, secret_key }: Pick<RunFile, 'api_url' | 'secret_key'>) {
    this.#pool = new Pool(api_url, { connections: 256, headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS });
    this.#headers = { authorization: `Bearer ${secret_key}`, 'content-type': 'application/json' };
  }

  async send(method: 'GET' | 'POST', path: string, body?: object): Promise<TimedResponse & { readonly text: string }> {
    const startedMs = performance.now();
    const response = await this.#pool.request({
      method,
      path,
      headers: this.#headers,
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await response.body.text();
    const retryAfter = response.headers['retry-after'];
    return {
      status: response.statusCode,
      tookMs: performance.now() - startedMs,
      retryAfter: typeof retryAfter === 'string' ? retryAfter : null,
      text,
    };
  }

  /** Callers that create payments, each the next one after the response. After a 429 a caller waits, then repeats. */
  async create(callers: number, seconds: number, provider: 'gopay' | 'shopeepay' = 'gopay'): Promise<LoadResult> {
    const responses: TimedResponse[] = [];
    const endsAtMs = performance.now() + seconds * 1_000;
    const caller = async (): Promise<void> => {
      while (performance.now() < endsAtMs) {
        const { text: _, ...response } = await this.send('POST', '/payments', { amount: 10_000, provider });
        responses.push(response);
        if (response.status === 429) await sleep(Math.min(Number(response.retryAfter) * 1_000, MAX_WAIT_MS));
      }
    };
    const startedMs = performance.now();
    await Promise.all(Array.from({ length: callers }, caller));
    return { responses, seconds: (performance.now() - startedMs) / 1_000 };
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}

export function latenciesOf(responses: readonly TimedResponse[], status: number): number[] {
  return responses.filter((response) => response.status === status).map(({ tookMs }) => tookMs);
}

/** Responses with this status per second. */
export function rateOf({ responses, seconds }: LoadResult, status: number): number {
  return latenciesOf(responses, status).length / seconds;
}

export function percentile(values: readonly number[], fraction: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(Math.floor(sorted.length * fraction), sorted.length - 1)] ?? Number.NaN;
}
