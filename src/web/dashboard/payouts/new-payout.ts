import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { PayoutRejection } from '../../../domain/payout-rejections';
import { UserError } from '../../../errors';
import type { EndpointResponse } from '../../../http/endpoint';
import { withUserAudit } from '../../../services/audit/user-audit';
import { findProposalRejection } from '../../../services/payouts/bank-accounts';
import { payoutIdOfForm, previewPayout, requestPayout } from '../../../services/payouts/payouts';
import { isDatabaseAway } from '../../page/page-error';
import { memberPage, NO_FIELDS, redirectTo, type MemberVisit } from '../../page/page-route';
import { formatTime } from '../../ui/format';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantView, pageResponse, type MerchantView } from '../merchant-view';
import { requireTemporal, TemporalAwayError } from '../require-temporal';
import { actingUser, userIdentity } from '../user-identity';
import { renderNewPayoutPage, type ShownRejection } from './new-payout-page';
import { PAYOUT_FORM_TEXTS } from './payout-form-texts';
import { describeRejection } from './rejection-texts';

const MANAGE = { area: 'payouts', level: 'manage' } as const;
const PATH = '/m/:code/payouts/new';

type NewDependencies = Pick<DashboardDependencies, 'db' | 'environment' | 'log' | 'readiness' | 'workflows'>;

/** What the page showed: the payout pays exactly that. */
const requestSchema = z.object({
  form_id: z.uuid(),
  after: z.coerce.number().int().nonnegative(),
  up_to: z.coerce.number().int().nonnegative(),
  gross: z.coerce.number().int().positive(),
});
type PayoutForm = z.output<typeof requestSchema>;

const newPayoutForm = memberPage(MANAGE, {
  method: 'get',
  path: PATH,
  stepUp: true,
  fields: NO_FIELDS,
  handler: async (dependencies: NewDependencies, visit) =>
    formPage(dependencies, visit, { formToken: randomUUID(), problem: null, status: 200 }),
});

/** The hidden id of the form is that of the payout, so a double click requests one. */
const requestPayoutByForm = memberPage(MANAGE, {
  method: 'post',
  path: PATH,
  stepUp: true,
  fields: requestSchema,
  async handler(dependencies: NewDependencies, visit, form) {
    const view = merchantView(dependencies, visit);
    const { unknownRequest } = PAYOUT_FORM_TEXTS[view.locale.language];
    if (!form.ok) return formPage(dependencies, visit, { formToken: randomUUID(), problem: null, status: 422 });
    const formToken = form.values.form_id;
    const again = (problem: string | null, status: number) =>
      formPage(dependencies, visit, { formToken, problem, status });
    try {
      const reference = await request(dependencies, visit, form.values);
      return redirectTo(`${view.paths.payout(reference)}?done=requested`);
    } catch (error) {
      if (error instanceof RejectedPayoutError) return again(problemOf(view, error.rejection), 409);
      if (error instanceof TemporalAwayError) return again(view.texts.confirm.unavailable, 503);
      if (isDatabaseAway(error)) throw error;
      dependencies.log.warn({ err: error }, 'outcome of a payout request not known');
      return again(unknownRequest, 503);
    }
  },
});

export const newPayoutPages = [newPayoutForm, requestPayoutByForm];

class RejectedPayoutError extends UserError {
  constructor(readonly rejection: PayoutRejection) {
    super(rejection.code);
  }
}

/** @returns the reference of the payout */
async function request(
  dependencies: NewDependencies,
  visit: MemberVisit,
  { form_id: formToken, after: afterPostingId, up_to: upToPostingId, gross: grossRupiah }: PayoutForm,
): Promise<string> {
  const { db, workflows } = dependencies;
  const { merchantId } = visit.member;
  const detail = JSON.stringify({ gross: grossRupiah });
  const action = { action: 'payout.request', target: payoutIdOfForm(merchantId, formToken), detail } as const;
  return withUserAudit(db, userIdentity(dependencies, visit), action, async () => {
    await requireTemporal(dependencies);
    const user = actingUser(visit);
    const seen = { formToken, afterPostingId, upToPostingId, grossRupiah };
    const result = await requestPayout({ db, workflows: workflows.payouts }, user, seen, visit.now);
    if (result.outcome === 'rejected') throw new RejectedPayoutError(result.rejection);
    return result.payout.referenceId;
  });
}

/** The page shows the other reasons itself. */
const SHOWN_AS_PROBLEM: ReadonlySet<PayoutRejection['code']> = new Set(['balance_changed', 'request_pending']);

function problemOf(view: MerchantView, rejection: PayoutRejection): string | null {
  return SHOWN_AS_PROBLEM.has(rejection.code) ? rejectionText(view, rejection) : null;
}

function rejectionText({ locale }: MerchantView, rejection: PayoutRejection): string {
  return describeRejection(rejection, locale.language, (at) => formatTime(at, 'full', locale));
}

interface FormState {
  readonly formToken: string;
  readonly problem: string | null;
  readonly status: number;
}

async function formPage(
  dependencies: NewDependencies,
  visit: MemberVisit,
  { status, ...state }: FormState,
): Promise<EndpointResponse> {
  const view = merchantView(dependencies, visit);
  const preview = await previewPayout(dependencies.db, visit.member.merchantId, visit.now);
  const page =
    preview.outcome === 'possible'
      ? { preview, rejection: null }
      : {
          preview: null,
          rejection: shownRejection(view, await reportedRejection(dependencies, visit, preview.rejection)),
        };
  return pageResponse(renderNewPayoutPage({ view, ...state, ...page }), status);
}

/** Without an account in use, a proposed one is what the payout waits for: no other can be added. */
async function reportedRejection(
  { db }: NewDependencies,
  visit: MemberVisit,
  rejection: PayoutRejection,
): Promise<PayoutRejection> {
  if (rejection.code !== 'no_bank_account') return rejection;
  const proposal = await findProposalRejection(db, actingUser(visit));
  return proposal === 'proposal_open' ? { code: proposal } : rejection;
}

type NextStep = 'newBankAccount' | 'bankAccount' | 'balance' | 'payouts';

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
} as const satisfies Record<PayoutRejection['code'], NextStep>;

function shownRejection(view: MerchantView, rejection: PayoutRejection): ShownRejection {
  const step = NEXT_STEPS[rejection.code];
  const { next } = PAYOUT_FORM_TEXTS[view.locale.language].new;
  return { text: rejectionText(view, rejection), next: { href: view.paths[step], label: next[step] } };
}
