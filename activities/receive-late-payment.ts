import { COVERED_BY } from '../src/domain/provider-status';
import type { LatePaymentRequest, LatePaymentResult } from '../src/domain/late-payment';
import { openExceptionOnce } from '../src/db/exceptions';
import { closeNotifications, newestNotification } from '../src/db/notifications';
import { findEndedPayment, type EndedPayment } from '../src/db/reads/find-ended-payment';
import {
  readLatePayment,
  receiveLatePayment as recordReceived,
  refundLatePayment,
} from '../src/db/transitions/late-payment';
import type { ProviderPayment } from '../src/providers/provider';
import type { ActivityDependencies } from './dependencies';
import { providerCall, unclear } from './provider-call';

/**
 * There is news of a payment that has ended. Money that came all the same goes into suspense; what does not fit what we know
 * is a case for a person. The news is done with if the provider's status covers it; an order that it does not know covers none.
 */
export async function receiveLatePayment(
  dependencies: ActivityDependencies,
  request: LatePaymentRequest,
): Promise<LatePaymentResult> {
  const { db, providers } = dependencies;
  const { terms } = request;
  const ended = await findEndedPayment(db, terms.paymentId);
  // Its own workflow asks the provider, and closes the news.
  if (!ended) return { status: 'none' };
  const heard = await newestNotification(db, terms);
  const provider = await providers.forAccount(terms.providerAccountId);
  const found = await provider.findPayment(terms.referenceId, providerCall());
  if (found.outcome === 'unclear') throw unclear(found);
  if (found.outcome === 'found') await judge(dependencies, request, ended, found.payment);
  const covered = found.outcome === 'found' ? COVERED_BY[found.payment.status] : [];
  await closeNotifications(db, terms, heard, covered);
  return { status: (await readLatePayment(db, terms.paymentId)) ?? 'none' };
}

async function judge(
  { db }: ActivityDependencies,
  { terms, atMs }: LatePaymentRequest,
  ended: EndedPayment,
  said: ProviderPayment,
): Promise<void> {
  const { status, refunds, totalRupiah, providerTransactionId } = said;
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
  if (ended.wasPaid && ended.providerTransactionId !== providerTransactionId) return paidTwice();
  if (ended.status === 'settled' && refunds.length > 0) {
    return open('refunded_after_settlement', 'The provider refunded the customer after the merchant was paid.');
  }
  if (ended.wasPaid) return;
  const at = new Date(atMs);
  const money = { totalRupiah, providerTransactionId, paidAt: said.paidAt ?? at };
  const recorded = await recordReceived(db, terms, money, at);
  if (recorded !== undefined && recorded !== providerTransactionId) return paidTwice();
  if (status !== 'refunded') return;
  const reference = refunds.findLast((refund) => refund.confirmedAt !== null)?.providerReference ?? null;
  await refundLatePayment(db, terms.paymentId, at, reference);
}
