import type { MerchantClass } from './merchant-identity';
import { MAX_TOTAL_RUPIAH } from './money';

export const FEE_PAYERS = ['buyer', 'merchant'] as const;
export type FeePayer = (typeof FEE_PAYERS)[number];

/** The fee of a policy of the catalog. */
export interface FeeRate {
  readonly feeBasisPoints: number;
  readonly feeFlatRupiah: number;
}

/** Where a fee comes from: the rate of the merchant's class, a price agreed with the merchant, or the catalog. */
export const FEE_SOURCES = ['class', 'agreed', 'catalog'] as const;
export type FeeSource = (typeof FEE_SOURCES)[number];

/** The rate of a payment, fixed at its creation. */
export interface FeeTerms {
  readonly source: FeeSource;
  /** The merchant's; null: it had no identity in force. */
  readonly class: MerchantClass | null;
  readonly basisPoints: number;
  readonly flatRupiah: number;
  /** Since when the rate or the price was in force, such as `2024-12-01`; null for the catalog. */
  readonly validFrom: string | null;
  /** The VAT that the fee includes, of the fee without it. Absent: a version without VAT captured the terms. */
  readonly vatBasisPoints?: number | undefined;
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

/** What of the terms decides about the fee of an amount. */
type FeeFormula = Pick<FeeTerms, 'source' | 'basisPoints' | 'flatRupiah'>;

/**
 * `amount × basis points / 10,000 + flat`, in whole rupiah, by integer arithmetic (docs/contract.md#fees). The catalog
 * rounds up. The others round down, so that no fee is above the lawful per cent.
 */
export function feeOf(amountRupiah: number, { source, basisPoints, flatRupiah }: FeeFormula): number {
  const product = amountRupiah * basisPoints;
  const remainder = product % BASIS_POINTS;
  const roundedUp = source === 'catalog' && remainder > 0 ? 1 : 0;
  return (product - remainder) / BASIS_POINTS + roundedUp + flatRupiah;
}

/** The VAT that a fee includes, in whole rupiah, rounded down (docs/fees.md#vat). */
export function vatOf(feeRupiah: number, { vatBasisPoints = 0 }: Pick<FeeTerms, 'vatBasisPoints'>): number {
  return Math.floor((feeRupiah * vatBasisPoints) / (BASIS_POINTS + vatBasisPoints));
}

/** Whether both have the same fee, from the same source, with the same VAT. */
export function isSameRate(one: FeeTerms, other: FeeTerms | null | undefined): boolean {
  const { source, class: ownClass, basisPoints, flatRupiah, validFrom, vatBasisPoints = 0 } = one;
  return (
    source === other?.source &&
    ownClass === other.class &&
    basisPoints === other.basisPoints &&
    flatRupiah === other.flatRupiah &&
    validFrom === other.validFrom &&
    vatBasisPoints === (other.vatBasisPoints ?? 0)
  );
}

/** Who pays the fee decides (docs/contract.md#fees). `amountRupiah` is an integer of at least 1. */
export function amountsOf(amountRupiah: number, terms: FeeFormula, feePayer: FeePayer): AmountsOutcome {
  const feeRupiah = feeOf(amountRupiah, terms);
  if (feePayer === 'merchant' && feeRupiah >= amountRupiah) return { outcome: 'fee_reaches_amount', feeRupiah };
  const totalRupiah = feePayer === 'buyer' ? amountRupiah + feeRupiah : amountRupiah;
  const netRupiah = feePayer === 'buyer' ? amountRupiah : amountRupiah - feeRupiah;
  if (totalRupiah > MAX_TOTAL_RUPIAH) return { outcome: 'total_above_limit', feeRupiah };
  return { outcome: 'ok', amounts: { amountRupiah, feeRupiah, totalRupiah, netRupiah } };
}
