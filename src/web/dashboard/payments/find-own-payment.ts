import type { PaymentRow } from '../../../db/payments/payment-row';
import { findPayment, lookUpPayment } from '../../../services/payments/find-payment';
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
  return findPayment(db, member, paymentPagePath.read(request.params).ref).catch(orNoPage);
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
  const found = await lookUpPayment(db, member, paymentPagePath.read(request.params).ref);
  switch (found.outcome) {
    case 'found':
      return found.payment;
    case 'archived': {
      const { referenceId, archivedAt, file } = found.archived;
      return { referenceId, archivedAt, day: file.day };
    }
    case 'missing':
      throw new PageError('not_found', 'the merchant has no such payment');
  }
}
