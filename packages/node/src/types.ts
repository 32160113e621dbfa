/** The objects of the API, as `openapi.json` of a Lunas describes them. All amounts are whole rupiah. */

const PAYMENT_STATUSES = [
  'created',
  'pending',
  'paid',
  'refund_processing',
  'refund_failed',
  'refunded',
  'settled',
  'expired',
  'cancelled',
  'failed',
] as const;

export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];

/** Undefined for a text that is no status. */
export function toPaymentStatus(text: string | null): PaymentStatus | undefined {
  return PAYMENT_STATUSES.find((status) => status === text);
}

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
  /** How long the customer can pay, in seconds: 60 to 86,400. By default as the merchant's terms have it. */
  expires_in?: number | null | undefined;
  /** Where the checkout page leads: at a registered address of the shop. */
  return_url?: string | null | undefined;
  /** What the customer pays for, in at most 140 characters. */
  description?: string | null | undefined;
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

/** What `expand` adds to a payment. */
export type Expansion =
  | 'metadata'
  | 'customer'
  | 'description'
  | 'return_url'
  | 'checkout_url'
  | 'qris'
  | 'expires_at'
  | 'refund'
  | 'late_payment'
  | 'failure_reason'
  | 'settlement'
  | 'fee'
  | 'payment_link';

/** Each member is there if the endpoint adds it. */
interface WebhookMembers {
  /** Null if the request had none, or it was erased; so is `customer`. */
  metadata?: Record<string, unknown> | null | undefined;
  customer?: Record<string, unknown> | null | undefined;
  /** Null if the request had none, or it was erased; so is `return_url`. */
  description?: string | null | undefined;
  return_url?: string | null | undefined;
  checkout_url?: string | null | undefined;
  qris?: Qris | null | undefined;
  expires_at?: string | undefined;
  /** The newest one. */
  refund?: RefundDetail | null | undefined;
  late_payment?: LatePayment | null | undefined;
  failure_reason?: string | null | undefined;
  settlement?: Settlement | undefined;
  /** Null if the payment is from before rates of classes. */
  fee?: FeeDetail | null | undefined;
}

/** Each member is there if `expand` names it. */
interface ExpandedMembers extends WebhookMembers {
  /** Null if no payment link made it. */
  payment_link?: PaymentLinkReference | null | undefined;
}

/** The payment link by which a payment was made. */
export interface PaymentLinkReference {
  id: string;
  /** For humans; usable instead of `id`. */
  reference_id: string;
  url: string;
}

export interface RefundDetail {
  number: number;
  status: 'held' | 'submitted' | 'confirmed' | 'rejected' | 'cancelled';
  /** Until then a refund that is `held` can be cancelled. */
  cancellable_until: string;
  submitted_at: string | null;
  finished_at: string | null;
  failure_reason: string | null;
}

/** Money that arrived after the payment had ended. */
export interface LatePayment {
  status: 'received' | 'submitted' | 'refunded' | 'manual_review';
  amount: number;
  received_at: string;
  finished_at: string | null;
}

/** When the money reaches the balance. */
export interface Settlement {
  kind: 'automatic' | 'manual';
  /** Null before the payment is paid. */
  due_at: string | null;
  settled_at: string | null;
}

/** The rate that decided the fee. */
export interface FeeDetail {
  /** As `fee_amount`. */
  amount: number;
  /** The VAT that it includes. */
  vat_amount: number;
  /** The rate of your class, what was agreed with you, or the policy of the provider. */
  source: 'class' | 'agreed' | 'catalog';
  class: 'UMI' | 'UKE' | 'UME' | 'UBE' | 'education' | 'fuel' | 'public_service' | 'social' | null;
  basis_points: number;
  flat_amount: number;
}

