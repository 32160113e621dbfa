import type { PaymentStep } from '../src/domain/payment-step';
import type { ActivityDependencies } from './dependencies';
import { providerCall } from './provider-call';
import { judgeRefund, type RefundVerdict } from './refund-verdict';

/** What the provider says now of refunds of this payment. */
export async function askAfterRefund(
  { providers }: ActivityDependencies,
  { terms }: PaymentStep,
): Promise<RefundVerdict> {
  const provider = await providers.forAccount(terms.providerAccountId);
  return judgeRefund(terms.totalRupiah, await provider.findPayment(terms.referenceId, providerCall()));
}
