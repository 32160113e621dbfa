import type { ReactElement } from 'react';
import { z } from 'zod';
import type { PayoutRejection } from '../../../domain/payout-rejections';
import { previewPayout, type PayoutPreview, type PayoutUser } from '../../../services/payouts/payouts';
import { requestPayout } from '../../../services/payouts/request-payout';
import { Notice, PageHead } from '../../ui/layout';
import { memberFormPages, type FormPage } from '../form-pages';
import { renderMerchantPage } from '../merchant-page';
import type { MerchantView } from '../merchant-view';
import { PAYOUT_FORM_TEXTS } from './payout-form-texts';
import { newPayoutPath, payoutPagePath, payoutsPath } from './payout-paths';
import { PayoutPreviewForm } from './payout-preview-form';
import { PAYOUT_TEXTS } from './payout-texts';
import { SCHEDULE_TEXTS } from './schedule-texts';
import { NEXT_PATHS, nextStepOf, reportedRejection, whyNotText } from './why-not';

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
    not_payable: ({ why }) => whyNotText(view, why),
    temporal_away: () => view.texts.confirm.unavailable,
  }),
  problem(view, rejection) {
    if (rejection === null) return PAYOUT_FORM_TEXTS[view.locale.language].unknownRequest;
    if (rejection.reason === 'temporal_away') return view.texts.confirm.unavailable;
    return rejection.reason === 'not_payable' && PROBLEMS.has(rejection.why.code)
      ? whyNotText(view, rejection.why)
      : null;
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

function NoPayout({ view, why }: { readonly view: MerchantView; readonly why: PayoutRejection }): ReactElement {
  const step = nextStepOf(why);
  return (
    <>
      <Notice tone="warning">
        <p>{whyNotText(view, why)}</p>
      </Notice>
      <div className="buttons">
        <a className="button primary wide-button" href={NEXT_PATHS[step].to(view)}>
          {PAYOUT_FORM_TEXTS[view.locale.language].new.next[step]}
        </a>
      </div>
    </>
  );
}
