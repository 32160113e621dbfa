import { z } from 'zod';
import { getBalance } from '../../../db/ledger/get-balance';
import type { MemberPayoutAction } from '../../../domain/payout-actions';
import { ConflictError, UserError } from '../../../errors';
import type { EndpointResponse } from '../../../http/endpoint';
import { withUserAudit } from '../../../services/audit/user-audit';
import { findActiveSince, findBankAccount } from '../../../services/payouts/bank-accounts';
import { approvePayout, cancelPayout, type PayoutDetails } from '../../../services/payouts/payouts';
import { isDatabaseAway, PageError } from '../../page/page-error';
import { memberPage, NO_FIELDS, redirectTo, type MemberVisit } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantView, pageResponse, type MerchantView } from '../merchant-view';
import { requireTemporal, TemporalAwayError } from '../require-temporal';
import { actingUser, userIdentity } from '../user-identity';
import { renderConfirmPayoutPage, type PayoutProblem } from './confirm-payout-page';
import { findOwnPayout } from './find-own-payout';
import { findActingMember, payoutActionRejection } from './payout-state';

type ActionDependencies = Pick<
  DashboardDependencies,
  'db' | 'environment' | 'log' | 'readiness' | 'sealer' | 'workflows'
>;

interface ConfirmedAction {
  readonly action: MemberPayoutAction;
  readonly level: 'manage' | 'authorise';
  /** The code of the text on the page of the payout afterwards. */
  readonly done: string;
  readonly perform: typeof approvePayout;
}

const ACTIONS: readonly ConfirmedAction[] = [
  { action: 'approve', level: 'authorise', done: 'approved', perform: approvePayout },
  { action: 'cancel', level: 'manage', done: 'cancelled', perform: cancelPayout },
];

/** Each form has the version of the payout that its page showed. */
const confirmSchema = z.object({ version: z.coerce.number().int() });

/** For each action a page with one button, and what the button requests. */
export const payoutActionPages = ACTIONS.flatMap((confirmed) => {
  const access = { area: 'payouts', level: confirmed.level } as const;
  const route = { path: `/m/:code/payouts/:ref/${confirmed.action}`, stepUp: true } as const;
  return [
    memberPage(access, {
      ...route,
      method: 'get',
      fields: NO_FIELDS,
      handler: async (dependencies: ActionDependencies, visit) => confirmPage(dependencies, visit, confirmed),
    }),
    memberPage(access, {
      ...route,
      method: 'post',
      fields: confirmSchema,
      handler: async (dependencies: ActionDependencies, visit, form) =>
        perform(dependencies, visit, confirmed, form.ok ? form.values.version : null),
    }),
  ];
});

async function confirmPage(
  dependencies: ActionDependencies,
  visit: MemberVisit,
  { action }: ConfirmedAction,
  problem: PayoutProblem | null = null,
): Promise<EndpointResponse> {
  const view = merchantView(dependencies, visit);
  const payout = await findOwnPayout(dependencies, visit);
  const { db } = dependencies;
  const { merchantId } = visit.member;
  const [rejection, { holderName }, activeSince, { availableRupiah }] = await Promise.all([
    rejectionOf(dependencies, view, visit, { action, payout }),
    findBankAccount(dependencies, payout.bankAccountId, merchantId),
    findActiveSince(db, payout.bankAccountId),
    getBalance(db, merchantId),
  ]);
  // A request has left the balance already.
  const balanceAfterRupiah = availableRupiah + (action === 'cancel' && rejection === null ? payout.grossRupiah : 0);
  const account = { holderName, activeSince };
  const page = { view, action, payout, account, balanceAfterRupiah, rejection, problem };
  return pageResponse(renderConfirmPayoutPage(page), statusOf(problem));
}

function statusOf(problem: PayoutProblem | null): number {
  if (problem === null) return 200;
  return problem === 'stale' ? 409 : 503;
}

async function rejectionOf(
  dependencies: Pick<DashboardDependencies, 'db'>,
  view: MerchantView,
  visit: MemberVisit,
  { action, payout }: { readonly action: MemberPayoutAction; readonly payout: PayoutDetails },
): Promise<string | null> {
  return payoutActionRejection(view, action, payout, await findActingMember(dependencies, visit, payout));
}

async function perform(
  dependencies: ActionDependencies,
  visit: MemberVisit,
  confirmed: ConfirmedAction,
  version: number | null,
): Promise<EndpointResponse> {
  const { db, log } = dependencies;
  const { action, done } = confirmed;
  const view = merchantView(dependencies, visit);
  const payout = await findOwnPayout(dependencies, visit);
  const detail = JSON.stringify({ payout: payout.referenceId, version });
  const recorded = { action: `payout.${action}`, target: payout.id, detail } as const;
  try {
    await withUserAudit(db, userIdentity(dependencies, visit), recorded, async () => {
      const rejection = await rejectionOf(dependencies, view, visit, { action, payout });
      if (rejection !== null) throw new UserError(rejection);
      if (version === null) throw new ConflictError('superseded', 'The form names no version of the payout.');
      await requireTemporal(dependencies);
      const seen = { payout: payout.id, version };
      await confirmed.perform({ db, workflows: dependencies.workflows.payouts }, actingUser(visit), seen);
    });
  } catch (error) {
    if (error instanceof TemporalAwayError) return confirmPage(dependencies, visit, confirmed, 'unavailable');
    if (error instanceof UserError) return confirmPage(dependencies, visit, confirmed, 'stale');
    if (error instanceof PageError || isDatabaseAway(error)) throw error;
    log.warn({ err: error, action }, 'outcome of an action not known');
    return confirmPage(dependencies, visit, confirmed, 'unknown');
  }
  return redirectTo(`${view.paths.payout(payout.referenceId)}?done=${done}`);
}
