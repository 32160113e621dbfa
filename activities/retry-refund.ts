import type { PaymentStep, StepResult } from '../src/domain/payment-step';
import { refundKeyOf } from '../src/domain/refund';
import { confirmFailedRefund } from '../src/db/transitions/confirm-refund';
import { retryRefund as recordRetried } from '../src/db/transitions/request-refund';
import type { ActivityDependencies } from './dependencies';
import { askAfterRefund } from './ask-after-refund';
import { isLostRetry, recordLostRetry } from './provider-refund';
import { resultOf, roundOf, stepOf } from './steps';

/** Opens another round of a refused refund, at an operator's word; one that went through after all is recorded instead. */
export async function retryRefund(dependencies: ActivityDependencies, request: PaymentStep): Promise<StepResult> {
  const { state, terms } = request;
  const judged = await askAfterRefund(dependencies, request);
  switch (judged.verdict) {
    case 'refunded': {
      if (isLostRetry(request, judged.refundKey)) return recordLostRetry(dependencies, request, judged.refundKey);
      const confirmed = { round: roundOf(request), providerReference: judged.providerReference };
      return resultOf(await confirmFailedRefund(dependencies, stepOf(request), confirmed));
    }
    case 'unclear':
      return { state, refusal: `The provider has to be clear first: ${judged.reason}.` };
    case 'under_way':
    case 'none': {
      const round = roundOf(request) + 1;
      const refund = { round, refundKey: refundKeyOf(terms.referenceId, round), holdSeconds: 0 };
      return resultOf(await recordRetried(dependencies, stepOf(request), refund));
    }
  }
}
