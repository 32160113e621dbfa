import { parsePathId } from '../../../api/payments/path-id';
import { findMerchantPayment } from '../../../db/queries/find-payment';
import type { PaymentRow } from '../../../db/queries/payment-row';
import { logPayment } from '../../../temporal/log-payment';
import { PageError } from '../../page/page-error';
import type { MemberVisit } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';

/**
 * The payment of the path.
 * @throws PageError `not_found`, also for a payment of another merchant
 */
export async function findOwnPayment(
  { db }: Pick<DashboardDependencies, 'db'>,
  { request, member }: Pick<MemberVisit, 'request' | 'member'>,
): Promise<PaymentRow> {
  const key = parsePathId(String(request.params.ref));
  const payment = key && (await findMerchantPayment(db, member.merchantId, key));
  if (!payment) throw new PageError('not_found', 'the merchant has no such payment');
  logPayment(payment.id);
  return payment;
}
