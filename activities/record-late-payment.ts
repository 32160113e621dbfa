import { COVERED_BY } from '../src/domain/provider-status';
import type { LatePaymentRequest, LatePaymentResult } from '../src/domain/late-payment';
import { openExceptionOnce } from '../src/db/exceptions';
import { closeNotifications, newestNotification } from '../src/db/notification-inbox';
import { findFinalPayment, type FinalPayment } from '../src/db/queries/find-final-payment';
import {
  readLatePayment,
  recordLatePayment as recordReceived,
  refundLatePayment,
} from '../src/db/transitions/late-payment';
import type { ProviderPayment } from '../src/providers/provider';
import type { ActivityDependencies } from './dependencies';
import { providerDeadline, indeterminateError } from './provider-deadline';

/**
 * There is news of a payment that has ended. Money that came all the same goes into suspense; what does not fit what we know
 * is a case for a person. The news is done with if the provider's status covers it; an order that it does not know covers none.
 */
export async function recordLatePayment(
  dependencies: ActivityDependencies,
  request: LatePaymentRequest,
): Promise<LatePaymentResult> {
  const { db, providers } = dependencies;
  const { terms } = request;
  const closed = await findFinalPayment(db, terms.paymentId);
  // Its own workflow asks the provider, and closes the news.
  if (!closed) return { status: 'none' };
  const latestNotificationId = await newestNotification(db, terms);
  const provider = await providers.forAccount(terms.providerAccountId);
  const found = await provider.findPayment(terms.referenceId, providerDeadline());
  if (found.outcome === 'indeterminate') throw indeterminateError(found);
  if (found.outcome === 'found') await classify(dependencies, request, closed, found.payment);
  const covered = found.outcome === 'found' ? COVERED_BY[found.payment.status] : [];
  await closeNotifications(db, terms, latestNotificationId, covered);
  return { status: (await readLatePayment(db, terms.paymentId)) ?? 'none' };
}

async function classify(
  { db }: ActivityDependencies,
  { terms, atMs }: LatePaymentRequest,
  closed: FinalPayment,
  providerPayment: ProviderPayment,
): Promise<void> {
  const { status, refunds, totalRupiah, providerTransactionId } = providerPayment;
  if (status !== 'paid' && status !== 'refunded') return;
  const open = (kind: 'paid_twice' | 'refunded_after_settlement', detail: string) =>
    openExceptionOnce(db, {
      kind,
      detail,
      referenceId: terms.referenceId,
      providerAccountId: terms.providerAccountId,
      paymentId: terms.paymentId,
      amountRupiah: totalRupiah,
    });
  const paidTwice = () =>
    open('paid_twice', `The provider has transaction ${providerTransactionId} besides the one that is recorded.`);
  if (closed.wasPaid && closed.providerTransactionId !== providerTransactionId) return paidTwice();
  if (closed.status === 'settled' && refunds.length > 0) {
    return open('refunded_after_settlement', 'The provider refunded the customer after the merchant was paid.');
  }
  if (closed.wasPaid) return;
  const at = new Date(atMs);
  const money = { totalRupiah, providerTransactionId, paidAt: providerPayment.paidAt ?? at };
  const recorded = await recordReceived(db, terms, money, at);
  if (recorded !== undefined && recorded !== providerTransactionId) return paidTwice();
  if (status !== 'refunded') return;
  const reference = refunds.findLast((refund) => refund.confirmedAt !== null)?.providerReference ?? null;
  await refundLatePayment(db, terms.paymentId, at, reference);
}
