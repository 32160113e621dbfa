import { z } from 'zod';
import { getBalance } from '../../../db/ledger/get-balance';
import type { Payout } from '../../../db/payouts/list-payouts';
import { findActiveSince, findBankAccount } from '../../../services/payouts/bank-accounts';
import type { DashboardDependencies } from '../dashboard-dependencies';
import type { FormPage } from '../form-pages';
import type { MerchantView } from '../merchant-view';
import { renderConfirmPayoutPage } from './confirm-payout-page';
import { PAYOUT_FORM_TEXTS } from './payout-form-texts';
import type { MemberPayoutAction } from './payout-paths';

/** The form has the version of the payout that its page showed. Another text is no version that a payout has. */
export const versionFields = z.object({ version: z.coerce.number().int().catch(0) });

/** What happened to the form. */
export function confirmProblem(view: MerchantView, rejection: { readonly reason: string } | null): string {
  const { stale, unknown } = PAYOUT_FORM_TEXTS[view.locale.language];
  if (rejection === null) return unknown;
  return rejection.reason === 'temporal_away' ? view.texts.confirm.unavailable : stale;
}

interface ConfirmPage extends FormPage<Payout> {
  readonly action: MemberPayoutAction;
}

export async function renderConfirmPayout(page: ConfirmPage, dependencies: DashboardDependencies): Promise<string> {
  const { action, rejection, subject: payout } = page;
  const { db } = dependencies;
  const { merchantId, bankAccountId } = payout;
  const [{ holderName }, activeSince, { availableRupiah }] = await Promise.all([
    findBankAccount(dependencies, bankAccountId, merchantId),
    findActiveSince(db, bankAccountId),
    getBalance(db, merchantId),
  ]);
  // A request has left the balance already.
  const balanceAfterRupiah = availableRupiah + (action === 'cancel' && rejection === null ? payout.grossRupiah : 0);
  return renderConfirmPayoutPage({ ...page, holderName, activeSince, balanceAfterRupiah });
}
