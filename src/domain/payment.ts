import type { FeePayer } from './fees';
import type { PaymentStatus } from './payment-transitions';
import type { PaymentMethod, ProviderName } from './provider-capabilities';
import type { RefundState } from './refund';

export const SETTLEMENT_KINDS = ['automatic', 'manual'] as const;
export type SettlementKind = (typeof SETTLEMENT_KINDS)[number];

/** All that is fixed when a payment is accepted: who, how much, and the policy that it captured. Holds no personal data in clear. */
export interface PaymentTerms {
  readonly paymentId: string;
  readonly referenceId: string;
  readonly merchantId: string;
  readonly merchantReferenceId: string | null;
  readonly idempotencyKey: string | null;
  /** SHA-256 of the request in canonical form, hex: tells a repeat from another payment under the same key. */
  readonly fingerprint: string;
  readonly paymentMethod: PaymentMethod;
  readonly provider: ProviderName;
  readonly providerAccountId: string;
  readonly amountRupiah: number;
  readonly feeRupiah: number;
  readonly totalRupiah: number;
  readonly netRupiah: number;
  readonly feePayer: FeePayer;
  readonly policyId: string;
  readonly settlementKind: SettlementKind;
  readonly settlementDelaySeconds: number;
  readonly expiresInSeconds: number;
  /** `customer` and `metadata`, sealed with the master key, base64; null when neither was given. */
  readonly sealedDetails: string | null;
}

/** Where a payment stands. `version` counts its transitions: a step names the version that it starts from. */
export interface PaymentState {
  readonly status: PaymentStatus;
  readonly version: number;
  /** When its settlement delay is over, in milliseconds since 1970; absent before it was paid. */
  readonly settlesAtMs?: number;
  /** The latest refund, where a step concerned it. */
  readonly refund?: RefundState;
}

const SECOND_MS = 1_000;

/**
 * The deadline of a payment created at this instant, in milliseconds: a whole second, since providers count in seconds,
 * so that the QR ends there at the very instant that the merchant was told.
 */
export function expiryOf(createdAtMs: number, { expiresInSeconds }: Pick<PaymentTerms, 'expiresInSeconds'>): number {
  return (Math.ceil(createdAtMs / SECOND_MS) + expiresInSeconds) * SECOND_MS;
}
