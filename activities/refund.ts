import { findRefundRequester } from '../src/db/payments/find-refund-requester';
import { closeNotifications, newestNotification } from '../src/db/payments/notification-inbox';
import type { TransitionContext } from '../src/db/transitions/apply-transition';
import { readState } from '../src/db/transitions/payment-state';
import { transitionWriters } from '../src/db/transitions/payment-transitions';
import { COVERED_BY } from '../src/domain/provider-status';
import { refundKeyOf, refundNumberOfKey } from '../src/domain/refund';
import type { StepInput, StepResult } from '../src/domain/workflow-step';
import type { ActivityDependencies } from './dependencies';
import {
  executeRefund,
  fetchRefundStatus,
  followRefund,
  nextRefund,
  recordProviderRefund,
  type ProviderRefundStatus,
} from './provider-refund';
import { orderKeyOf } from './provider-status';
import { deferred, keepState, permitted, RECOVERY_MODE, toStepResult, toTransitionInput } from './step-result';
import { verifyStep, type VerifiedStep } from './verify-terms';

/** Opens a refund and holds it: the provider receives nothing before the hold is over. */
export async function requestRefund(dependencies: ActivityDependencies, request: StepInput): Promise<StepResult> {
  const refund = {
    ...nextRefund(request),
    holdSeconds: dependencies.refundHoldSeconds,
    requestedBy: 'lunas' as const,
  };
  return toStepResult(
    await transitionWriters.request_refund(dependencies, { ...toTransitionInput(request), ...refund }),
  );
}
requestRefund.checked = verifyStep(requestRefund);

/** Cancels a refund that is held: the payment is `paid` again. */
export async function cancelRefund(dependencies: ActivityDependencies, request: StepInput): Promise<StepResult> {
  return toStepResult(await transitionWriters.cancel_refund(dependencies, toRefundInput(request)));
}
cancelRefund.checked = verifyStep(cancelRefund);

/** Records that the refund goes to the provider, before the first request to the provider. */
export async function submitRefund(dependencies: ActivityDependencies, request: VerifiedStep): Promise<StepResult> {
  // In recovery mode: to record a refund that the provider already has moves no money.
  if ((await dependencies.isRecovering()) && !(await isAtProvider(dependencies, request)))
    return deferred(dependencies, request, { reason: RECOVERY_MODE });
  return toStepResult(await transitionWriters.submit_refund(dependencies, toRefundInput(request)));
}
submitRefund.checked = verifyStep(submitRefund);

async function isAtProvider(dependencies: ActivityDependencies, request: VerifiedStep): Promise<boolean> {
  const { status } = await fetchStatus(dependencies, request);
  return status === 'refunded' || status === 'pending';
}

/**
 * Executes a submitted refund. An indeterminate outcome is no error: the workflow repeats the step without limit. Only
 * a refund that is `submitted` in PostgreSQL goes to the provider. The workflow may be behind PostgreSQL, and the
 * merchant may have cancelled the refund.
 */
export async function refundPayment(dependencies: ActivityDependencies, request: VerifiedStep): Promise<StepResult> {
  const { terms, state } = request;
  const input = toRefundInput(request);
  const current = await readState(dependencies.db, terms.paymentId);
  if (current.version !== state.version || current.refund?.status !== 'submitted') return { state: current };
  const provider = await dependencies.providers.forAccount(terms.providerAccountId);
  const atProvider = {
    ...orderKeyOf(request),
    refundKey: refundKeyOf(terms.referenceId, input.refundNumber),
    totalRupiah: terms.totalRupiah,
    reason: 'requested by the merchant',
  };
  const requestedBy = await findRefundRequester(dependencies.db, terms.paymentId, input.refundNumber);
  const refund =
    requestedBy === 'provider'
      ? await followRefund(provider, atProvider)
      : await executeRefund(provider, atProvider, dependencies.isRecovering);
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
      return { state, attentionReason: `The refund is indeterminate at the provider: ${refund.reason}.` };
  }
}
refundPayment.checked = verifyStep(refundPayment);

/** The provider may have a refund of a paid payment that Lunas did not request. */
export async function syncPaidPayment(dependencies: ActivityDependencies, request: VerifiedStep): Promise<StepResult> {
  const { terms } = request;
  const latestNotificationId = await newestNotification(dependencies.db, terms);
  const refund = await fetchStatus(dependencies, request);
  switch (refund.status) {
    case 'refunded':
    case 'pending':
      return recordProviderRefund(dependencies, request, refund.refundKey);
    case 'indeterminate': {
      const attentionReason = `It is paid, and the provider's status is indeterminate: ${refund.reason}.`;
      return keepState(dependencies, request, { attentionReason });
    }
    case 'none':
      await closeNotifications(dependencies.db, terms, latestNotificationId, COVERED_BY.paid);
      return keepState(dependencies, request);
  }
}
syncPaidPayment.checked = verifyStep(syncPaidPayment);

