import { indeterminate, type Indeterminate, type ProviderCall } from '../domain/provider-call';
import { abortAfter, whenAborted } from '../lib/abort-after';

export interface AccessToken {
  readonly value: string;
  readonly obtainedAtMs: number;
  readonly expiresAtMs: number;
}

export type FetchToken = (call: ProviderCall) => Promise<AccessToken | Indeterminate>;

/** A request for a token is shared, so it has a deadline of its own. */
const FETCH_TIMEOUT_MS = 5_000;
/** A token is not used in its last seconds: it could expire on its way. */
const UNUSED_MS = 10_000;
/** The first call after this part of the time for which a token is valid starts a refresh. */
const REFRESH_AFTER = 0.8;
/** Random, so that processes that started together do not refresh together. */
const REFRESH_SPREAD = 0.1;

interface CurrentToken extends AccessToken {
  readonly refreshAtMs: number;
}

/** The token of one account in this process. Concurrent calls share one request for it. */
export class TokenSource {
  #current: CurrentToken | undefined;
  #flight: Promise<AccessToken | Indeterminate> | undefined;

  constructor(private readonly fetchToken: FetchToken) {}

  /**
   * A valid token, within the deadline of the call that needs it.
   * @param rejected the token that the acquirer has just rejected
   */
  async read(call: ProviderCall, rejected?: string): Promise<AccessToken | Indeterminate> {
    const token = this.#current;
    if (!token || token.value === rejected || Date.now() >= token.expiresAtMs - UNUSED_MS) {
      return waitWithin(call, this.#fetch());
    }
    if (Date.now() >= token.refreshAtMs) void this.#fetch();
    return token;
  }

  #fetch(): Promise<AccessToken | Indeterminate> {
    this.#flight ??= this.#fetchNow().finally(() => (this.#flight = undefined));
    return this.#flight;
  }

  async #fetchNow(): Promise<AccessToken | Indeterminate> {
    const signal = new AbortController().signal;
    const token = await this.fetchToken({ signal, deadlineAtMs: Date.now() + FETCH_TIMEOUT_MS });
    if ('outcome' in token) return token;
    const part = REFRESH_AFTER + (Math.random() - 0.5) * REFRESH_SPREAD;
    const refreshAtMs = token.obtainedAtMs + part * (token.expiresAtMs - token.obtainedAtMs);
    this.#current = { ...token, refreshAtMs };
    return token;
  }
}

async function waitWithin<Result>(
  { signal, deadlineAtMs }: ProviderCall,
  work: Promise<Result>,
): Promise<Result | Indeterminate> {
  const leftMs = deadlineAtMs - Date.now();
  if (leftMs <= 0) return indeterminate('the deadline passed before there was a token');
  return abortAfter(leftMs, signal, (ended) =>
    Promise.race([work, whenAborted(ended).then(() => indeterminate('there is no token yet'))]),
  );
}
