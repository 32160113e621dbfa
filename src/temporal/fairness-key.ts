/**
 * The start of the expiry window of a payment. Temporal schedules tasks fairly by key: many payments that expire
 * together, or that expired during an outage, do not delay the creation of new payments.
 *
 * A window is not longer than the time to live of the payment. So a new payment has a window that starts in the future,
 * and an overdue payment has one that has started. The length is a power of two in seconds, so that overdue payments
 * with many different times to live have few keys.
 */
export function fairnessKeyFor(expiresAtMs: number, timeToLiveSeconds: number): string {
  const lengthMs = 2 ** Math.floor(Math.log2(timeToLiveSeconds)) * 1_000;
  return new Date(Math.floor(expiresAtMs / lengthMs) * lengthMs).toISOString();
}
