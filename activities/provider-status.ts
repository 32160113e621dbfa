import { openException } from '../src/db/operations/open-exception';
import { isAmountChangeKnown, stopProviderAccount } from '../src/db/operations/stop-provider-account';
import { countContradictedPayments, scheduleStatusQuery } from '../src/db/payments/notification-inbox';
import type { TransitionContext } from '../src/db/transitions/apply-transition';
import { transitionWriters } from '../src/db/transitions/payment-transitions';
import { lateRefundKeyOf } from '../src/domain/late-payment';
import { formatRupiah } from '../src/domain/money';
import { expiryOf } from '../src/domain/payment';
import { isFinal } from '../src/domain/payment-transitions';
import type { StepInput, StepResult } from '../src/domain/workflow-step';
import type { OrderKey, Provider, ProviderPayment } from '../src/providers/provider';
import { changedAmount } from '../src/providers/validate-qris';
import { indeterminateError } from './errors';
import { providerDeadline } from './provider-deadline';
import { classifyProviderRefund, recordProviderRefund } from './provider-refund';
import { keepState, toStepResult, toTransitionInput } from './step-result';
import type { VerifiedStep, VerifiedTerms } from './verify-terms';

export function orderKeyOf({ terms, issuedTransactionId }: VerifiedTerms): OrderKey {
  const { referenceId, totalRupiah } = terms;
  return { referenceId, issued: issuedTransactionId ? { transactionId: issuedTransactionId, totalRupiah } : null };
}

/**
 * The order of a payment at the provider; undefined if the provider has none.
 * @throws if the outcome is indeterminate: Temporal retries the activity
 */
export async function findOrder(provider: Provider, order: VerifiedTerms): Promise<ProviderPayment | undefined> {
  const found = await provider.findPayment(orderKeyOf(order), providerDeadline());
  if (found.outcome === 'indeterminate') throw indeterminateError(found);
  return found.outcome === 'found' ? found.payment : undefined;
}

/**
 * Records the provider's status of a pending payment. Only this makes a pending payment `paid`, `expired` or `failed`.
 * A status that fits no rule needs attention.
 */
export async function applyProviderStatus(
  context: TransitionContext,
  request: VerifiedStep,
  providerPayment: ProviderPayment,
): Promise<StepResult> {
  const attentionReason =
    (await checkAmount(context, request, providerPayment)) ??
    (await checkTransaction(context, request, providerPayment));
  const input = toTransitionInput(request);
  switch (providerPayment.status) {
    case 'pending':
      await countContradictedPayments(context.db, request.terms);
      return keepState(context, request, { ...(attentionReason && { attentionReason }) });
    case 'paid':
    case 'refunded':
      // Another amount or transaction does not pay this payment. After the deadline the payment fails, and the money is
      // a late payment.
      if (attentionReason && isPastDeadline(request)) return failAndQueryAgain(context, request, attentionReason);
      if (attentionReason) return keepState(context, request, { attentionReason });
      if (providerPayment.refunds.some(({ refundKey }) => refundKey === lateRefundKeyOf(request.terms.referenceId))) {
        return failAndQueryAgain(context, request, 'it was paid and refunded after it was final');
      }
      return recordPaid(context, request, providerPayment);
    case 'expired':
      // The provider's clock may run ahead. The payment expires at the deadline that the merchant received.
      if (!isPastDeadline(request)) return keepState(context, request);
      return toStepResult(await transitionWriters.expire(context, input));
    case 'denied': {
      const reason = 'the provider denied the payment';
      return toStepResult(await transitionWriters.fail(context, { ...input, reason }));
    }
    case 'cancelled':
      return toStepResult(await transitionWriters.cancel(context, input));
  }
}

/**
 * Opens an exception if the order has another amount, and stops the account: each further order would be like it.
 * @returns the exception's text; undefined if the amounts match
 */
