import type { Provider, RefundRequest } from '../src/providers/provider';
import { providerDeadline } from './provider-deadline';
import { RECOVERY_MODE } from './recovery-mode';
import { classifyProviderRefund, type ProviderRefundStatus } from './provider-refund-status';

/** What came of asking the provider for a refund: also that it refused it, and that its status shows none. */
export type PursuedRefund =
  Exclude<ProviderRefundStatus, { readonly status: 'none' }> | { readonly status: 'rejected'; readonly reason: string };

/**
 * Has the provider refund an order, once: its status comes first, and only where that shows no refund is it asked for one,
 * always under the same key. Final is what the status says: confirmed by the bank, or refused and not to be found.
 */
export async function executeRefund(
  provider: Provider,
  request: RefundRequest,
  isRecovering: boolean,
): Promise<PursuedRefund> {
  const before = await classify(provider, request);
  if (before.status !== 'none') return before;
  if (isRecovering) return { status: 'indeterminate', reason: RECOVERY_MODE };
  const queried = await provider.refundPayment(request, providerDeadline());
  if (queried.outcome === 'indeterminate') return { status: 'indeterminate', reason: queried.reason };
  const after = await classify(provider, request);
  if (after.status !== 'none') return after;
  return queried.outcome === 'accepted'
    ? { status: 'indeterminate', reason: 'it took the refund, and does not show it' }
    : { status: 'rejected', reason: queried.reason };
}

async function classify(
  provider: Provider,
  { referenceId, totalRupiah }: RefundRequest,
): Promise<ProviderRefundStatus> {
  return classifyProviderRefund(totalRupiah, await provider.findPayment(referenceId, providerDeadline()));
}
