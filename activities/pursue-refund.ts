import type { Provider, RefundRequest } from '../src/providers/provider';
import { providerCall } from './provider-call';
import { RECOVERY_MODE } from './recovery-mode';
import { judgeRefund, type RefundVerdict } from './refund-verdict';

/** What came of asking the provider for a refund: also that it refused it, and that its status shows none. */
export type PursuedRefund =
  Exclude<RefundVerdict, { readonly verdict: 'none' }> | { readonly verdict: 'refused'; readonly reason: string };

/**
 * Has the provider refund an order, once: its status comes first, and only where that shows no refund is it asked for one,
 * always under the same key. Final is what the status says: confirmed by the bank, or refused and not to be found.
 */
export async function pursueRefund(
  provider: Provider,
  request: RefundRequest,
  isRecovering: boolean,
): Promise<PursuedRefund> {
  const before = await judge(provider, request);
  if (before.verdict !== 'none') return before;
  if (isRecovering) return { verdict: 'unclear', reason: RECOVERY_MODE };
  const asked = await provider.refundPayment(request, providerCall());
  if (asked.outcome === 'unclear') return { verdict: 'unclear', reason: asked.reason };
  const after = await judge(provider, request);
  if (after.verdict !== 'none') return after;
  return asked.outcome === 'accepted'
    ? { verdict: 'unclear', reason: 'it took the refund, and does not show it' }
    : { verdict: 'refused', reason: asked.reason };
}

async function judge(provider: Provider, { referenceId, totalRupiah }: RefundRequest): Promise<RefundVerdict> {
  return judgeRefund(totalRupiah, await provider.findPayment(referenceId, providerCall()));
}
