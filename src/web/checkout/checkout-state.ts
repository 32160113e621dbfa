import type { Logo } from '../../db/merchants/merchant-logos';
import type { LatePaymentStatus } from '../../domain/late-payment';
import type { PaymentStatus } from '../../domain/payment-transitions';
import type { Language } from '../../domain/sign-in';
import type { TimeLeft } from './time-left';

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
  /** The merchant's own number of the order, and its text about it; null if it sent none. */
  readonly merchantReferenceId: string | null;
  readonly description: string | null;
  /** When it was paid; null if it was not. */
  readonly paidAt: Date | null;
  /** When its status changed last. */
  readonly updatedAt: Date;
  /** How customers reach the shop; null if the merchant registered nothing. */
  readonly contact: string | null;
  /** The colour of the shop, `#rrggbb`; null: that of Lunas. */
  readonly accent: string | null;
  readonly logo: Logo | null;
}

/** The mark of a page, as the page contains it. */
export interface MarkTime {
  /** The server's, to the second. */
  readonly time: string;
  /** After so many milliseconds the script removes the mark. */
  readonly endsMs: string;
}

/** What the page of a payment is rendered from. */
export interface CheckoutPage {
  readonly payment: CheckoutPayment;
  /** The path of the page. */
  readonly path: string;
  /** What `GET <path>/events` compares with the current status. */
  readonly statusKey: string;
  /** The address of the shop; null if the merchant has none. */
  readonly returnUrl: string | null;
  readonly language: Language;
  /** The page shows that its money is not real. */
  readonly isSandbox: boolean;
  readonly nowMs: number;
  /** By default that of `nowMs`. A template has other texts. */
  readonly timeLeft?: TimeLeft;
  /** By default that of `nowMs`; null: the page has no mark. */
  readonly mark?: MarkTime | null;
}

/** Between the deadline and the provider's last status, a payment is `pending` and must not be paid any more. */
export function checkoutStateOf(payment: Pick<CheckoutPayment, 'status' | 'expiresAt'>, nowMs: number): CheckoutState {
  const state = STATES[payment.status];
  return state === 'waiting' && payment.expiresAt.getTime() <= nowMs ? 'checking' : state;
}

/** The payload, as long as the customer may pay it. */
export function payablePayload(
  payment: Pick<CheckoutPayment, 'status' | 'expiresAt' | 'qrisPayload'>,
  nowMs: number,
): string | null {
  return checkoutStateOf(payment, nowMs) === 'waiting' ? payment.qrisPayload : null;
}

/** No transition leaves these, and no money can arrive after them. */
export function isLastPage({ status }: Pick<CheckoutPayment, 'status'>): boolean {
  return status === 'settled' || status === 'refunded';
}

const WITHOUT_PAYMENT: ReadonlySet<CheckoutState> = new Set(['checking', 'expired', 'cancelled', 'failed']);

/** Whether the payment is not to be paid any more, and was not paid in time. */
export const isWithoutPayment = (state: CheckoutState): boolean => WITHOUT_PAYMENT.has(state);
