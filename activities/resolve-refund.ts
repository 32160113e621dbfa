import type { PaymentStep, StepResult } from '../src/domain/payment-step';
import { resolveRefundAsPaid as recordPaid } from '../src/db/transitions/resolve-refund-as-paid';
import { resolveRefundAsRefunded as recordRefunded } from '../src/db/transitions/resolve-refund-as-refunded';
import type { ActivityDependencies } from './dependencies';
import { askAfterRefund } from './ask-after-refund';
import { resultOf, roundOf, stepOf } from './steps';

/** An operator knows that the customer has the money back, by whatever way. */
export async function resolveRefundAsRefunded(
  dependencies: ActivityDependencies,
  request: PaymentStep,
): Promise<StepResult> {
  return resultOf(await recordRefunded(dependencies, stepOf(request), roundOf(request)));
}

/** An operator gives a refused refund up. Only where the provider's status shows none, or the merchant would be paid too. */
export async function resolveRefundAsPaid(
  dependencies: ActivityDependencies,
  request: PaymentStep,
): Promise<StepResult> {
  const judged = await askAfterRefund(dependencies, request);
  switch (judged.verdict) {
    case 'none':
      return resultOf(await recordPaid(dependencies, stepOf(request)));
    case 'unclear':
      return { state: request.state, refusal: `The provider has to be clear first: ${judged.reason}.` };
    case 'refunded':
    case 'under_way':
      return {
        state: request.state,
        refusal: 'The provider shows a refund, so it is not paid: resolve it as refunded.',
      };
  }
}
