import type { StepInput } from '../src/domain/workflow-step';
import type { ActivityDependencies } from './dependencies';
import { providerDeadline } from './provider-deadline';
import { classifyProviderRefund, type ProviderRefundStatus } from './provider-refund-status';

/** What the provider says now of refunds of this payment. */
export async function fetchRefundStatus(
  { providers }: ActivityDependencies,
  { terms }: StepInput,
): Promise<ProviderRefundStatus> {
  const provider = await providers.forAccount(terms.providerAccountId);
  return classifyProviderRefund(terms.totalRupiah, await provider.findPayment(terms.referenceId, providerDeadline()));
}
