import { formatRupiah } from '../src/domain/money';
import type { FindPaymentOutcome } from '../src/providers/provider';

/**
 * What the provider's status says of refunds, whatever their keys: a round that counts as refused may have gone through, and
 * so may one from the provider's own dashboard. `under_way`: taken, and not confirmed by the bank yet.
 */
export type ProviderRefundStatus =
  | { readonly status: 'refunded'; readonly providerReference: string | null; readonly refundKey: string | null }
  | { readonly status: 'pending'; readonly refundKey: string | null }
  | { readonly status: 'none' }
  | { readonly status: 'indeterminate'; readonly reason: string };

export function classifyProviderRefund(totalRupiah: number, found: FindPaymentOutcome): ProviderRefundStatus {
  if (found.outcome === 'indeterminate') return { status: 'indeterminate', reason: found.reason };
  if (found.outcome === 'not_found') return { status: 'indeterminate', reason: 'it does not know the order' };
  const { status, refunds } = found.payment;
  const confirmed = refunds.findLast((refund) => refund.confirmedAt !== null);
  if (status === 'refunded') {
    const { providerReference = null, refundKey = null } = confirmed ?? {};
    return { status: 'refunded', providerReference, refundKey };
  }
  if (status !== 'paid') return { status: 'indeterminate', reason: `it has the order as "${status}"` };
  if (refunds.length === 0) return { status: 'none' };
  const takenRupiah = refunds.reduce((sum, refund) => sum + refund.totalRupiah, 0);
  if (takenRupiah >= totalRupiah) return { status: 'pending', refundKey: refunds.at(-1)?.refundKey ?? null };
  const amounts = `${formatRupiah(takenRupiah)} of ${formatRupiah(totalRupiah)}`;
  return { status: 'indeterminate', reason: `it has refunded ${amounts}` };
}
