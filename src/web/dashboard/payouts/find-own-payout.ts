import { getPayout, type PayoutDetails } from '../../../services/payouts/payouts';
import { orNoPage } from '../../page/page-error';
import type { MemberVisit } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { payoutPagePath } from './payout-paths';

/**
 * The payout of the path.
 * @throws PageError `not_found`, also for a payout of another merchant
 */
export async function findOwnPayout(
  { db }: Pick<DashboardDependencies, 'db'>,
  { request, member }: Pick<MemberVisit, 'request' | 'member'>,
): Promise<PayoutDetails> {
  return getPayout(db, member.merchantId, payoutPagePath.read(request.params).ref).catch(orNoPage);
}
