import type { StepInput, StepResult } from '../src/domain/workflow-step';
import { refundKeyOf } from '../src/domain/refund';
import { readState } from '../src/db/transitions/payment-state';
import { transitionWriters } from '../src/db/transitions/payment-transitions';
import type { ActivityDependencies } from './dependencies';
import { executeRefund } from './execute-refund';
import { toStepResult, currentRefundNumber, toTransitionInput } from './transition-input';

/**
 * Moves a submitted refund on, and does not fail where the provider is unclear: it is asked again later, for ever. Only what
 * PostgreSQL has as submitted goes to the provider: the workflow may be behind it, and the merchant may have taken the refund back.
 */
export async function refundPayment(dependencies: ActivityDependencies, request: StepInput): Promise<StepResult> {
  const { terms, state } = request;
  const number = currentRefundNumber(request);
  const current = await readState(dependencies.db, terms.paymentId);
  if (current.version !== state.version || current.refund?.status !== 'submitted') return { state: current };
  const provider = await dependencies.providers.forAccount(terms.providerAccountId);
  const refund = await executeRefund(
    provider,
    {
      referenceId: terms.referenceId,
      refundKey: refundKeyOf(terms.referenceId, number),
      totalRupiah: terms.totalRupiah,
      reason: 'requested by the merchant',
    },
    dependencies.isRecovering,
  );
  const input = { ...toTransitionInput(request), refundNumber: number };
  switch (refund.status) {
    case 'refunded': {
      const { providerReference } = refund;
      return toStepResult(await transitionWriters.confirm_refund(dependencies, { ...input, providerReference }));
    }
    case 'rejected':
      return toStepResult(await transitionWriters.fail_refund(dependencies, { ...input, reason: refund.reason }));
    case 'pending':
      return { state };
    case 'indeterminate':
      return { state, attentionReason: `The refund is unclear at the provider: ${refund.reason}.` };
  }
}
