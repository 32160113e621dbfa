import { openExceptionOnce } from '../src/db/operations/open-exception';
import { findFinalPayment, findLatePaymentAmount, type FinalPayment } from '../src/db/payments/find-final-payment';
import { closeNotifications, newestNotification } from '../src/db/payments/notification-inbox';
import * as latePayments from '../src/db/transitions/late-payment-transitions';
import { lateRefundKeyOf, type LatePaymentRequest, type LatePaymentResult } from '../src/domain/late-payment';
import { formatRupiah } from '../src/domain/money';
import { PROVIDER_CAPABILITIES } from '../src/domain/provider-capabilities';
import { COVERED_BY } from '../src/domain/provider-status';
import type { ProviderPayment } from '../src/providers/provider';
import type { ActivityDependencies } from './dependencies';
import { executeRefund } from './provider-refund';
import { findOrder, orderKeyOf } from './provider-status';
import { verifyTerms, type VerifiedTerms } from './verify-terms';

/**
 * Queries the provider about a final payment. Money that it received goes to suspense; what contradicts our records
 * opens an exception. The notifications that the order's status covers are closed; without an order, none is.
 */
export async function recordLatePayment(
  dependencies: ActivityDependencies,
  request: LatePaymentRequest & VerifiedTerms,
): Promise<LatePaymentResult> {
  const { db, providers } = dependencies;
  const { terms } = request;
  const final = await findFinalPayment(db, terms.paymentId);
  // The workflow of an open payment queries the provider, and closes the notification.
  if (!final) return { status: 'none' };
  const latestNotificationId = await newestNotification(db, terms);
  const provider = await providers.forAccount(terms.providerAccountId);
  const order = await findOrder(provider, request);
  if (order) await recordOrder(dependencies, request, final, order);
  await closeNotifications(db, terms, latestNotificationId, order ? COVERED_BY[order.status] : []);
  return readStatus(dependencies, request);
}
recordLatePayment.checked = verifyTerms(recordLatePayment);

async function recordOrder(
  { db }: ActivityDependencies,
  { terms, atMs }: LatePaymentRequest,
  final: FinalPayment,
  order: ProviderPayment,
): Promise<void> {
  const { status, refunds, totalRupiah, providerTransactionId } = order;
  if (status !== 'paid' && status !== 'refunded') return;
  const { referenceId, providerAccountId, paymentId } = terms;
  const found = { referenceId, providerAccountId, paymentId, amountRupiah: totalRupiah };
  const open = (kind: 'paid_twice' | 'refunded_after_settlement' | 'refunded_twice', detail: string) =>
    openExceptionOnce(db, { kind, ...found, detail });
  const paidTwice = () =>
    open('paid_twice', `The provider has transaction ${providerTransactionId} besides the one that is recorded.`);
  if (final.wasPaid && final.providerTransactionId !== providerTransactionId) return paidTwice();
  if (final.status === 'settled' && refunds.length > 0) {
    return open('refunded_after_settlement', 'The provider refunded the customer after the merchant was paid.');
  }
  if (final.isManuallyRefunded && refunds.length > 0) {
    return open('refunded_twice', 'The provider refunded the customer, whom operators had refunded by other means.');
  }
  if (final.wasPaid) return;
  const at = new Date(atMs);
  const receipt = { totalRupiah, providerTransactionId, paidAt: order.paidAt ?? at };
  const recorded = await latePayments.recordLatePayment(db, terms, receipt, at);
  if (recorded !== undefined && recorded !== providerTransactionId) return paidTwice();
  if (status !== 'refunded') return;
  const reference = refunds.findLast((refund) => refund.confirmedAt !== null)?.providerReference ?? null;
  await latePayments.refundLatePayment(db, paymentId, at, reference);
}

/** Refunds a late payment once. If the provider cannot or rejects it, the late payment requires manual review. */
export async function refundLatePayment(
  dependencies: ActivityDependencies,
  request: LatePaymentRequest & VerifiedTerms,
): Promise<LatePaymentResult> {
  const { db, providers, isRecovering } = dependencies;
  const { paymentId, referenceId, provider, providerAccountId, totalRupiah } = request.terms;
  const at = new Date(request.atMs);
  const requireManualReview = async (reason: string): Promise<LatePaymentResult> => {
    await latePayments.requireManualReview(db, paymentId, at, reason);
    return readStatus(dependencies, request);
  };

  const receivedRupiah = await findLatePaymentAmount(db, paymentId);
  if (!PROVIDER_CAPABILITIES[provider].refund) return requireManualReview(`${provider} has no refund`);
  if (receivedRupiah !== totalRupiah) {
    return requireManualReview(`it is ${formatRupiah(receivedRupiah)} instead of ${formatRupiah(totalRupiah)}`);
  }
  if (!(await isRecovering())) await latePayments.submitLateRefund(db, paymentId, at);
  const reason = 'paid after the payment had ended';
  const refund = await executeRefund(
    await providers.forAccount(providerAccountId),
    { ...orderKeyOf(request), refundKey: lateRefundKeyOf(referenceId), totalRupiah, reason },
    isRecovering,
  );
  switch (refund.status) {
    case 'refunded':
      await latePayments.refundLatePayment(db, paymentId, at, refund.providerReference);
      return readStatus(dependencies, request);
    case 'rejected':
      return requireManualReview(`the provider rejected the refund (${refund.reason})`);
    case 'pending':
      return readStatus(dependencies, request);
    case 'indeterminate': {
      const attentionReason = `The refund is indeterminate at the provider: ${refund.reason}.`;
      return { ...(await readStatus(dependencies, request)), attentionReason };
    }
  }
}
refundLatePayment.checked = verifyTerms(refundLatePayment);

async function readStatus(
  { db }: ActivityDependencies,
  { terms }: LatePaymentRequest,
): Promise<Pick<LatePaymentResult, 'status'>> {
  return { status: (await latePayments.readLatePayment(db, terms.paymentId)) ?? 'none' };
}
