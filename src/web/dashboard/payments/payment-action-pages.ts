import { z } from 'zod';
import { sumRefundActions } from '../../../db/identity/user-actions';
import { findMerchantPayment } from '../../../db/payments/find-payment';
import { findPaymentTimeline } from '../../../db/payments/find-payment-timeline';
import type { PaymentRow } from '../../../db/payments/payment-row';
import { toStepActor } from '../../../domain/actor';
import type { MerchantPaymentAction } from '../../../domain/payment-actions';
import { REFUND_STEP_UP, STEP_UP_LIMITS } from '../../../domain/sign-in';
import { UserError } from '../../../errors';
import type { EndpointResponse } from '../../../http/endpoint';
import { withUserAudit, type UserActionName } from '../../../services/audit/user-audit';
import { isSteppedUp } from '../../../services/identity/sessions';
import { requestPaymentAction } from '../../../services/payments/request-payment-action';
import { isDatabaseAway, PageError } from '../../page/page-error';
import { memberPage, NO_FIELDS, redirectTo, type MemberVisit, type PageAccess } from '../../page/page-route';
import { SIGN_IN_PATHS, withReturn } from '../../page/return-paths';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantView, pageResponse, type MerchantView } from '../merchant-view';
import { requireTemporal, TemporalAwayError } from '../require-temporal';
import { userIdentity } from '../user-identity';
import { renderConfirmPage, type ConfirmKind, type ConfirmProblem } from './confirm-page';
import { findOwnPayment } from './find-own-payment';
import { actionRejection, stateOfPayment } from './payment-state';

type ActionDependencies = Pick<
  DashboardDependencies,
  'db' | 'environment' | 'workflows' | 'paymentMutex' | 'readiness' | 'log'
>;

interface ConfirmedAction {
  readonly kind: ConfirmKind;
  readonly path: string;
  readonly action: MerchantPaymentAction;
  readonly access: Exclude<PageAccess, string>;
  /** The code of the text on the page of the payment afterwards. */
  readonly done: string;
  readonly recordedAs: UserActionName;
}

const MANAGE = { area: 'payments', level: 'manage' } as const;
const AUTHORISE = { area: 'payments', level: 'authorise' } as const;

/** Each form has the version of the payment that its page showed. */
const confirmSchema = z.object({ version: z.coerce.number().int() });

const ACTIONS: readonly ConfirmedAction[] = [
  {
    kind: 'refund',
    path: '/refund',
    action: 'refund',
    access: AUTHORISE,
    done: 'refund_requested',
    recordedAs: 'payment.refund',
  },
  {
    kind: 'cancel',
    path: '/cancel',
    action: 'cancel',
    access: MANAGE,
    done: 'cancelled',
    recordedAs: 'payment.cancel',
  },
  {
    kind: 'refundCancel',
    path: '/refund/cancel',
    action: 'cancel',
    access: AUTHORISE,
    done: 'refund_cancelled',
    recordedAs: 'payment.cancel_refund',
  },
];

/** For each action a page with one button, and what the button requests. */
export const paymentActionPages = ACTIONS.flatMap((confirmed) => {
  const { access } = confirmed;
  const path = `/m/:code/payments/:ref${confirmed.path}`;
  return [
    memberPage(access, {
      method: 'get',
      path,
      fields: NO_FIELDS,
      handler: async (dependencies: ActionDependencies, visit) => confirmPage(dependencies, visit, confirmed),
    }),
    memberPage(access, {
      method: 'post',
      path,
      fields: confirmSchema,
      handler: async (dependencies: ActionDependencies, visit, form) =>
        perform(dependencies, visit, confirmed, form.ok ? form.values.version : null),
    }),
  ];
});

async function confirmPage(
  dependencies: ActionDependencies,
  visit: MemberVisit,
  confirmed: ConfirmedAction,
  problem: ConfirmProblem | null = null,
): Promise<EndpointResponse> {
  const view = merchantView(dependencies, visit);
  const payment = await findOwnPayment(dependencies, visit);
  const rejection = await rejectionOf(dependencies, view, visit, payment, confirmed);
  const status = statusOf(problem, rejection);
  const { kind } = confirmed;
  if (problem === null && rejection === null) {
    const isNeeded = await needsStepUp(dependencies, visit, { kind, payment, limitMs: STEP_UP_LIMITS.formMs });
    if (isNeeded) return stepUpFor(view, payment);
  }
  return pageResponse(renderConfirmPage({ view, kind, payment, rejection, problem }), status);
}

interface RefundToProve {
  readonly kind: ConfirmKind;
  readonly payment: PaymentRow;
  /** How old a step-up may be. */
  readonly limitMs: number;
}

