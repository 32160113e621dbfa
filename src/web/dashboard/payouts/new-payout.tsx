import type { ReactElement } from 'react';
import { z } from 'zod';
import type { PayoutRejection } from '../../../domain/payout-rejections';
import { findProposalRejection } from '../../../services/payouts/add-bank-account';
import { previewPayout, type PayoutPreview, type PayoutUser } from '../../../services/payouts/payouts';
import { requestPayout } from '../../../services/payouts/request-payout';
import { formatTime } from '../../ui/format';
import { Notice, PageHead } from '../../ui/layout';
import { balancePath } from '../balance/balance-paths';
import { bankAccountPath, newBankAccountPath } from '../bank-account/bank-account-paths';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { memberFormPages, type FormPage } from '../form-pages';
import { renderMerchantPage } from '../merchant-page';
import type { MerchantView } from '../merchant-view';
import { PAYOUT_FORM_TEXTS } from './payout-form-texts';
import { newPayoutPath, payoutPagePath, payoutsPath } from './payout-paths';
import { PayoutPreviewForm } from './payout-preview-form';
import { PAYOUT_TEXTS } from './payout-texts';
import { describeRejection } from './rejection-texts';
import { SCHEDULE_TEXTS } from './schedule-texts';

/** What the page showed: the payout pays exactly that. */
const requestFields = z
  .object({
    after: z.coerce.number().int().nonnegative(),
    up_to: z.coerce.number().int().nonnegative(),
    gross: z.coerce.number().int().positive(),
  })
  .transform(({ after, up_to: upTo, gross }) => ({ afterPostingId: after, upToPostingId: upTo, grossRupiah: gross }));

/** The page itself shows the other reasons, of the balance as it is now. */
const PROBLEMS: ReadonlySet<PayoutRejection['code']> = new Set(['balance_changed', 'request_pending']);

export const newPayoutPages = memberFormPages({
  at: newPayoutPath,
  operation: requestPayout,
  path: () => ({}),
  fields: () => requestFields,
  errors: ({ locale }) => SCHEDULE_TEXTS[locale.language].errors,
  rejections: (view) => ({
    not_payable: ({ why }) => textOf(view, why),
    temporal_away: () => view.texts.confirm.unavailable,
  }),
  problem(view, rejection) {
    if (rejection === null) return PAYOUT_FORM_TEXTS[view.locale.language].unknownRequest;
    if (rejection.reason === 'temporal_away') return view.texts.confirm.unavailable;
    return rejection.reason === 'not_payable' && PROBLEMS.has(rejection.why.code) ? textOf(view, rejection.why) : null;
  },
  done: ({ referenceId }, { view }) => payoutPagePath.to({ ...view, ref: referenceId }, { done: 'requested' }),
  async render(page, { db }) {
    const { view, subject, now } = page;
    const preview = await previewPayout(db, subject.merchantId, now);
    const why = preview.outcome === 'rejected' ? await reportedRejection({ db }, subject, preview.rejection) : null;
    return renderMerchantPage(view, {
      title: PAYOUT_FORM_TEXTS[view.locale.language].new.title,
      current: 'payouts',
      live: 'none',
      children: <NewPayout {...page} preview={preview} why={why} />,
    });
  },
});

/** Without an account in use, a proposed one is what the payout waits for: no other can be added. */
async function reportedRejection(
  { db }: Pick<DashboardDependencies, 'db'>,
  user: PayoutUser,
  rejection: PayoutRejection,
): Promise<PayoutRejection> {
  if (rejection.code !== 'no_bank_account') return rejection;
  const proposal = await findProposalRejection(db, user);
  return proposal === 'proposal_open' ? { code: proposal } : rejection;
}

function textOf({ locale }: MerchantView, rejection: PayoutRejection): string {
  return describeRejection(rejection, locale.language, (at) => formatTime(at, 'full', locale));
}

interface NewPayoutProps extends FormPage<PayoutUser> {
  readonly preview: PayoutPreview;
  /** Why there is no payout; null: there is a preview. */
  readonly why: PayoutRejection | null;
}

function NewPayout({ view, formId, preview, why, problem }: NewPayoutProps): ReactElement {
  const texts = PAYOUT_FORM_TEXTS[view.locale.language].new;
  return (
    <div className="narrow">
      <PageHead
        title={texts.title}
        back={{ href: payoutsPath.to(view), label: PAYOUT_TEXTS[view.locale.language].title }}
      />
      <div className="stack">
        {problem !== null && (
          <Notice tone="bad">
            <p>{problem}</p>
          </Notice>
        )}
        {why !== null && <NoPayout view={view} why={why} />}
        {preview.outcome === 'possible' && <PayoutPreviewForm view={view} formId={formId} preview={preview} />}
      </div>
    </div>
  );
}

const NEXT_PATHS = {
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

function NoPayout({ view, why }: { readonly view: MerchantView; readonly why: PayoutRejection }): ReactElement {
  const step = NEXT_STEPS[why.code];
  return (
    <>
      <Notice tone="warning">
        <p>{textOf(view, why)}</p>
      </Notice>
      <div className="buttons">
        <a className="button wide-button" href={NEXT_PATHS[step].to(view)}>
          {PAYOUT_FORM_TEXTS[view.locale.language].new.next[step]}
        </a>
      </div>
    </>
  );
}
