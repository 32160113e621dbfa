import { z } from 'zod';
import { listNewestBalanceTransactions } from '../../../db/ledger/balance-transactions';
import { getBalance } from '../../../db/ledger/get-balance';
import { monthInWib } from '../../../domain/wib';
import { listBalanceDays } from '../../../services/payouts/balance';
import { memberPage } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantView, pageResponse } from '../merchant-view';
import { findWhyNot } from '../payouts/why-not';
import { renderBalancePage } from './balance-page';
import { balancePath } from './balance-paths';

const NEWEST_LINES = 20;

/** `2026-11`. What is no month shows the current one. */
const monthSchema = z.object({
  month: z
    .string()
    .regex(/^20\d{2}-(0[1-9]|1[0-2])$/)
    .optional()
    .catch(undefined),
});

/** The balance now, its newest changes, and the days of a month. */
export const showBalance = memberPage(
  { area: 'balance', level: 'view' },
  {
    method: 'get',
    path: balancePath.pattern,
    fields: monthSchema,
    async handler({ db, environment }: Pick<DashboardDependencies, 'db' | 'environment'>, visit, query) {
      const { merchantId } = visit.member;
      const currentMonth = monthInWib(visit.now);
      const chosen = (query.ok ? query.values.month : undefined) ?? currentMonth;
      const month = chosen > currentMonth ? currentMonth : chosen;
      const view = merchantView({ environment }, visit);
      const [balance, newest, days, whyNot] = await Promise.all([
        getBalance(db, merchantId),
        listNewestBalanceTransactions(db, merchantId, NEWEST_LINES),
        listBalanceDays(db, merchantId, month),
        findWhyNot({ db }, visit, view),
      ]);
      const neighbours = {
        earlierMonth: monthBeside(month, -1),
        laterMonth: month < currentMonth ? monthBeside(month, 1) : null,
      };
      return pageResponse(renderBalancePage({ view, whyNot, ...balance, newest, month, days, ...neighbours }));
    },
  },
);

function monthBeside(month: string, difference: 1 | -1): string {
  const first = new Date(`${month}-01T00:00:00Z`);
  first.setUTCMonth(first.getUTCMonth() + difference);
  return first.toISOString().slice(0, 'YYYY-MM'.length);
}
