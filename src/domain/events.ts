import { PAYMENT_STATUSES, type PaymentStatus } from './payment-transitions';

/** Contract, "Events": one event for each status, named after it. */
export type PaymentEvent = `payment.${PaymentStatus}`;

export const PAYMENT_EVENTS: readonly PaymentEvent[] = PAYMENT_STATUSES.map(eventOnEntering);

export function eventOnEntering(status: PaymentStatus): PaymentEvent {
  return `payment.${status}`;
}