/** The provider may have executed a refund that is recorded as rejected. */
export async function syncFailedRefund(dependencies: ActivityDependencies, request: VerifiedStep): Promise<StepResult> {
  const { terms } = request;
  const latestNotificationId = await newestNotification(dependencies.db, terms);
  const refund = await fetchStatus(dependencies, request);
  switch (refund.status) {
    case 'refunded':
      return recordFailedRefundConfirmed(dependencies, request, refund);
    case 'pending': {
      const attentionReason = 'The provider rejected the refund, but has one in flight.';
      return keepState(dependencies, request, { attentionReason });
    }
    case 'indeterminate': {
      const attentionReason = `The provider rejected the refund, and its status is indeterminate: ${refund.reason}.`;
      return keepState(dependencies, request, { attentionReason });
    }
    case 'none':
      await closeNotifications(dependencies.db, terms, latestNotificationId, COVERED_BY.paid);
      return keepState(dependencies, request);
  }
}
syncFailedRefund.checked = verifyStep(syncFailedRefund);

/** An operator retries a rejected refund. A refund that the provider confirms after all is recorded instead. */
export async function retryRefund(dependencies: ActivityDependencies, request: VerifiedStep): Promise<StepResult> {
  const refund = await fetchStatus(dependencies, request);
  switch (refund.status) {
    case 'refunded':
      return recordFailedRefundConfirmed(dependencies, request, refund);
    case 'indeterminate':
      return { state: request.state, rejection: `The provider's status is indeterminate: ${refund.reason}.` };
    case 'pending':
    case 'none': {
      const input = {
        ...toTransitionInput(request),
        ...nextRefund(request),
        holdSeconds: 0,
        requestedBy: 'lunas' as const,
      };
      return toStepResult(await transitionWriters.retry_refund(dependencies, input));
    }
  }
}
retryRefund.checked = verifyStep(retryRefund);

/** An operator states that the customer has the money, by any way. */
export async function resolveRefundAsRefunded(
  dependencies: ActivityDependencies,
  request: StepInput,
): Promise<StepResult> {
  return permitted(request, async () =>
    toStepResult(await transitionWriters.resolve_refund_as_refunded(dependencies, toRefundInput(request))),
  );
}
resolveRefundAsRefunded.checked = verifyStep(resolveRefundAsRefunded);

/**
 * An operator abandons a rejected refund. Only if the provider shows none: else customer and merchant get the money.
 */
export async function resolveRefundAsPaid(
  dependencies: ActivityDependencies,
  request: VerifiedStep,
): Promise<StepResult> {
  const { state } = request;
  const refund = await fetchStatus(dependencies, request);
  switch (refund.status) {
    case 'none':
      return permitted(request, async () =>
        toStepResult(await transitionWriters.resolve_refund_as_paid(dependencies, toTransitionInput(request))),
      );
    case 'indeterminate':
      return { state, rejection: `The provider's status is indeterminate: ${refund.reason}.` };
    case 'refunded':
    case 'pending':
      return { state, rejection: 'The provider shows a refund, so it is not paid: resolve it as refunded.' };
  }
}
resolveRefundAsPaid.checked = verifyStep(resolveRefundAsPaid);

/** The provider confirmed the refund that is recorded as rejected, or a retry of it that PostgreSQL has lost. */
async function recordFailedRefundConfirmed(
  context: TransitionContext,
  request: StepInput,
  { refundKey, providerReference }: Extract<ProviderRefundStatus, { readonly status: 'refunded' }>,
): Promise<StepResult> {
  const input = { ...toRefundInput(request), providerReference };
  const isLostRetry = refundNumberOfKey(request.terms.referenceId, refundKey) > input.refundNumber;
  if (isLostRetry) return recordProviderRefund(context, request, refundKey);
  return toStepResult(await transitionWriters.confirm_failed_refund(context, input));
}

async function fetchStatus({ providers }: ActivityDependencies, request: VerifiedStep): Promise<ProviderRefundStatus> {
  return fetchRefundStatus(
    await providers.forAccount(request.terms.providerAccountId),
    orderKeyOf(request),
    request.terms.totalRupiah,
  );
}

function toRefundInput(request: VerifiedStep) {
  const { status, refund } = request.state;
  if (!refund) throw new Error(`A payment that is "${status}" has no refund here`);
  return { ...toTransitionInput(request), refundNumber: refund.number };
}
