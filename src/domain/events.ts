import { PAYMENT_STATUSES, type PaymentStatus } from './payment-transitions';
import { PAYOUT_STATUSES, type PayoutStatus } from './payout-transitions';

/** One event for each status, named after it (docs/contract.md#events). */
export type PaymentEvent = `payment.${PaymentStatus}`;
export type PayoutEvent = `payout.${PayoutStatus}`;
export type LatePaymentEvent = (typeof LATE_PAYMENT_EVENTS)[number];
export type InvoiceEvent = (typeof INVOICE_EVENTS)[number];
export type WebhookEvent = PaymentEvent | LatePaymentEvent | PayoutEvent | InvoiceEvent;

export const PAYMENT_EVENTS: readonly PaymentEvent[] = PAYMENT_STATUSES.map(eventOnEntering);

/* Only endpoints that list them receive the following events. */

export const LATE_PAYMENT_EVENTS = ['late_payment.received', 'late_payment.refunded'] as const;

export const PAYOUT_EVENTS: readonly PayoutEvent[] = PAYOUT_STATUSES.map((status) => `payout.${status}` as const);

/** An invoice or a credit note has this event. */
export const INVOICE_EVENTS = ['invoice.issued'] as const;

/** In the groups in which people choose them. */
export const EVENT_GROUPS = {
  payments: PAYMENT_EVENTS,
  latePayments: LATE_PAYMENT_EVENTS,
  payouts: PAYOUT_EVENTS,
  invoices: INVOICE_EVENTS,
} as const satisfies Readonly<Record<string, readonly WebhookEvent[]>>;

export type EventGroup = keyof typeof EVENT_GROUPS;
export const EVENT_GROUP_NAMES = [
  'payments',
  'latePayments',
  'payouts',
  'invoices',
] as const satisfies readonly EventGroup[];

export const WEBHOOK_EVENTS: readonly WebhookEvent[] = Object.values(EVENT_GROUPS).flat();

export function eventOnEntering(status: PaymentStatus): PaymentEvent {
  return `payment.${status}`;
}

/** @param listed by an endpoint or `lunas listen`; empty: it receives the events of payments */
export function receivesEvent(listed: readonly string[], event: string): boolean {
  return (listed.length === 0 ? PAYMENT_EVENTS : listed).some((one) => one === event);
}
