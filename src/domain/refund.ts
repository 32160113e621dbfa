/** A provider that keeps refusing is a case for a person, not for a twenty-first try. */
export const MAX_REFUNDS = 20;

/** `held` back for a while and still to be cancelled · `submitted` to the provider for good · ended in one of three ways. */
export const REFUND_STATUSES = ['held', 'submitted', 'confirmed', 'rejected', 'cancelled'] as const;
export type RefundStatus = (typeof REFUND_STATUSES)[number];

/** Where the latest refund of a payment stands. */
export interface RefundState {
  /** 1 for the first refund of the payment, one more for each after it. */
  readonly number: number;
  /** When it goes to the provider, in milliseconds since 1970. */
  readonly submitAtMs: number;
  readonly status: RefundStatus;
}

/** What the provider knows a refund by: the same at every attempt, a new one only for a new round. */
export function refundKeyOf(referenceId: string, number: number): string {
  return `${referenceId}-R${number}`;
}

/** The round of a refund that the provider has under a key of ours; 0 if the key is not ours. */
export function refundNumberOfKey(referenceId: string, refundKey: string | null): number {
  const [, number = '0'] = refundKey?.match(/-R([1-9]\d{0,3})$/) ?? [];
  return refundKey === refundKeyOf(referenceId, Number(number)) ? Number(number) : 0;
}
