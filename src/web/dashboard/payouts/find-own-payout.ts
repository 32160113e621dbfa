import { NotFoundError } from '../../../errors';
import { getPayout, type PayoutDetails } from '../../../services/payouts/payouts';
import { PageError } from '../../page/page-error';
import type { MemberVisit } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';

/**
 * The payout of the path.
 * @throws PageError `not_found`, also for a payout of another merchant
 */
export async function findOwnPayout(
  { db }: Pick<DashboardDependencies, 'db'>,
  { request, member }: Pick<MemberVisit, 'request' | 'member'>,
): Promise<PayoutDetails> {
  const reference = String(request.params.ref);
  if (!/^[\w-]{1,36}$/.test(reference)) throw new PageError('not_found', 'the path has no reference of a payout');
  return getPayout(db, member.merchantId, reference).catch((error: unknown) => {
    throw error instanceof NotFoundError ? new PageError('not_found', error.message) : error;
  });
}
