import type { StepInput, StepResult } from '../src/domain/workflow-step';
import { lateRefundKeyOf } from '../src/domain/late-payment';
import { formatRupiah } from '../src/domain/money';
import { expiryOf } from '../src/domain/payment';
import { isFinal } from '../src/domain/payment-transitions';
import { openException } from '../src/db/exceptions';
import { requestStatusQuery } from '../src/db/notification-inbox';
import type { TransitionContext } from '../src/db/transitions/apply-transition';
import { transitionWriters } from '../src/db/transitions/payment-transitions';
import type { ProviderPayment } from '../src/providers/provider';
import { recordProviderRefund } from './provider-refund';
import { classifyProviderRefund } from './provider-refund-status';
import { toStepResult, toTransitionInput, unchanged } from './transition-input';

/**
 * Records what the provider says of a pending payment. Only this makes a payment `paid`, `expired` or `failed` while
 * it waits for its customer; what does not fit is left for a person to look at.
 */
export async function applyProviderStatus(
  context: TransitionContext,
  request: StepInput,
  providerPayment: ProviderPayment,
): Promise<StepResult> {
  const attentionReason = await otherAmount(context, request, providerPayment);
  const step = toTransitionInput(request);
  switch (providerPayment.status) {
    case 'pending':
      return unchanged(context, request, { ...(attentionReason && { attentionReason }) });
    case 'paid':
    case 'refunded':
      if (attentionReason) return handleOtherAmount(context, request, attentionReason);
      if (providerPayment.refunds.some(({ refundKey }) => refundKey === lateRefundKeyOf(request.terms.referenceId))) {
        return failAndQueryAgain(context, request, 'it was paid and refunded after its end');
      }
      return recordPaid(context, request, providerPayment);
    case 'expired':
      // Its clock may run ahead of ours: expiry is ours to begin, at the deadline that the merchant knows.
      if (!isPastDeadline(request)) return unchanged(context, request);
      return toStepResult(await transitionWriters.expire(context, step));
    case 'denied':
      return toStepResult(
        await transitionWriters.fail(context, { ...step, reason: 'the provider denied the payment' }),
      );
    case 'cancelled':
      return toStepResult(await transitionWriters.cancel(context, step));
  }
}

/** Opens an exception if the provider has the order over another amount. Returns it in words; undefined if all is well. */
async function otherAmount(
  { db }: TransitionContext,
  { terms }: StepInput,
  { totalRupiah }: ProviderPayment,
): Promise<string | undefined> {
  if (totalRupiah === terms.totalRupiah) return undefined;
  const amounts = `${formatRupiah(totalRupiah)} instead of ${formatRupiah(terms.totalRupiah)}`;
  const detail = `The provider has an order over ${amounts}.`;
  await openException(db, {
    kind: 'wrong_amount',
    referenceId: terms.referenceId,
    providerAccountId: terms.providerAccountId,
    paymentId: terms.paymentId,
    amountRupiah: totalRupiah,
    detail,
  });
  return detail;
}

/** Another amount is not this payment. After the deadline the payment fails, and the money is a late payment. */
async function handleOtherAmount(
  context: TransitionContext,
  request: StepInput,
  attentionReason: string,
): Promise<StepResult> {
  return isPastDeadline(request)
    ? failAndQueryAgain(context, request, attentionReason)
    : unchanged(context, request, { attentionReason });
}

/**
 * Ends a pending payment whose order the provider has as paid: the money is a late payment. The note comes first, so that
 * a crash in between leaves a payment that asks again.
 */
export async function failAndQueryAgain(
  context: TransitionContext,
  request: StepInput,
  reason: string,
): Promise<StepResult> {
  await requestLatePaymentQuery(context, request);
  return toStepResult(await transitionWriters.fail(context, { ...toTransitionInput(request), reason }));
}

/** The customer paid. A refund that the provider has already is opened in the same step: no settlement comes in between. */
async function recordPaid(
  context: TransitionContext,
  request: StepInput,
  providerPayment: ProviderPayment,
): Promise<StepResult> {
  const step = toTransitionInput(request);
  const paid = await transitionWriters.pay(context, { ...step, paidAt: providerPayment.paidAt ?? step.at });
  if (paid.outcome === 'superseded') {
    // The end was recorded before the money was: the money is late.
    if (isFinal(paid.state.status)) await requestLatePaymentQuery(context, request);
    return toStepResult(paid);
  }
  const refund = classifyProviderRefund(request.terms.totalRupiah, { outcome: 'found', payment: providerPayment });
  switch (refund.status) {
    case 'none':
      return toStepResult(paid);
    case 'indeterminate':
      return { state: paid.state, attentionReason: `It is paid, and the provider is unclear now: ${refund.reason}.` };
    case 'refunded':
    case 'pending':
      return recordProviderRefund(context, { ...request, state: paid.state }, refund.refundKey);
  }
}

function requestLatePaymentQuery({ db }: TransitionContext, { terms }: StepInput): Promise<void> {
  return requestStatusQuery(db, { accountId: terms.providerAccountId, referenceId: terms.referenceId });
}

function isPastDeadline({ terms, atMs, createdAtMs }: StepInput): boolean {
  return atMs >= expiryOf(createdAtMs, terms);
}
