import { randomUUID } from 'node:crypto';
import type { ApiCall, HttpClient, RequestOptions } from './http';
import { requireOptions } from './options';
import { paymentPath } from './path-id';
import { CANCEL, PaymentAction, REFUND } from './payment-action';
import {
  toPaymentStatus,
  type BulkItem,
  type BulkItemRequest,
  type CancelledPayment,
  type CreatedPayment,
  type CreatePaymentRequest,
  type Creation,
  type Expansion,
  type PaymentDetail,
  type PaymentSummary,
  type Qris,
} from './types';

export interface ExpandOptions extends RequestOptions {
  /** Members that are added to the payment. `metadata` needs the scope `read`, and `customer` the scope `customers`. */
  readonly expand?: Expansion | readonly Expansion[] | undefined;
}

export interface CreateOptions extends ExpandOptions {
  /**
   * Identifies this creation, in 1 to 255 printable ASCII characters. The same key never creates a second payment. By
   * default each call has a random one. To be safe over restarts of the own process too, give the id of the order with
   * the number of the attempt, such as `ORDER-1042-1`: an expired payment needs a new key.
   */
  readonly idempotencyKey?: string | undefined;
}

/** The fields beside `payments` hold for every item. */
export interface BulkOptions
  extends CreateOptions, Pick<CreatePaymentRequest, 'provider' | 'currency' | 'payment_method'> {}

/** Calls that create, read and change payments. */
export class Payments {
  readonly #http: HttpClient;

  constructor(http: HttpClient) {
    this.#http = http;
  }

  /** Creates a payment, or returns the one of the idempotency key. Its QR can be paid until `expires_at`. */
  async create(body: CreatePaymentRequest, options: CreateOptions = {}): Promise<Creation> {
    requireOptions('payments.create', options, { signal: true, expand: true, idempotencyKey: true });
    const { value, headers } = await this.#http.send<CreatedPayment>(creationCall(body, options), 'payment');
    return { ...value, currentStatus: toPaymentStatus(headers.get('x-payment-status')) ?? value.status };
  }

  /** Creates 1 to 50 payments with one request. The result has the order of the items. */
  async createBulk(items: readonly BulkItemRequest[], options: BulkOptions = {}): Promise<BulkItem[]> {
    requireOptions('payments.createBulk', options, {
      signal: true,
      expand: true,
      idempotencyKey: true,
      provider: true,
      currency: true,
      payment_method: true,
    });
    const { provider, currency, payment_method } = options;
    const body = { provider, currency, payment_method, payments: items };
    return this.#send<BulkItem[]>(creationCall(body, options), 'payments');
  }

  /** @param id the payment's `id` or `reference_id` */
  async get(id: string, options: ExpandOptions = {}): Promise<PaymentDetail> {
    requireOptions('payments.get', options, { signal: true, expand: true });
    const { signal, expand } = options;
    return this.#send<PaymentDetail>(
      { method: 'GET', path: `${paymentPath(id)}${expandQuery(expand)}`, signal },
      'payment',
    );
  }

  /** The QR of a payment, for example of an item of a bulk. */
  async qris(id: string, options: RequestOptions = {}): Promise<Qris> {
    requireOptions('payments.qris', options, { signal: true });
    return this.#send<Qris>({ method: 'GET', path: `${paymentPath(id)}/qris`, signal: options.signal }, 'qris');
  }

  /**
   * Cancels a pending payment, or a refund that the provider does not have yet.
   * @throws PaymentCancelFailedError in every other status
   */
  async cancel(id: string, options: RequestOptions = {}): Promise<CancelledPayment> {
    requireOptions('payments.cancel', options, { signal: true });
    return new PaymentAction(this.#http, id, options.signal).run(CANCEL);
  }

  /**
   * Refunds a paid payment, always in full.
   * @throws PaymentRefundFailedError in every other status
   * @throws TypeError if the second argument is an amount, or names one
   */
  async refund(id: string, options: RequestOptions = {}): Promise<PaymentSummary> {
    requireOptions('payments.refund', options, { signal: true }, 'A refund is always for the whole amount.');
    return new PaymentAction(this.#http, id, options.signal).run(REFUND);
  }

  async #send<Value>(call: ApiCall, field: string): Promise<Value> {
    const { value } = await this.#http.send<Value>(call, field);
    return value;
  }
}

/** The body becomes text once, so that every attempt sends the same request. */
/** @throws TypeError for a call from JavaScript without a body: JSON has no text for it */
function creationCall(body: object | undefined, { idempotencyKey, signal, expand }: CreateOptions): ApiCall {
  if (typeof body !== 'object') throw new TypeError('payments.create needs an object such as { amount: 50000 }.');
  return {
    method: 'POST',
    path: `/payments${expandQuery(expand)}`,
    body: JSON.stringify(body),
    idempotencyKey: idempotencyKey ?? randomUUID(),
    signal,
  };
}

function expandQuery(expand: ExpandOptions['expand'] = []): string {
  const names = [expand].flat().join(',');
  return names === '' ? '' : `?expand=${names}`;
}
