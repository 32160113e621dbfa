import type { HttpClient, RequestOptions } from './http';
import { requireOptions } from './options';
import type { ListFilter, Transaction } from './types';

/** Lists of payments. */
export class Transactions {
  readonly #http: HttpClient;

  constructor(http: HttpClient) {
    this.#http = http;
  }

  /**
   * All payments that match, newest first. The next page is requested when the iterator reaches it:
   * `for await (const transaction of lunas.transactions.list({ status: 'paid' })) …`
   */
  async *list(filter: ListFilter = {}, options: RequestOptions = {}): AsyncGenerator<Transaction, void, undefined> {
    requireOptions('transactions.list', options, { signal: true });
    let query: string | null = toQuery(filter);
    while (query !== null) {
      const path = `/transactions${query}`;
      const page: { value: Transaction[]; headers: Headers } = await this.#http.send(
        { method: 'GET', path, signal: options.signal },
        'transactions',
      );
      yield* page.value;
      query = nextQuery(page.headers.get('link'));
    }
  }
}

function toQuery(filter: ListFilter): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filter)) {
    if (value !== undefined) query.set(name, value instanceof Date ? value.toISOString() : String(value));
  }
  return query.size === 0 ? '' : `?${query.toString()}`;
}

/** Only the query of `Link`: the key is never sent to an address that a response names. */
function nextQuery(link: string | null): string | null {
  const [, address] = /<([^>]*)>\s*;\s*rel="?next"?/.exec(link ?? '') ?? [];
  const start = address?.indexOf('?') ?? -1;
  return address === undefined || start === -1 ? null : address.slice(start);
}
