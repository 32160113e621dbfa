import { randomUUID } from 'node:crypto';
import type { HttpClient, RequestOptions } from './http';
import { requireOptions } from './options';
import { listPages } from './pages';
import { paymentLinkPath } from './path-id';
import type { CreatePaymentLinkRequest, PaymentLink, PaymentLinkFilter } from './types';

export interface CreateLinkOptions extends RequestOptions {
  /** Identifies this link, in 1 to 255 printable ASCII characters. By default each call has a random one. */
  readonly idempotencyKey?: string | undefined;
}

/** Calls that make, read and close payment links. */
export class PaymentLinks {
  readonly #http: HttpClient;

  constructor(http: HttpClient) {
    this.#http = http;
  }

  /** Creates a link, or returns the one of the idempotency key. Its `url` is for customers. */
  async create(body: CreatePaymentLinkRequest, options: CreateLinkOptions = {}): Promise<PaymentLink> {
    requireOptions('paymentLinks.create', options, { signal: true, idempotencyKey: true });
    const { idempotencyKey = randomUUID(), signal } = options;
    const call = { path: '/payment-links', body: JSON.stringify(body), idempotencyKey, signal };
    const { value } = await this.#http.send<PaymentLink>({ method: 'POST', ...call }, 'payment_link');
    return value;
  }

  /** @param id the link's `id` or `reference_id` */
  async get(id: string, options: RequestOptions = {}): Promise<PaymentLink> {
    requireOptions('paymentLinks.get', options, { signal: true });
    const call = { path: paymentLinkPath(id), signal: options.signal };
    const { value } = await this.#http.send<PaymentLink>({ method: 'GET', ...call }, 'payment_link');
    return value;
  }

  /** Ends a link for good. A payment that is open can still be paid. */
  async close(id: string, options: RequestOptions = {}): Promise<PaymentLink> {
    requireOptions('paymentLinks.close', options, { signal: true });
    const call = { path: `${paymentLinkPath(id)}/close`, signal: options.signal };
    const { value } = await this.#http.send<PaymentLink>({ method: 'POST', ...call }, 'payment_link');
    return value;
  }

  /** All links that match, newest first. */
  async *list(
    filter: PaymentLinkFilter = {},
    options: RequestOptions = {},
  ): AsyncGenerator<PaymentLink, void, undefined> {
    requireOptions('paymentLinks.list', options, { signal: true });
    yield* listPages<PaymentLink>(this.#http, { path: '/payment-links', filter, field: 'payment_links' }, options);
  }
}
