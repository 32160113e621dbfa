import { HttpClient } from './http';
import { requireOptions } from './options';
import { PaymentLinks } from './payment-links';
import { Payments } from './payments';
import { Transactions } from './transactions';

export interface LunasOptions {
  /** The secret key; it stays on the server. */
  readonly apiKey: string;
  /** The address of the API, such as `https://lunas.example`. */
  readonly baseUrl: string;
  /** The maximum duration of one attempt. By default 15,000: the API responds within 10 s. */
  readonly timeoutMs?: number | undefined;
  /** The attempts after the first one. By default 3. */
  readonly maxRetries?: number | undefined;
}

const DEFAULT_TIMEOUT_MS = 15_000;
const DEFAULT_MAX_RETRIES = 3;
const MAX_TIMER_MS = 2 ** 31 - 1;

/** A client of Lunas for one secret key. It has no connection of its own to close. */
export class Lunas {
  readonly payments: Payments;
  readonly transactions: Transactions;
  readonly paymentLinks: PaymentLinks;

  /** @throws TypeError for an option that cannot work, or that does not exist */
  constructor(options: LunasOptions) {
    requireOptions('Lunas', options, { apiKey: true, baseUrl: true, timeoutMs: true, maxRetries: true });
    const { apiKey, baseUrl, timeoutMs = DEFAULT_TIMEOUT_MS, maxRetries = DEFAULT_MAX_RETRIES } = options;
    if (!isKey(apiKey)) throw new TypeError('apiKey must be a secret key of Lunas. Is its variable set?');
    requireInteger('timeoutMs', timeoutMs, 1, MAX_TIMER_MS);
    requireInteger('maxRetries', maxRetries, 0, 100);
    const http = new HttpClient({ apiKey, baseUrl: parseBaseUrl(baseUrl), timeoutMs, maxRetries });
    this.payments = new Payments(http);
    this.transactions = new Transactions(http);
    this.paymentLinks = new PaymentLinks(http);
  }
}

/** A pattern alone would accept `undefined`, as the text "undefined". */
function isKey(apiKey: unknown): boolean {
  return typeof apiKey === 'string' && /^[\x21-\x7e]+$/.test(apiKey);
}

function parseBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isAddress = url?.protocol === 'https:' || url?.protocol === 'http:';
  if (!url || !isAddress || url.search !== '' || url.hash !== '' || url.username !== '') {
    throw new TypeError('baseUrl must be an http or https address, such as https://lunas.example.');
  }
  return url.origin + url.pathname.replace(/\/+$/, '');
}

function requireInteger(name: string, value: number, min: number, max: number): void {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return;
  throw new TypeError(`${name} must be an integer from ${min} to ${max}.`);
}
