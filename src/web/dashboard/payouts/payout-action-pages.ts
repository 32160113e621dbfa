import { getBalance } from '../../../db/ledger/get-balance';
import type { Payout } from '../../../db/payouts/list-payouts';
import { approvePayout } from '../../../services/payouts/approve-payout';
import { findActiveSince, findBankAccount } from '../../../services/payouts/bank-accounts';
import { cancelPayout } from '../../../services/payouts/cancel-payout';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { memberFormPages, shownVersion, type FormPage, type FormVisit } from '../form-pages';
import type { MerchantView } from '../merchant-view';
import { actRejections, approveRejections } from './action-rejection-texts';
import { renderConfirmPayoutPage } from './confirm-payout-page';
import { PAYOUT_FORM_TEXTS } from './payout-form-texts';
import { PAYOUT_ACTION_PATHS, payoutPagePath, type MemberPayoutAction } from './payout-paths';
import { SCHEDULE_TEXTS } from './schedule-texts';

/** What the pages of an action have in common. @param done the code of the text on the page of the payout afterwards */
const pagesOf = (action: MemberPayoutAction, done: 'approved' | 'cancelled') => ({
  at: PAYOUT_ACTION_PATHS[action],
  path: ({ ref }: { readonly ref: string }) => ({ payout: ref }),
  fields: () => shownVersion,
  errors: ({ locale }: MerchantView) => SCHEDULE_TEXTS[locale.language].errors,
  problem: confirmProblem,
  done: ({ referenceId }: { readonly referenceId: string }, { view }: FormVisit) =>
    payoutPagePath.to({ ...view, ref: referenceId }, { done }),
  render: (page: FormPage<Payout>, dependencies: DashboardDependencies) => renderPage(page, action, dependencies),
});

/** For each action a page with one button, and what the button does. */
export const payoutActionPages = [
  ...memberFormPages({ ...pagesOf('approve', 'approved'), operation: approvePayout, rejections: approveRejections }),
  ...memberFormPages({ ...pagesOf('cancel', 'cancelled'), operation: cancelPayout, rejections: actRejections }),
];

/** What happened to the form. */
function confirmProblem(view: MerchantView, rejection: { readonly reason: string } | null): string {
  const { stale, unknown } = PAYOUT_FORM_TEXTS[view.locale.language];
  if (rejection === null) return unknown;
  return rejection.reason === 'temporal_away' ? view.texts.confirm.unavailable : stale;
}

async function renderPage(
  page: FormPage<Payout>,
  action: MemberPayoutAction,
  dependencies: DashboardDependencies,
): Promise<string> {
  const { rejection, subject: payout } = page;
  const { db } = dependencies;
  const { merchantId, bankAccountId } = payout;
  const [{ holderName }, activeSince, { availableRupiah }] = await Promise.all([
    findBankAccount(dependencies, bankAccountId, merchantId),
    findActiveSince(db, bankAccountId),
    getBalance(db, merchantId),
  ]);
  // A request has left the balance already.
  const balanceAfterRupiah = availableRupiah + (action === 'cancel' && rejection === null ? payout.grossRupiah : 0);
  return renderConfirmPayoutPage({ ...page, action, holderName, activeSince, balanceAfterRupiah });
}
