import type { PayoutRejection } from '../../../domain/payout-rejections';
import { findProposalRejection } from '../../../services/payouts/add-bank-account';
import { payoutUserOf } from '../../../services/payouts/payout-settings';
import { previewPayout, type PayoutUser } from '../../../services/payouts/payouts';
import type { MemberVisit } from '../../page/page-route';
import { formatTime } from '../../ui/format';
import { balancePath } from '../balance/balance-paths';
import { bankAccountPath, newBankAccountPath } from '../bank-account/bank-account-paths';
import type { DashboardDependencies } from '../dashboard-dependencies';
import type { MerchantView } from '../merchant-view';
import { memberActor } from '../user-identity';
import { payoutsPath } from './payout-paths';
import { describeRejection } from './rejection-texts';

type Needs = Pick<DashboardDependencies, 'db'>;

/** Why the user cannot pay the balance out now; null: they can. Undefined: they may request none. */
export async function findWhyNot(
  { db }: Needs,
  visit: MemberVisit,
  view: MerchantView,
): Promise<PayoutRejection | null | undefined> {
  if (view.rightRejection('payouts', 'manage') !== null) return undefined;
  const user = payoutUserOf(memberActor(visit));
  const preview = await previewPayout(db, user.merchantId, visit.now);
  return preview.outcome === 'possible' ? null : reportedRejection({ db }, user, preview.rejection);
}

/** Without an account in use, a proposed one is what the payout waits for: no other can be added. */
export async function reportedRejection(
  { db }: Needs,
  user: PayoutUser,
  rejection: PayoutRejection,
): Promise<PayoutRejection> {
  if (rejection.code !== 'no_bank_account') return rejection;
  const proposal = await findProposalRejection(db, user);
  return proposal === 'proposal_open' ? { code: proposal } : rejection;
}

export function whyNotText({ locale }: MerchantView, rejection: PayoutRejection): string {
  return describeRejection(rejection, locale.language, (at) => formatTime(at, 'full', locale));
}

export const NEXT_PATHS = {
  newBankAccount: newBankAccountPath,
  bankAccount: bankAccountPath,
  balance: balancePath,
  payouts: payoutsPath,
} as const;

/** Where the user can do something about it. */
const NEXT_STEPS = {
  merchant_not_approved: 'payouts',
  merchant_on_hold: 'payouts',
  payouts_stopped: 'payouts',
  recovery_mode: 'payouts',
  no_payouts_account: 'payouts',
  no_bank_account: 'newBankAccount',
  bank_account_suspended: 'bankAccount',
  proposal_open: 'bankAccount',
  cooling_down: 'bankAccount',
  nothing_to_pay: 'balance',
  negative_balance: 'balance',
  below_minimum: 'balance',
  balance_changed: 'balance',
  request_pending: 'payouts',
} as const satisfies Record<PayoutRejection['code'], keyof typeof NEXT_PATHS>;

export const nextStepOf = ({ code }: PayoutRejection): keyof typeof NEXT_PATHS => NEXT_STEPS[code];
