import type { PaymentStep, StepResult } from '../src/domain/payment-step';
import { formatRupiah } from '../src/domain/money';
import type { Step } from '../src/db/transitions/apply-transition';
import { denyPayment } from '../src/db/transitions/deny-payment';
import { expirePayment } from '../src/db/transitions/expire-payment';
import { payPayment } from '../src/db/transitions/pay-payment';
import type { ProviderPayment } from '../src/providers/provider';
import type { ActivityDependencies } from './dependencies';
import { stepResult } from './step-result';

/**
 * Records what the provider says of a pending payment. Only this makes a payment `paid`, `expired` or `failed` while
 * it waits for its customer; what does not fit is left for a person to look at.
 */
export async function applyProviderStatus(
  dependencies: ActivityDependencies,
  { terms, state, atMs }: PaymentStep,
  said: ProviderPayment,
): Promise<StepResult> {
  const step: Step = { paymentId: terms.paymentId, version: state.version, at: new Date(atMs) };
  if (said.totalRupiah !== terms.totalRupiah) {
    const amounts = `${formatRupiah(said.totalRupiah)} instead of ${formatRupiah(terms.totalRupiah)}`;
    return { state, attention: `The provider has an order over ${amounts}.` };
  }
  switch (said.status) {
    case 'pending':
      return { state };
    case 'paid':
      return stepResult(await payPayment(dependencies, step, said.paidAt ?? step.at));
    case 'expired':
      return stepResult(await expirePayment(dependencies, step));
    case 'denied':
      return stepResult(await denyPayment(dependencies, step, 'the provider denied the payment'));
    case 'cancelled':
    case 'refunded':
      return { state, attention: `The provider says "${said.status}", which was not asked for here.` };
  }
}
