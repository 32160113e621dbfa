import { listOwnPayments } from '../../../db/payments/own-payments';
import type { DashboardDependencies } from '../dashboard-dependencies';

/** The form offers these amounts of the newest payments that the user has created. */
const AMOUNTS = 4;
const PAYMENTS = 20;
const PERIOD_MS = 7 * 86_400_000;

interface LastAmountsOf {
  readonly merchantId: string;
  readonly userId: string;
  readonly now: Date;
}

/** The different amounts, the newest first. */
export async function findLastAmounts(
  { db }: Pick<DashboardDependencies, 'db'>,
  { merchantId, userId, now }: LastAmountsOf,
): Promise<readonly number[]> {
  const since = new Date(now.getTime() - PERIOD_MS);
  const payments = await listOwnPayments(db, { merchantId, userId, since }, PAYMENTS);
  return [...new Set(payments.map(({ amountRupiah }) => amountRupiah))].slice(0, AMOUNTS);
}
