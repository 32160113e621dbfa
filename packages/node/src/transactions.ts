import type { HttpClient, RequestOptions } from './http';
import { requireOptions } from './options';
import { listPages } from './pages';
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
    yield* listPages<Transaction>(this.#http, { path: '/transactions', filter, field: 'transactions' }, options);
  }
}
