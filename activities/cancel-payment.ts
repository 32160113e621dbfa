import type { PaymentStep, StepResult } from '../src/domain/payment-step';
import { cancelPayment as recordCancelled } from '../src/db/transitions/cancel-payment';
import type { ActivityDependencies } from './dependencies';
import { confirmPaid } from './confirm-paid';
import { providerCall, unclear } from './provider-call';
import { resultOf, stepOf } from './steps';

/**
 * Has the provider cancel the order. Only its confirmation makes the payment `cancelled`; where it says that it can no
 * longer change the order, its status tells what became of it.
 */
export async function cancelPayment(dependencies: ActivityDependencies, request: PaymentStep): Promise<StepResult> {
  const { terms } = request;
  const provider = await dependencies.providers.forAccount(terms.providerAccountId);
  const outcome = await provider.cancelPayment(terms.referenceId, providerCall());
  switch (outcome.outcome) {
    case 'accepted':
      return resultOf(await recordCancelled(dependencies, stepOf(request)));
    case 'refused':
      return confirmPaid(dependencies, request);
    case 'unclear':
      throw unclear(outcome);
  }
}