/** The response to a refund, and the fields that all payments have in common. */
export interface PaymentSummary extends PaymentIdentity, PaymentAmounts, ExpandedMembers {
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

/** The result of `create`: the response, and the status of now. */
export interface Creation extends CreatedPayment {
  /**
   * `status`, unless an earlier call with the same idempotency key created the payment: then it is the status that the
   * payment has now (`X-Payment-Status`), and `status` is still that of the first response. A payment that is
   * `expired`, `cancelled` or `failed` is never paid: create another one, with the key of the next attempt.
   */
  readonly currentStatus: PaymentStatus;
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
export interface BulkItem extends PaymentIdentity, PaymentAmounts, Omit<ExpandedMembers, 'expires_at'> {
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

/** Filters of a list; they can be combined, except `search`. */
export interface ListFilter {
  /** Payments for each request, 1 to 100. The iterator continues after them. */
  limit?: number | undefined;
  status?: PaymentStatus | undefined;
  provider?: Provider | undefined;
  merchant_reference_id?: string | undefined;
  created_from?: Date | string | undefined;
  created_to?: Date | string | undefined;
  /** The id or reference_id of a payment link. */
  payment_link?: string | undefined;
  /** The beginning of an order ID or a reference, in any case, or an amount. Not together with other filters. */
  search?: string | undefined;
  /** Members that are added to each payment. */
  expand?: Expansion | readonly Expansion[] | undefined;
}

/** The body of a new payment link: `amount`, or bounds between which the customer chooses one. */
export interface CreatePaymentLinkRequest {
  /** `once` ends with its first paid payment. */
  kind: 'once' | 'reusable';
  /** Every visitor reads it: no names of customers. */
  title: string;
  amount?: number | null | undefined;
  minimum_amount?: number | null | undefined;
  maximum_amount?: number | null | undefined;
  /** By default `gopay`. */
  provider?: Provider | undefined;
  merchant_reference_id?: string | null | undefined;
  /** ISO 8601 with a zone, in whole seconds: 5 minutes to 366 days ahead. */
  expires_at?: string | null | undefined;
  /** How long each payment can be paid, in seconds. */
  payment_expires_in?: number | null | undefined;
  /** At a registered address of the shop. */
  return_url?: string | null | undefined;
}

export type PaymentLinkStatus = 'active' | 'paid' | 'closed' | 'expired';

/** A page that a merchant sends or prints. Each customer who presses its button gets a payment. */
export interface PaymentLink extends PaymentLinkReference {
  kind: 'once' | 'reusable';
  status: PaymentLinkStatus;
  title: string;
  /** Null: the customer chooses it, between the next two. */
  amount: number | null;
  minimum_amount: number | null;
  maximum_amount: number | null;
  currency: 'IDR';
  provider: Provider;
  merchant_reference_id: string | null;
  expires_at: string | null;
  payment_expires_in: number | null;
  return_url: string | null;
  paid_count: number;
  paid_amount: number;
  created_at: string;
  closed_at: string | null;
}

export interface PaymentLinkFilter {
  /** Links for each request, 1 to 100. The iterator continues after them. */
  limit?: number | undefined;
  status?: PaymentLinkStatus | undefined;
}

export type PaymentEvent = `payment.${PaymentStatus}`;

/** The body of a webhook about a payment. Members of `expand` are there if the endpoint adds them. */
export interface WebhookEvent
  extends Omit<PaymentIdentity, 'payment_method_code'>, PaymentAmounts, ChangeTimes, WebhookMembers {
  event: PaymentEvent;
  status: PaymentStatus;
  environment: 'sandbox' | 'production';
  currency: 'IDR';
  payment_method: 'qris';
  provider: Provider;
}

/** The body of a webhook about money that came for a payment after its end. Only an endpoint that lists it gets it. */
export interface LatePaymentEvent extends ChangeTimes, WebhookMembers {
  event: 'late_payment.received' | 'late_payment.refunded';
  /** There is no `id`, so that a receiver does not take it for a status of the payment. */
  payment_id: string;
  /** Those of the payment, as the next one. */
  reference_id: string;
  merchant_reference_id: string | null;
  status: 'received' | 'refunded';
  environment: 'sandbox' | 'production';
  /** What came; it can differ from the amount of the payment. */
  amount: number;
  currency: 'IDR';
  payment_method: 'qris';
  provider: Provider;
  paid_at: string;
}

export type PayoutStatus = 'requested' | 'approved' | 'submitted' | 'completed' | 'failed' | 'cancelled' | 'returned';

/** The body of a webhook about a payout. Only an endpoint that lists it gets it. */
export interface PayoutEvent extends ChangeTimes {
  id: string;
  event: `payout.${PayoutStatus}`;
  reference_id: string;
  status: PayoutStatus;
  environment: 'sandbox' | 'production';
  gross_amount: number;
  fee_amount: number;
  /** What the bank transfers: `gross_amount` without `fee_amount`. */
  amount: number;
  currency: 'IDR';
  rail: 'bi_fast' | 'online' | 'skn' | 'rtgs';
  bank_code: string;
  account_last_four: string;
  failure_reason: string | null;
}

/** The body of a webhook about an invoice of fees or a credit note. Only an endpoint that lists it gets it. */
export interface InvoiceEvent {
  event: 'invoice.issued';
  number: string;
  kind: 'invoice' | 'credit_note';
  environment: 'sandbox' | 'production';
  /** `2026-11`, in WIB. */
  month: string;
  /** VAT included; below zero in a credit note. */
  fee_amount: number;
  vat_amount: number;
  currency: 'IDR';
  /** The number of the invoice that a credit note corrects. */
  corrects: string | null;
  /** Its page, at the address of the dashboard; with `.pdf` or `.csv` at the end, its file. */
  dashboard_path: string;
  issued_at: string;
}

/** The body of a test request, which contains no payment. */
export interface PingEvent {
  event: 'ping';
  endpoint_id: string;
  created_at: string;
}

/** What `webhooks.verify` returns. `event` names its type. */
export type ReceivedEvent = WebhookEvent | LatePaymentEvent | PayoutEvent | InvoiceEvent | PingEvent;
