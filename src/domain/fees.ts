import { MAX_TOTAL_RUPIAH } from './money';

export const FEE_PAYERS = ['buyer', 'merchant'] as const;
export type FeePayer = (typeof FEE_PAYERS)[number];

export interface FeeRate {
  readonly feeBasisPoints: number;
  readonly feeFlatRupiah: number;
}

export interface Amounts {
  readonly amountRupiah: number;
  readonly feeRupiah: number;
  /** What the customer pays. */
  readonly totalRupiah: number;
  /** What the merchant receives. */
  readonly netRupiah: number;
}

export type AmountsOutcome =
  | { readonly outcome: 'ok'; readonly amounts: Amounts }
  | { readonly outcome: 'total_above_limit' | 'fee_reaches_amount'; readonly feeRupiah: number };

const BASIS_POINTS = 10_000;

/** `ceil(amount × basis points / 10,000) + flat`, in whole rupiah, by integer arithmetic (docs/contract.md#fees). */
export function feeOf(amountRupiah: number, rate: FeeRate): number {
  const product = amountRupiah * rate.feeBasisPoints;
  const remainder = product % BASIS_POINTS;
  const roundedUp = remainder === 0 ? product : product + BASIS_POINTS - remainder;
  return roundedUp / BASIS_POINTS + rate.feeFlatRupiah;
}

/** Who pays the fee decides (docs/contract.md#fees). `amountRupiah` is an integer of at least 1. */
export function amountsOf(amountRupiah: number, rate: FeeRate, feePayer: FeePayer): AmountsOutcome {
  const feeRupiah = feeOf(amountRupiah, rate);
  if (feePayer === 'merchant' && feeRupiah >= amountRupiah) return { outcome: 'fee_reaches_amount', feeRupiah };
  const totalRupiah = feePayer === 'buyer' ? amountRupiah + feeRupiah : amountRupiah;
  const netRupiah = feePayer === 'buyer' ? amountRupiah : amountRupiah - feeRupiah;
  if (totalRupiah > MAX_TOTAL_RUPIAH) return { outcome: 'total_above_limit', feeRupiah };
  return { outcome: 'ok', amounts: { amountRupiah, feeRupiah, totalRupiah, netRupiah } };
}
