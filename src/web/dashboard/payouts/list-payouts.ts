import { z } from 'zod';
import { findProposedSettings } from '../../../db/payouts/payout-settings';
import { cutPage } from '../../../lib/cut-page';
import { listBankAccounts } from '../../../services/payouts/bank-accounts';
import { getPayoutSettings } from '../../../services/payouts/payout-settings';
import { listPayouts } from '../../../services/payouts/payouts';
import { memberPage } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantView, pageResponse } from '../merchant-view';
import { renderPayoutListPage } from './list-page';
import { cursorAfter, payoutFilter, payoutFilterSchema } from './payout-filter';
import { payoutsPath } from './payout-paths';
import { nextRunText } from './schedule-texts';
import { findWhyNot } from './why-not';

/** Each row has an account and up to two users to read. */
const PAGE_SIZE = 18;

/** The list: filters and position are in the address. */
export const listPayoutPage = memberPage(
  { area: 'payouts', level: 'view' },
  {
    method: 'get',
    path: payoutsPath.pattern,
    fields: z.intersection(payoutFilterSchema, z.object({ done: z.literal('saved').optional().catch(undefined) })),
    async handler(dependencies: Pick<DashboardDependencies, 'db' | 'environment' | 'sealer'>, visit, query) {
      const view = merchantView(dependencies, visit);
      const { db } = dependencies;
      const { merchantId } = visit.member;
      const [accounts, settings, proposed, whyNot, found] = await Promise.all([
        listBankAccounts(dependencies, merchantId),
        getPayoutSettings(db, merchantId),
        findProposedSettings(db, merchantId),
        findWhyNot(dependencies, visit, view),
        // One more than the page shows: if it exists, there is a next page.
        query.ok
          ? listPayouts(db, { ...payoutFilter(merchantId, query.values, view.locale.zone), limit: PAGE_SIZE + 1 })
          : [],
      ]);
      const { older, done, ...filters } = query.sent;
      const { shown, last } = cutPage(found, PAGE_SIZE);
      const page = {
        view,
        filters,
        errors: query.ok ? {} : query.errors,
        payouts: shown,
        nextRun: nextRunText(view.locale, settings, visit.now),
        whyNot,
        isSaved: done === 'saved',
        isProposed: proposed !== undefined,
        account: accounts.find(({ status }) => status === 'active' || status === 'suspended') ?? null,
        isFirstPage: older === undefined,
        older: last && cursorAfter(last),
      };
      return pageResponse(renderPayoutListPage(page), query.ok ? 200 : 422);
    },
  },
);
