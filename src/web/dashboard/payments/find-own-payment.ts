import { findArchivedPayment } from '../../../db/operations/archive';
import { findMerchantPayment } from '../../../db/payments/find-payment';
import type { PaymentRow } from '../../../db/payments/payment-row';
import { findPaymentIn } from '../../../services/payments/find-payment';
import { parsePathId } from '../../../services/payments/path-id';
import { logPayment } from '../../../temporal/log-payment';
import { orNoPage, PageError } from '../../page/page-error';
import type { MemberVisit } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { paymentPagePath } from './payment-paths';

/**
 * The payment of the path.
 * @throws PageError `not_found`, also for a payment of another merchant
 */
export async function findOwnPayment(
  { db }: Pick<DashboardDependencies, 'db'>,
  { request, member }: Pick<MemberVisit, 'request' | 'member'>,
): Promise<PaymentRow> {
  return findPaymentIn(db, member, paymentPagePath.read(request.params).ref).catch(orNoPage);
}

export interface ArchivedReference {
  readonly referenceId: string;
  readonly archivedAt: Date;
  /** When it was created: `YYYY-MM-DD`, UTC. */
  readonly day: string;
}

/**
 * Finds an own payment, or what stays of it in the archive.
 * @throws PageError `not_found`, also for a payment of another merchant
 */
export async function findPaymentOrArchived(
  { db }: Pick<DashboardDependencies, 'db'>,
  { request, member }: Pick<MemberVisit, 'request' | 'member'>,
): Promise<PaymentRow | ArchivedReference> {
  const key = parsePathId(paymentPagePath.read(request.params).ref);
  const payment = key && (await findMerchantPayment(db, member.merchantId, key));
  if (payment) {
    logPayment(payment.id);
    return payment;
  }
  const archived = key && (await findArchivedPayment(db, key));
  if (archived?.merchantId !== member.merchantId) throw new PageError('not_found', 'the merchant has no such payment');
  return { referenceId: archived.referenceId, archivedAt: archived.archivedAt, day: archived.file.day };
}
