import { z } from 'zod';
import { BANK_ACCOUNT_TRANSITIONS, type BankAccountStatus } from '../../../domain/bank-account-transitions';
import { ConflictError, NotFoundError } from '../../../errors';
import type { EndpointResponse } from '../../../http/endpoint';
import { withUserAudit } from '../../../services/audit/user-audit';
import {
  confirmBankAccount,
  disableBankAccount,
  findBankAccount,
  findConfirmationRejection,
  withdrawBankAccount,
  type BankAccount,
} from '../../../services/payouts/bank-accounts';
import { PageError } from '../../page/page-error';
import { memberPage, NO_FIELDS, redirectTo, type MemberVisit } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantRejection, merchantView, pageResponse, type MerchantView } from '../merchant-view';
import { actingUser, userIdentity } from '../user-identity';
import { renderBankAccountActionPage, type BankAccountAction } from './bank-account-action-page';
import { BANK_ACCOUNT_TEXTS } from './bank-account-texts';

const MANAGE = { area: 'bank_account', level: 'manage' } as const;

type ActionDependencies = Pick<DashboardDependencies, 'db' | 'environment' | 'log' | 'sealer'>;

const ACTIONS = [
  { name: 'confirm', done: 'confirmed', perform: confirmBankAccount },
  { name: 'withdraw', done: 'withdrawn', perform: withdrawBankAccount },
  { name: 'disable', done: 'disabled', perform: disableBankAccount },
] as const;

/** A second member confirms a proposal. Withdrawing it or disabling the account in use is possible also on hold. */
export const bankAccountActionPages = ACTIONS.flatMap(({ name, done, perform }) => {
  const route = { path: `/m/:code/bank-account/:account/${name}`, stepUp: true, fields: NO_FIELDS } as const;
  return [
    memberPage(MANAGE, {
      ...route,
      method: 'get',
      handler: async (dependencies: ActionDependencies, visit) => confirmPage(dependencies, visit, name, 200),
    }),
    memberPage(MANAGE, {
      ...route,
      method: 'post',
      async handler(dependencies: ActionDependencies, visit) {
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
  dependencies: ActionDependencies,
  visit: MemberVisit,
  action: BankAccountAction,
  status: number,
): Promise<EndpointResponse> {
  const account = await findAccountOfPath(dependencies, visit);
  const view = merchantView(dependencies, visit);
  const rejection = await rejectionOf(dependencies, view, visit, { action, account });
  return pageResponse(renderBankAccountActionPage({ view, account, action, rejection }), status);
}

/** Why the member cannot do it, in words; null: they can. */
async function rejectionOf(
  { db }: Pick<DashboardDependencies, 'db'>,
  view: MerchantView,
  visit: MemberVisit,
  { action, account }: { readonly action: BankAccountAction; readonly account: BankAccount },
): Promise<string | null> {
  const texts = BANK_ACCOUNT_TEXTS[view.locale.language];
  if (action !== 'confirm') {
    const from: readonly BankAccountStatus[] = BANK_ACCOUNT_TRANSITIONS[action].from;
    return from.includes(account.status) ? null : texts[action].rejection;
  }
  const rejection = await findConfirmationRejection(db, actingUser(visit), account);
  return merchantRejection(view) ?? (rejection && texts.confirm.rejections[rejection]);
}

/** @throws PageError `not_found`, also for an account of another merchant */
async function findAccountOfPath(
  dependencies: ActionDependencies,
  { request, member }: MemberVisit,
): Promise<BankAccount> {
  const id = z.uuid().safeParse(request.params.account).data;
  if (id === undefined) throw new PageError('not_found', 'the path has no id of a bank account');
  return findBankAccount(dependencies, id, member.merchantId).catch((error: unknown) => {
    throw error instanceof NotFoundError ? new PageError('not_found', error.message) : error;
  });
}
