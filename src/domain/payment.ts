import type { Correlation } from './correlation';
import type { Amounts, FeePayer, FeeTerms } from './fees';
import type { PaymentStatus } from './payment-transitions';
import type { PaymentMethod, ProviderName } from './provider-capabilities';
import type { RefundState } from './refund';

export const SETTLEMENT_KINDS = ['automatic', 'manual'] as const;
export type SettlementKind = (typeof SETTLEMENT_KINDS)[number];

/** The captured terms: fixed when the payment is created. They contain no personal data, not even sealed. */
export interface PaymentTerms extends Amounts {
  readonly paymentId: string;
  readonly referenceId: string;
  readonly merchantId: string;
  readonly merchantReferenceId: string | null;
  readonly idempotencyKey: string | null;
  /** Keyed hash of the canonical creation request. It detects another request with the same idempotency key. */
  readonly fingerprint: string;
  readonly paymentMethod: PaymentMethod;
  readonly provider: ProviderName;
  readonly providerAccountId: string;
  readonly feePayer: FeePayer;
  /** The rate that decided the fee. Absent or null: a version that did not capture it created the payment. */
  readonly feeTerms?: FeeTerms | null | undefined;
  /** The VAT that the fee includes. Absent: a version without VAT created the payment, so there is none. */
  readonly vatRupiah?: number | undefined;
  readonly policyId: string;
  readonly settlementKind: SettlementKind;
  readonly settlementDelaySeconds: number;
  readonly expiresInSeconds: number;
  /** The correlation of the request that created the payment. Absent if Lunas read the terms from PostgreSQL. */
  readonly correlation?: Correlation;
}

/** `version` is the number of transitions. A step states the version that it starts from. */
export interface PaymentState {
  readonly status: PaymentStatus;
  readonly version: number;
  /** The end of the settlement delay, in milliseconds since 1970; absent before the payment is `paid`. */
  readonly settlesAtMs?: number;
  /** The latest refund, if the step concerns one. */
  readonly refund?: RefundState;
}

/** What a merchant may request instead of the policy's expiry. Midtrans takes 20 s to 180 days. */
export const OWN_EXPIRY_SECONDS = { min: 60, max: 86_400 } as const;

/** The longest order ID of a merchant, in characters. */
export const MAX_ORDER_ID_CHARACTERS = 64;

/** The longest description of what the customer pays for, in characters. */
export const MAX_DESCRIPTION_CHARACTERS = 140;

const CONTROL_CHARACTER = /\p{Cc}|\p{Zl}|\p{Zp}/u;

/** Whether the text is one line that can describe a payment. */
export function isDescription(text: string): boolean {
  const characters = Array.from(text).length;
  return characters >= 1 && characters <= MAX_DESCRIPTION_CHARACTERS && !CONTROL_CHARACTER.test(text);
}

const SECOND_MS = 1_000;

/**
 * The expiry of a payment that is created at this time, in milliseconds since 1970. It is a whole second: providers
 * count in seconds, and the QR must expire exactly at the `expires_at` of the response.
 */
export function expiryOf(createdAtMs: number, { expiresInSeconds }: Pick<PaymentTerms, 'expiresInSeconds'>): number {
  return (Math.ceil(createdAtMs / SECOND_MS) + expiresInSeconds) * SECOND_MS;
}