async function checkAmount(
  { db }: TransitionContext,
  { terms, createdAtMs }: StepInput,
  { status, totalRupiah }: ProviderPayment,
): Promise<string | undefined> {
  if (totalRupiah === terms.totalRupiah) return undefined;
  const amounts = `${formatRupiah(totalRupiah)} instead of ${formatRupiah(terms.totalRupiah)}`;
  const detail = `The provider has an order over ${amounts}.`;
  const isInUse = status === 'pending' || status === 'paid';
  if (isInUse && !(await isAmountChangeKnown(db, terms.providerAccountId, new Date(createdAtMs)))) {
    const changed = changedAmount('an order', totalRupiah, terms.totalRupiah);
    await stopProviderAccount(db, terms, { kind: changed.stopsAccount, reason: changed.reason });
  }
  const { referenceId, providerAccountId, paymentId } = terms;
  const order = { referenceId, providerAccountId, paymentId, amountRupiah: totalRupiah };
  await openException(db, { kind: 'wrong_amount', ...order, detail });
  return detail;
}

/**
 * Opens an exception if money came by another transaction than the one that the provider issued for the payment.
 * @returns the exception's text; undefined if the transactions match
 */
async function checkTransaction(
  { db }: TransitionContext,
  { terms, issuedTransactionId }: VerifiedStep,
  { status, providerTransactionId, totalRupiah }: ProviderPayment,
): Promise<string | undefined> {
  if (status !== 'paid' && status !== 'refunded') return undefined;
  if (!issuedTransactionId || issuedTransactionId === providerTransactionId) return undefined;
  const detail = `The provider has transaction ${providerTransactionId} instead of ${issuedTransactionId}.`;
  const { referenceId, providerAccountId, paymentId } = terms;
  const order = { referenceId, providerAccountId, paymentId, amountRupiah: totalRupiah };
  await openException(db, { kind: 'paid_twice', ...order, detail });
  return detail;
}

/**
 * Fails a pending payment whose order is paid: the money is a late payment. The request for a status query is written
 * first. So if the worker stops between the two statements, the order is queried again.
 */
export async function failAndQueryAgain(
  context: TransitionContext,
  request: StepInput,
  reason: string,
): Promise<StepResult> {
  await requestLatePaymentQuery(context, request);
  return toStepResult(await transitionWriters.fail(context, { ...toTransitionInput(request), reason }));
}

/** A refund that the provider already has is opened in the same step, so that no settlement comes between the two. */
async function recordPaid(
  context: TransitionContext,
  request: StepInput,
  providerPayment: ProviderPayment,
): Promise<StepResult> {
  const input = toTransitionInput(request);
  const paid = await transitionWriters.pay(context, { ...input, paidAt: providerPayment.paidAt ?? input.at });
  if (paid.outcome === 'superseded') {
    // Another final status was recorded first: the money is a late payment.
    if (isFinal(paid.state.status)) await requestLatePaymentQuery(context, request);
    return toStepResult(paid);
  }
  const refund = classifyProviderRefund(request.terms.totalRupiah, { outcome: 'found', payment: providerPayment });
  switch (refund.status) {
    case 'none':
      return toStepResult(paid);
    case 'indeterminate':
      return {
        state: paid.state,
        attentionReason: `It is paid, and the provider's status is indeterminate: ${refund.reason}.`,
      };
    case 'refunded':
    case 'pending':
      return recordProviderRefund(context, { ...request, state: paid.state }, refund.refundKey);
  }
}

export function requestLatePaymentQuery(
  { db }: Pick<TransitionContext, 'db'>,
  { terms }: Pick<StepInput, 'terms'>,
): Promise<void> {
  return scheduleStatusQuery(db, { accountId: terms.providerAccountId, referenceId: terms.referenceId });
}

function isPastDeadline({ terms, atMs, createdAtMs }: StepInput): boolean {
  return atMs >= expiryOf(createdAtMs, terms);
}
