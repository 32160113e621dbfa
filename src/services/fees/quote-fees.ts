import type { Queryable } from '../../db/connection/pool';
import { findCreatingMerchant } from '../../db/merchants/find-creating-merchant';
import { requireMerchant } from '../../db/merchants/require-merchant';
import { findCurrentPolicy } from '../../db/operations/find-current-policy';
import type { FeeTerms } from '../../domain/fees';
import type { ProviderName } from '../../domain/provider-capabilities';
import { requireAmounts } from '../payments/create/capture-terms';
import { CreationRejectedError, type CreateReason } from '../payments/create/create-rejection';

interface QuoteQuery {
  readonly merchantId: string;
  readonly provider: ProviderName;
  /** The day in WIB decides which rates are in force; the identity is that of today. */
  readonly at: Date;
  readonly amounts: readonly number[];
}

/** What a payment of the amount would cost, or why there can be none. Keys are those of `lunas fees quote`. */
export type FeeQuote = { readonly amount: number } & ((QuotedAmounts & QuotedRate) | { readonly error: CreateReason });

interface QuotedAmounts {
  readonly feeAmount: number;
  /** Included in the fee. */
  readonly vatAmount: number;
  readonly netAmount: number;
  readonly totalAmount: number;
}

interface QuotedRate extends Omit<FeeTerms, 'flatRupiah' | 'vatBasisPoints'> {
  readonly flatAmount: number;
}

/**
 * Decides each amount as a create does, and writes nothing.
 * @throws NotFoundError if there is no such merchant
 */
export async function quoteFees(db: Queryable, query: QuoteQuery): Promise<FeeQuote[]> {
  const { merchantId, provider, at, amounts } = query;
  await requireMerchant(db, merchantId);
  const merchant = await findCreatingMerchant(db, merchantId);
  const current = await findCurrentPolicy(db, { merchantId, provider, channel: 'qris', at });
  const decide = (amountRupiah: number) =>
    requireAmounts(merchant, { amountRupiah, provider, paymentMethod: 'qris' }, current);
  return amounts.map((amount) => quoteOf(amount, decide));
}

function quoteOf(amount: number, decide: (amount: number) => ReturnType<typeof requireAmounts>): FeeQuote {
  try {
    const { feeRupiah: feeAmount, vatRupiah: vatAmount, netRupiah, totalRupiah, feeTerms } = decide(amount);
    const { flatRupiah: flatAmount, vatBasisPoints: _, ...rate } = feeTerms;
    return { amount, feeAmount, vatAmount, netAmount: netRupiah, totalAmount: totalRupiah, ...rate, flatAmount };
  } catch (error) {
    if (error instanceof CreationRejectedError) return { amount, error: error.rejection.reason };
    throw error;
  }
}
