import { formatRupiah } from '../src/domain/money';
import type { FindPaymentOutcome } from '../src/providers/provider';

/**
 * What the provider's status says of refunds, whatever their keys: a round that counts as refused may have gone through, and
 * so may one from the provider's own dashboard. `under_way`: taken, and not confirmed by the bank yet.
 */
export type RefundVerdict =
  | { readonly verdict: 'refunded'; readonly providerReference: string | null; readonly refundKey: string | null }
  | { readonly verdict: 'under_way'; readonly refundKey: string | null }
  | { readonly verdict: 'none' }
  | { readonly verdict: 'unclear'; readonly reason: string };

export function judgeRefund(totalRupiah: number, found: FindPaymentOutcome): RefundVerdict {
  if (found.outcome === 'unclear') return { verdict: 'unclear', reason: found.reason };
  if (found.outcome === 'not_found') return { verdict: 'unclear', reason: 'it does not know the order' };
  const { status, refunds } = found.payment;
  const confirmed = refunds.findLast((refund) => refund.confirmedAt !== null);
  if (status === 'refunded') {
    const { providerReference = null, refundKey = null } = confirmed ?? {};
    return { verdict: 'refunded', providerReference, refundKey };
  }
  if (status !== 'paid') return { verdict: 'unclear', reason: `it has the order as "${status}"` };
  if (refunds.length === 0) return { verdict: 'none' };
  const takenRupiah = refunds.reduce((sum, refund) => sum + refund.totalRupiah, 0);
  if (takenRupiah >= totalRupiah) return { verdict: 'under_way', refundKey: refunds.at(-1)?.refundKey ?? null };
  const amounts = `${formatRupiah(takenRupiah)} of ${formatRupiah(totalRupiah)}`;
  return { verdict: 'unclear', reason: `it has refunded ${amounts}` };
}
