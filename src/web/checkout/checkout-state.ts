import type { LatePaymentStatus } from '../../domain/late-payment';
import type { PaymentStatus } from '../../domain/payment-transitions';

/** What the customer can do or expect. */
export const CHECKOUT_STATES = [
  'preparing',
  'waiting',
  'checking',
  'paid',
  'refund_processing',
  'refund_failed',
  'refunded',
  'expired',
  'cancelled',
  'failed',
] as const;
export type CheckoutState = (typeof CHECKOUT_STATES)[number];

const STATES = {
  created: 'preparing',
  pending: 'waiting',
  paid: 'paid',
  settled: 'paid',
  expired: 'expired',
  failed: 'failed',
  cancelled: 'cancelled',
  refund_processing: 'refund_processing',
  refund_failed: 'refund_failed',
  refunded: 'refunded',
} as const satisfies Record<PaymentStatus, CheckoutState>;

/** A payment as its checkout page shows it. */
export interface CheckoutPayment {
  readonly referenceId: string;
  readonly merchantName: string;
  readonly totalRupiah: number;
  readonly status: PaymentStatus;
  readonly expiresAt: Date;
  readonly qrisPayload: string | null;
  readonly latePayment: LatePaymentStatus | null;
}

/** Between the deadline and the provider's last status, a payment is `pending` and must not be paid any more. */
export function checkoutStateOf(payment: CheckoutPayment, nowMs: number): CheckoutState {
  const state = STATES[payment.status];
  return state === 'waiting' && payment.expiresAt.getTime() <= nowMs ? 'checking' : state;
}

/** The payload, as long as the customer may pay it. */
export function payablePayload(payment: CheckoutPayment, nowMs: number): string | null {
  return checkoutStateOf(payment, nowMs) === 'waiting' ? payment.qrisPayload : null;
}

/** No transition leaves these, and no money can arrive after them. */
export function isLastPage({ status }: CheckoutPayment): boolean {
  return status === 'settled' || status === 'refunded';
}
