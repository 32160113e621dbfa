import type { PaymentStep, StepResult } from '../src/domain/payment-step';
import { lateRefundKeyOf } from '../src/domain/late-payment';
import { formatRupiah } from '../src/domain/money';
import { expiryOf } from '../src/domain/payment';
import { isFinal } from '../src/domain/payment-transitions';
import { openException } from '../src/db/exceptions';
import { noteNews } from '../src/db/notifications';
import type { TransitionContext } from '../src/db/transitions/apply-transition';
import { cancelPayment } from '../src/db/transitions/cancel-payment';
import { denyPayment } from '../src/db/transitions/deny-payment';
import { expirePayment } from '../src/db/transitions/expire-payment';
import { payPayment } from '../src/db/transitions/pay-payment';
import type { ProviderPayment } from '../src/providers/provider';
import { recordProviderRefund } from './provider-refund';
import { judgeRefund } from './refund-verdict';
import { resultOf, stepOf, unchanged } from './steps';

/**
 * Records what the provider says of a pending payment. Only this makes a payment `paid`, `expired` or `failed` while
 * it waits for its customer; what does not fit is left for a person to look at.
 */
export async function applyProviderStatus(
  context: TransitionContext,
  request: PaymentStep,
  said: ProviderPayment,
): Promise<StepResult> {
  const attention = await otherAmount(context, request, said);
  const step = stepOf(request);
  switch (said.status) {
    case 'pending':
      return unchanged(context, request, { ...(attention && { attention }) });
    case 'paid':
    case 'refunded':
      if (attention) return keepOtherAmount(context, request, attention);
      if (said.refunds.some(({ refundKey }) => refundKey === lateRefundKeyOf(request.terms.referenceId))) {
        return failAndQueryAgain(context, request, 'it was paid and refunded after its end');
      }
      return recordPaid(context, request, said);
    case 'expired':
      // Its clock may run ahead of ours: expiry is ours to begin, at the deadline that the merchant knows.
      if (!isPastDeadline(request)) return unchanged(context, request);
      return resultOf(await expirePayment(context, step));
    case 'denied':
      return resultOf(await denyPayment(context, step, 'the provider denied the payment'));
    case 'cancelled':
      return resultOf(await cancelPayment(context, step));
  }
}

/** Opens an exception if the provider has the order over another amount. Returns it in words; undefined if all is well. */
async function otherAmount(
  { db }: TransitionContext,
  { terms }: PaymentStep,
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
async function keepOtherAmount(
  context: TransitionContext,
  request: PaymentStep,
  attention: string,
): Promise<StepResult> {
  return isPastDeadline(request)
    ? failAndQueryAgain(context, request, attention)
    : unchanged(context, request, { attention });
}

/**
 * Ends a pending payment whose order the provider has as paid: the money is a late payment. The note comes first, so that
 * a crash in between leaves a payment that asks again.
 */
export async function failAndQueryAgain(
  context: TransitionContext,
  request: PaymentStep,
  reason: string,
): Promise<StepResult> {
  await noteLatePayment(context, request);
  return resultOf(await denyPayment(context, stepOf(request), reason));
}

/** The customer paid. A refund that the provider has already is opened in the same step: no settlement comes in between. */
async function recordPaid(
  context: TransitionContext,
  request: PaymentStep,
  said: ProviderPayment,
): Promise<StepResult> {
  const step = stepOf(request);
  const paid = await payPayment(context, step, said.paidAt ?? step.at);
  if (paid.outcome === 'superseded') {
    // The end was recorded before the money was: the money is late.
    if (isFinal(paid.state.status)) await noteLatePayment(context, request);
    return resultOf(paid);
  }
  const refund = judgeRefund(request.terms.totalRupiah, { outcome: 'found', payment: said });
  switch (refund.verdict) {
    case 'none':
      return resultOf(paid);
    case 'unclear':
      return { state: paid.state, attention: `It is paid, and the provider is unclear now: ${refund.reason}.` };
    case 'refunded':
    case 'under_way':
      return recordProviderRefund(context, { ...request, state: paid.state }, refund.refundKey);
  }
}

function noteLatePayment({ db }: TransitionContext, { terms }: PaymentStep): Promise<void> {
  return noteNews(db, { accountId: terms.providerAccountId, referenceId: terms.referenceId });
}

function isPastDeadline({ terms, atMs, createdAtMs }: PaymentStep): boolean {
  return atMs >= expiryOf(createdAtMs, terms);
}