/** Who takes an open browser of a member refunds no more than the sum of an hour. */
async function needsStepUp(
  { db }: ActionDependencies,
  { session, now }: MemberVisit,
  { kind, payment, limitMs }: RefundToProve,
): Promise<boolean> {
  if (kind !== 'refund' || isSteppedUp(session, limitMs, now)) return false;
  const { aboveRupiah, windowMs } = REFUND_STEP_UP;
  return (await sumRefundActions(db, { userId: session.user.id, paymentId: payment.id, windowMs })) > aboveRupiah;
}

const stepUpFor = ({ paths }: MerchantView, { referenceId }: PaymentRow) =>
  redirectTo(withReturn(SIGN_IN_PATHS.stepUp, paths.refund(referenceId)));

function statusOf(problem: ConfirmProblem | null, rejection: string | null): number {
  if (problem === null) return 200;
  return (problem === 'unknown' || problem === 'unavailable') && rejection === null ? 503 : 409;
}

/** Reads the payment as the request does. */
async function rejectionOf(
  { db }: ActionDependencies,
  view: MerchantView,
  { member }: MemberVisit,
  payment: PaymentRow,
  { action, kind }: ConfirmedAction,
): Promise<string | null> {
  // Both actions are called `cancel`, in different statuses.
  if (action === 'cancel' && (kind === 'refundCancel') !== (payment.status === 'refund_processing')) {
    const { rejections } = view.texts;
    return kind === 'refundCancel' ? rejections.other_status : rejections.refund_in_progress;
  }
  const timeline = await findPaymentTimeline(db, member.merchantId, payment.id);
  return actionRejection(view, action, payment, stateOfPayment(payment, timeline));
}

async function perform(
  dependencies: ActionDependencies,
  visit: MemberVisit,
  confirmed: ConfirmedAction,
  version: number | null,
): Promise<EndpointResponse> {
  const view = merchantView(dependencies, visit);
  const payment = await findOwnPayment(dependencies, visit);
  const { id, referenceId } = payment;
  const detail = JSON.stringify({ payment: referenceId, version });
  const action = { action: confirmed.recordedAs, target: id, detail } as const;
  try {
    await withUserAudit(dependencies.db, userIdentity(dependencies, visit), action, async () => {
      const rejection = await rejectionOf(dependencies, view, visit, payment, confirmed);
      if (rejection !== null) throw new UserError(rejection);
      const proof = { kind: confirmed.kind, payment, limitMs: STEP_UP_LIMITS.postMs };
      if (await needsStepUp(dependencies, visit, proof)) throw new StepUpNeededError();
      await requireTemporal(dependencies);
      await request(dependencies, visit, confirmed, { id, version });
    });
  } catch (error) {
    if (error instanceof StepUpNeededError) return stepUpFor(view, payment);
    if (error instanceof StaleFormError) return confirmPage(dependencies, visit, confirmed, 'stale');
    if (error instanceof TemporalAwayError) return confirmPage(dependencies, visit, confirmed, 'unavailable');
    if (error instanceof UserError) return confirmPage(dependencies, visit, confirmed, 'rejected');
    if (error instanceof PageError || isDatabaseAway(error)) throw error;
    dependencies.log.warn({ err: error, action: confirmed.action }, 'outcome of an action not known');
    return confirmPage(dependencies, visit, confirmed, 'unknown');
  }
  return redirectTo(`${view.paths.payment(referenceId)}?done=${confirmed.done}`);
}

/** The form was sent from a page that showed another state of the payment. */
class StaleFormError extends UserError {}

/** The refunds of the last hour are above the limit. */
class StepUpNeededError extends UserError {
  constructor() {
    super('The refund needs a proof of identity: with those of the last hour it is above the limit.');
  }
}

/** Requests the action for the version that the user saw. A version is compared under the lock of the payment. */
async function request(
  dependencies: ActionDependencies,
  { member, session }: MemberVisit,
  { action }: ConfirmedAction,
  seen: { readonly id: string; readonly version: number | null },
): Promise<void> {
  let isFirst = true;
  const find = async () => {
    const found = await findMerchantPayment(dependencies.db, member.merchantId, { id: seen.id });
    if (!found) throw new PageError('not_found', 'the payment was archived meanwhile');
    if (isFirst && found.version !== seen.version) {
      throw new StaleFormError(`The form has version ${seen.version}, the payment ${found.version}.`);
    }
    isFirst = false;
    return found;
  };
  const actor = toStepActor({ kind: 'merchant_user', id: session.user.id, door: 'dashboard' });
  await requestPaymentAction(dependencies, { action, actor, paymentId: seen.id, find });
}
