/** If the provider rejects 20 refunds of a payment, an operator resolves it without the provider. */
export const MAX_REFUNDS = 20;

/** `held`: can be cancelled · `submitted`: the provider may have it. The other three are final for this refund. */
export const REFUND_STATUSES = ['held', 'submitted', 'confirmed', 'rejected', 'cancelled'] as const;
export type RefundStatus = (typeof REFUND_STATUSES)[number];

/** `provider`: Lunas has only seen it at the provider. `lunas`: a merchant, an operator or a rule requested it here. */
export const REFUND_REQUESTERS = ['lunas', 'provider'] as const;
export type RefundRequester = (typeof REFUND_REQUESTERS)[number];

/** The latest refund of a payment. */
export interface RefundState {
  /** 1 for the first refund of the payment, one more for each after it. */
  readonly number: number;
  /** The end of its hold, in milliseconds since 1970. Then it is submitted. */
  readonly submitAtMs: number;
  readonly status: RefundStatus;
}

/** The refund's key at the provider, the same at every attempt. The provider executes a key once. */
export function refundKeyOf(referenceId: string, number: number): string {
  return `${referenceId}-R${number}`;
}

/** The number of the refund with this key; 0 if the key is not one of ours. */
export function refundNumberOfKey(referenceId: string, refundKey: string | null): number {
  const [, number = '0'] = refundKey?.match(/-R([1-9]\d{0,3})$/) ?? [];
  return refundKey === refundKeyOf(referenceId, Number(number)) ? Number(number) : 0;
}
