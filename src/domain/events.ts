import { PAYMENT_STATUSES, type PaymentStatus } from './payment-transitions';

/** One event for each status, named after it (docs/contract.md#events). */
export type PaymentEvent = `payment.${PaymentStatus}`;

export const PAYMENT_EVENTS: readonly PaymentEvent[] = PAYMENT_STATUSES.map(eventOnEntering);

export function eventOnEntering(status: PaymentStatus): PaymentEvent {
  return `payment.${status}`;
}
