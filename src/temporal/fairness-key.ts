/**
 * The start of the period in which a payment expires. Temporal takes from each key in turn: payments that expire all at once, or were to
 * while it was away, do not stand in line before those that are just being created.
 *
 * No period is longer than the payment's life, so that what is being created expires in one that has not begun, and what is due in one that
 * has. Its length is a power of two in seconds, so that payments with many different lives, due at once, still have few keys.
 */
export function fairnessKeyFor(expiresAtMs: number, timeToLiveSeconds: number): string {
  const lengthMs = 2 ** Math.floor(Math.log2(timeToLiveSeconds)) * 1_000;
  return new Date(Math.floor(expiresAtMs / lengthMs) * lengthMs).toISOString();
}
