import { bandOf, type FeeBand } from './fee-classes';
import { feeOf, type FeeRate, type FeeTerms } from './fees';
import type { MerchantClass } from './merchant-identity';

/** What is in force for a merchant on a day. */
export interface FeeRates {
  /** Null: the merchant has no identity in force. */
  readonly class: MerchantClass | null;
  /** The rates of the class; null: there are none. */
  readonly schedule: { readonly validFrom: string; readonly bands: readonly FeeBand[] } | null;
  /** What was agreed with the merchant; null: nothing, or the agreement has ended. */
  readonly price: { readonly validFrom: string; readonly basisPoints: number; readonly flatRupiah: number } | null;
  /** 0: we are not registered for VAT. */
  readonly vatBasisPoints: number;
}

/** No class, nothing agreed, and no VAT: the catalog counts. */
export const NO_RATES: FeeRates = { class: null, schedule: null, price: null, vatBasisPoints: 0 };

/**
 * The rate of a payment of this amount. The agreed price counts below the rate of the class, never above it; without
 * both, the policy of the catalog counts (docs/fees.md).
 */
export function feeTermsOf(amountRupiah: number, policy: FeeRate, rates: FeeRates): FeeTerms {
  return { ...rateOf(amountRupiah, policy, rates), vatBasisPoints: rates.vatBasisPoints };
}

function rateOf(amountRupiah: number, policy: FeeRate, rates: FeeRates): FeeTerms {
  const [ofClass, agreed] = [classTerms(amountRupiah, rates), agreedTerms(rates)];
  if (ofClass && agreed) return feeOf(amountRupiah, agreed) < feeOf(amountRupiah, ofClass) ? agreed : ofClass;
  const { feeBasisPoints: basisPoints, feeFlatRupiah: flatRupiah } = policy;
  return ofClass ?? agreed ?? { source: 'catalog', class: rates.class, basisPoints, flatRupiah, validFrom: null };
}

function classTerms(amountRupiah: number, { class: ownClass, schedule }: FeeRates): FeeTerms | null {
  const band = bandOf(amountRupiah, schedule?.bands ?? []);
  if (schedule === null || band === undefined) return null;
  const { basisPoints } = band;
  return { source: 'class', class: ownClass, basisPoints, flatRupiah: 0, validFrom: schedule.validFrom };
}

function agreedTerms({ class: ownClass, price }: FeeRates): FeeTerms | null {
  return price && { source: 'agreed', class: ownClass, ...price };
}
