import { randomUUID } from 'node:crypto';
import { type LunasError, PaymentCancelFailedError, PaymentRefundFailedError } from './errors';
import type { ApiCall, HttpClient, RequestOptions } from './http';
import { paymentPath } from './path-id';
import type {
  BulkItem,
  BulkItemRequest,
  CancelledPayment,
  CreatedPayment,
  CreatePaymentRequest,
  PaymentDetail,
  PaymentStatus,
  PaymentSummary,
  Qris,
} from './types';

export interface CreateOptions extends RequestOptions {
  /**
   * Identifies this creation, in 1 to 255 printable ASCII characters. The same key never creates a second payment. By
   * default each call has a random one. Give the id of the order to be safe over restarts of the own process too.
   */
  readonly idempotencyKey?: string | undefined;
}

/** The fields beside `payments` hold for every item. */
export interface BulkOptions
  extends CreateOptions, Pick<CreatePaymentRequest, 'provider' | 'currency' | 'payment_method'> {}

const REFUND_STARTED: ReadonlySet<PaymentStatus> = new Set(['refund_processing', 'refund_failed', 'refunded']);

/** Calls that create, read and change payments. */
export class Payments {
  readonly #http: HttpClient;

  constructor(http: HttpClient) {
    this.#http = http;
  }

  /** Creates a payment. Its QR can be paid until `expires_at`. */
  async create(body: CreatePaymentRequest, options: CreateOptions = {}): Promise<CreatedPayment> {
    return this.#create<CreatedPayment>(body, options, 'payment');
  }

  /** Creates 1 to 50 payments with one request. The result has the order of the items. */
  async createBulk(items: readonly BulkItemRequest[], options: BulkOptions = {}): Promise<BulkItem[]> {
    const { provider, currency, payment_method } = options;
    return this.#create<BulkItem[]>({ provider, currency, payment_method, payments: items }, options, 'payments');
  }

  /** @param id the payment's `id` or `reference_id` */
  async get(id: string, { signal }: RequestOptions = {}): Promise<PaymentDetail> {
    return this.#send<PaymentDetail>({ method: 'GET', path: paymentPath(id), signal }, 'payment');
  }

  /** The QR of a payment, for example of an item of a bulk. */
  async qris(id: string, { signal }: RequestOptions = {}): Promise<Qris> {
    return this.#send<Qris>({ method: 'GET', path: `${paymentPath(id)}/qris`, signal }, 'qris');
  }

  /**
   * Cancels a pending payment, or a refund that the provider does not have yet.
   * @throws PaymentCancelFailedError in every other status
   */
  async cancel(id: string, { signal }: RequestOptions = {}): Promise<CancelledPayment> {
    try {
      return await this.#send<CancelledPayment>(
        { method: 'POST', path: `${paymentPath(id)}/cancel`, signal },
        'payment',
      );
    } catch (error) {
      if (!isRepeated(error, PaymentCancelFailedError)) throw error;
      const payment = await this.get(id, { signal });
      if (payment.status !== 'cancelled') throw error;
      return { ...summaryOf(payment), cancelled_at: payment.updated_at };
    }
  }

  /**
   * Refunds a paid payment in full.
   * @throws PaymentRefundFailedError in every other status
   */
  async refund(id: string, { signal }: RequestOptions = {}): Promise<PaymentSummary> {
    try {
      return await this.#send<PaymentSummary>({ method: 'POST', path: `${paymentPath(id)}/refund`, signal }, 'payment');
    } catch (error) {
      if (!isRepeated(error, PaymentRefundFailedError)) throw error;
      const payment = await this.get(id, { signal });
      if (!REFUND_STARTED.has(payment.status)) throw error;
      return summaryOf(payment);
    }
  }

  /** The body becomes text once, so that every attempt sends the same request. */
  async #create<Value>(body: object, { idempotencyKey, signal }: CreateOptions, field: string): Promise<Value> {
    const call = { body: JSON.stringify(body), idempotencyKey: idempotencyKey ?? randomUUID(), signal };
    return this.#send<Value>({ method: 'POST', path: '/payments', ...call }, field);
  }

  async #send<Value>(call: ApiCall, field: string): Promise<Value> {
    const { value } = await this.#http.send<Value>(call, field);
    return value;
  }
}

/** An earlier attempt of the same call, whose response was lost, may have done what the API now rejects. */
function isRepeated(error: unknown, rejection: typeof LunasError): boolean {
  return error instanceof rejection && error.attempts > 1;
}

function summaryOf(payment: PaymentDetail): PaymentSummary {
  const { id, reference_id, merchant_reference_id, payment_method_code, currency, status } = payment;
  const { amount, fee_amount, net_amount, total_amount } = payment;
  return {
    id,
    reference_id,
    merchant_reference_id,
    payment_method_code,
    currency,
    amount,
    fee_amount,
    net_amount,
    total_amount,
    status,
  };
}
