import type { FeeInvoice } from '../../../domain/fee-invoice';
import { findInvoice } from '../../../services/invoices/fee-invoices';
import { PageError } from '../../page/page-error';
import type { MemberVisit } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { invoicePath } from './invoice-paths';

/**
 * The invoice of the path, if it is one of the member's merchant.
 * @throws PageError `not_found`
 */
export async function findOwnInvoice(
  { db }: Pick<DashboardDependencies, 'db'>,
  { request, member }: MemberVisit,
): Promise<FeeInvoice> {
  const { number } = invoicePath.read(request.params);
  const invoice = await findInvoice(db, member.merchantId, number);
  if (!invoice) throw new PageError('not_found', 'the merchant has no such invoice');
  return invoice;
}
