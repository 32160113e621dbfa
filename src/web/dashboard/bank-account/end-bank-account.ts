import { z } from 'zod';
import { BANK_ACCOUNT_TRANSITIONS, type BankAccountStatus } from '../../../domain/bank-account-transitions';
import { ConflictError, NotFoundError } from '../../../errors';
import type { EndpointResponse } from '../../../http/endpoint';
import { withUserAudit } from '../../../services/audit/user-audit';
import {
  disableBankAccount,
  findBankAccount,
  withdrawBankAccount,
  type BankAccount,
} from '../../../services/payouts/bank-accounts';
import { PageError } from '../../page/page-error';
import { memberPage, NO_FIELDS, redirectTo, type MemberVisit } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantView, pageResponse } from '../merchant-view';
import { actingUser, userIdentity } from '../user-identity';
import { renderEndBankAccountPage } from './end-bank-account-page';

const MANAGE = { area: 'bank_account', level: 'manage' } as const;

type EndDependencies = Pick<DashboardDependencies, 'db' | 'environment' | 'log' | 'sealer'>;

const ACTIONS = [
  { name: 'withdraw', done: 'withdrawn', perform: withdrawBankAccount },
  { name: 'disable', done: 'disabled', perform: disableBankAccount },
] as const;
type Action = (typeof ACTIONS)[number]['name'];

/** Withdraws a proposal or disables the account in use: also for a merchant that is suspended. */
export const endBankAccountPages = ACTIONS.flatMap(({ name, done, perform }) => {
  const route = { path: `/m/:code/bank-account/:account/${name}`, stepUp: true, fields: NO_FIELDS } as const;
  return [
    memberPage(MANAGE, {
      ...route,
      method: 'get',
      handler: async (dependencies: EndDependencies, visit) => confirmPage(dependencies, visit, name, 200),
    }),
    memberPage(MANAGE, {
      ...route,
      method: 'post',
      async handler(dependencies: EndDependencies, visit) {
        const { db } = dependencies;
        const { id } = await findAccountOfPath(dependencies, visit);
        const user = actingUser(visit);
        const action = { action: `bank_account.${name}`, target: id } as const;
        try {
          await withUserAudit(db, userIdentity(dependencies, visit), action, () => perform(db, user, id, visit.now));
        } catch (error) {
          if (!(error instanceof ConflictError)) throw error;
          return confirmPage(dependencies, visit, name, 409);
        }
        return redirectTo(`${merchantView(dependencies, visit).paths.bankAccount}?done=${done}`);
      },
    }),
  ];
});

async function confirmPage(
  dependencies: EndDependencies,
  visit: MemberVisit,
  action: Action,
  status: number,
): Promise<EndpointResponse> {
  const account = await findAccountOfPath(dependencies, visit);
  const from: readonly BankAccountStatus[] = BANK_ACCOUNT_TRANSITIONS[action].from;
  const view = merchantView(dependencies, visit);
  return pageResponse(
    renderEndBankAccountPage({ view, account, action, isPossible: from.includes(account.status) }),
    status,
  );
}

/** @throws PageError `not_found`, also for an account of another merchant */
async function findAccountOfPath(
  dependencies: EndDependencies,
  { request, member }: MemberVisit,
): Promise<BankAccount> {
  const id = z.uuid().safeParse(request.params.account).data;
  if (id === undefined) throw new PageError('not_found', 'the path has no id of a bank account');
  return findBankAccount(dependencies, id, member.merchantId).catch((error: unknown) => {
    throw error instanceof NotFoundError ? new PageError('not_found', error.message) : error;
  });
}
