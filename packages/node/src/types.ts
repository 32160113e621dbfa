/** The objects of the API, as `openapi.json` of a Lunas describes them. All amounts are whole rupiah. */

export type PaymentStatus =
  | 'created'
  | 'pending'
  | 'paid'
  | 'refund_processing'
  | 'refund_failed'
  | 'refunded'
  | 'settled'
  | 'expired'
  | 'cancelled'
  | 'failed';

export type Provider = 'gopay' | 'shopeepay';

/** The customer; further keys with texts are allowed. */
export interface Customer {
  name?: string | undefined;
  email?: string | undefined;
  phone?: string | undefined;
  [key: string]: string | undefined;
}

/** The merchant's own data. */
export type Metadata = Record<string, string | number | boolean>;

/** The body of a creation. */
export interface CreatePaymentRequest {
  amount: number;
  currency?: 'IDR' | undefined;
  payment_method?: 'qris' | undefined;
  /** By default `gopay`. */
  provider?: Provider | undefined;
  /** The merchant's own order id. */
  merchant_reference_id?: string | null | undefined;
  customer?: Customer | null | undefined;
  metadata?: Metadata | null | undefined;
}

/** An item of a bulk. The provider is that of the whole bulk. */
export interface BulkItemRequest extends Omit<CreatePaymentRequest, 'provider'> {
  /** By default derived from the key of the call and the index of the item. */
  idempotency_key?: string | null | undefined;
}

interface PaymentIdentity {
  id: string;
  /** For humans; usable instead of `id`. */
  reference_id: string;
  merchant_reference_id: string | null;
  payment_method_code: 'qris';
}

interface PaymentAmounts {
  amount: number;
  fee_amount: number;
  net_amount: number;
  /** What the customer pays. */
  total_amount: number;
}

/** The response to a refund, and the fields that all payments have in common. */
export interface PaymentSummary extends PaymentIdentity, PaymentAmounts {
  currency: 'IDR';
  status: PaymentStatus;
}

interface ChangeTimes {
  /** ISO 8601 in UTC, like every time. */
  created_at: string;
  /** Increases with every change. */
  updated_at: string;
}

/** The response to a creation. */
export interface CreatedPayment extends PaymentSummary, ChangeTimes {
  provider: Provider;
  qris_payload: string;
  qris_image_url: string;
  expires_at: string;
}

/** The response to `get`. */
export interface PaymentDetail extends PaymentSummary, ChangeTimes {
  provider: Provider;
  paid_at: string | null;
}

/** The response to a cancellation. */
export interface CancelledPayment extends PaymentSummary {
  /** Null after a cancelled refund, which leaves the payment `paid`. */
  cancelled_at: string | null;
}

/** One payment of the response to a bulk. */
export interface BulkItem extends PaymentIdentity, PaymentAmounts {
  status: PaymentStatus;
  /** Null before the QR is issued. */
  expires_at: string | null;
  /** Why the provider rejected this item; only if it is `failed`. */
  error?: { code: 'payment_create_failed'; message: string } | undefined;
}

/** The QR of a payment. */
export interface Qris {
  payload: string;
  image_url: string;
  /** The page on which the customer pays. */
  checkout_url: string;
  expires_at: string;
}

/** One payment of a list. */
export interface Transaction extends PaymentSummary, ChangeTimes {
  paid_at: string | null;
}

/** Filters of a list; they can be combined. */
export interface ListFilter {
  /** Payments for each request, 1 to 100. The iterator continues after them. */
  limit?: number | undefined;
  status?: PaymentStatus | undefined;
  provider?: Provider | undefined;
  merchant_reference_id?: string | undefined;
  created_from?: Date | string | undefined;
  created_to?: Date | string | undefined;
}

export type PaymentEvent = `payment.${PaymentStatus}`;

/** The body of a webhook. */
export interface WebhookEvent extends Omit<PaymentIdentity, 'payment_method_code'>, PaymentAmounts, ChangeTimes {
  event: PaymentEvent;
  status: PaymentStatus;
  environment: 'sandbox' | 'production';
  currency: 'IDR';
  payment_method: 'qris';
  provider: Provider;
}

/** The body of a test request, which contains no payment. */
export interface PingEvent {
  event: 'ping';
  endpoint_id: string;
  created_at: string;
}
