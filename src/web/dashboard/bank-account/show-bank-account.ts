import { z } from 'zod';
import { addBankAccount } from '../../../services/payouts/add-bank-account';
import { listBankAccounts } from '../../../services/payouts/bank-accounts';
import { memberPage } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { memberText } from '../form-pages';
import { merchantView, pageResponse } from '../merchant-view';
import { memberActor } from '../user-identity';
import { renderBankAccountPage } from './bank-account-page';
import { bankAccountPath } from './bank-account-paths';
import { BANK_ACCOUNT_DONE_CODES } from './bank-account-texts';
import { addRejections } from './new-bank-account';

type ShowDependencies = Pick<DashboardDependencies, 'db' | 'environment' | 'log' | 'sealer' | 'workflows'>;

/** The account in use, the proposal, and the earlier ones; none with its number. */
export const showBankAccountPage = memberPage(
  { area: 'bank_account', level: 'view' },
  {
    method: 'get',
    path: bankAccountPath.pattern,
    fields: z.object({ done: z.enum(BANK_ACCOUNT_DONE_CODES).optional().catch(undefined) }),
    async handler(dependencies: ShowDependencies, visit, query) {
      const view = merchantView(dependencies, visit);
      const { merchantId } = visit.member;
      const [accounts, { rejection: reason }] = await Promise.all([
        listBankAccounts(dependencies, merchantId),
        addBankAccount.preview(dependencies, memberActor(visit), { merchant: merchantId }),
      ]);
      const rejection = reason && memberText(view, addRejections(view), reason);
      const done = query.ok ? query.values.done : undefined;
      return pageResponse(renderBankAccountPage({ view, accounts, rejection, done }));
    },
  },
);
