import { z } from 'zod';
import { findProposalRejection, listBankAccounts } from '../../../services/payouts/bank-accounts';
import { memberPage, type MemberVisit } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantRejection, merchantView, pageResponse, type MerchantView } from '../merchant-view';
import { actingUser } from '../user-identity';
import { renderBankAccountPage } from './bank-account-page';
import { BANK_ACCOUNT_DONE_CODES, BANK_ACCOUNT_TEXTS } from './bank-account-texts';

/** The account in use, the proposal, and the earlier ones; none with its number. */
export const showBankAccountPage = memberPage(
  { area: 'bank_account', level: 'view' },
  {
    method: 'get',
    path: '/m/:code/bank-account',
    fields: z.object({ done: z.enum(BANK_ACCOUNT_DONE_CODES).optional().catch(undefined) }),
    async handler(dependencies: Pick<DashboardDependencies, 'db' | 'environment' | 'sealer'>, visit, query) {
      const view = merchantView(dependencies, visit);
      const [accounts, rejection] = await Promise.all([
        listBankAccounts(dependencies, visit.member.merchantId),
        addRejection(dependencies, view, visit),
      ]);
      const done = query.ok ? query.values.done : undefined;
      return pageResponse(renderBankAccountPage({ view, accounts, rejection, done }));
    },
  },
);

/** Why the user cannot add an account, in words; null: they can. The form and its POST have the same reason. */
export async function addRejection(
  { db }: Pick<DashboardDependencies, 'db'>,
  view: MerchantView,
  visit: MemberVisit,
): Promise<string | null> {
  const right = view.rightRejection('bank_account', 'manage') ?? merchantRejection(view);
  if (right !== null) return right;
  const code = await findProposalRejection(db, actingUser(visit));
  return code === null ? null : BANK_ACCOUNT_TEXTS[view.locale.language].rejections[code];
}
