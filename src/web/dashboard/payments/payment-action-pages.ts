import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { EndpointResponse } from '../../../http/endpoint';
import { isRunRejection, rejectionText } from '../../../services/operations/rejections';
import { cancelPayment } from '../../../services/payments/actions/cancel-payment';
import { cancelRefund } from '../../../services/payments/actions/cancel-refund';
import { needsProof } from '../../../services/payments/actions/member-action';
import { refundPayment } from '../../../services/payments/actions/refund-payment';
import { isDatabaseAway, orNoPage, PageError } from '../../page/page-error';
import { memberPage, NO_FIELDS, redirectTo, type MemberVisit } from '../../page/page-route';
import { SIGN_IN_PATHS, withReturn } from '../../page/return-paths';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { runTexts } from '../form-pages';
import { merchantView, pageResponse, type MerchantView } from '../merchant-view';
import { memberActor } from '../user-identity';
import { renderConfirmPage, type ConfirmKind, type ConfirmProblem } from './confirm-page';
import { findOwnPayment } from './find-own-payment';
import { PAYMENT_ACTION_PATHS, paymentPagePath } from './payment-paths';

type ActionDependencies = Pick<
  DashboardDependencies,
  'db' | 'environment' | 'workflows' | 'paymentMutex' | 'readiness' | 'log'
>;

const MANAGE = { area: 'payments', level: 'manage' } as const;
const AUTHORISE = { area: 'payments', level: 'authorise' } as const;

/** Each form has the version of the payment that its page showed. */
const confirmSchema = z.object({ version: z.coerce.number().int() });

interface ActionPage {
  readonly kind: ConfirmKind;
  readonly operation: typeof refundPayment | typeof cancelPayment | typeof cancelRefund;
  /** The code of the text on the page of the payment afterwards. */
  readonly done: string;
}

const PAGES = [
  { access: AUTHORISE, kind: 'refund', operation: refundPayment, done: 'refund_requested' },
  { access: MANAGE, kind: 'cancel', operation: cancelPayment, done: 'cancelled' },
  { access: AUTHORISE, kind: 'refundCancel', operation: cancelRefund, done: 'refund_cancelled' },
] as const;

/** For each action a page with one button, and what the button requests. */
export const paymentActionPages = PAGES.flatMap(({ access, ...page }) => {
  const path = PAYMENT_ACTION_PATHS[page.kind].pattern;
  return [
    memberPage(access, {
      method: 'get',
      path,
      fields: NO_FIELDS,
      handler: async (dependencies: ActionDependencies, visit) => confirmPage(dependencies, visit, page),
    }),
    memberPage(access, {
      method: 'post',
      path,
      fields: confirmSchema,
      handler: async (dependencies: ActionDependencies, visit, form) =>
        perform(dependencies, visit, page, form.ok ? form.values.version : null),
    }),
  ];
});

async function confirmPage(
  dependencies: ActionDependencies,
  visit: MemberVisit,
  { kind, operation }: ActionPage,
  problem: ConfirmProblem | null = null,
): Promise<EndpointResponse> {
  const [view, by] = [merchantView(dependencies, visit), memberActor(visit)];
  const path = { payment: PAYMENT_ACTION_PATHS[kind].read(visit.request.params).ref };
  const { subject: payment, rejection: found } = await operation.preview(dependencies, by, path).catch(orNoPage);
  const rejection = found && textOf(view, found);
  if (problem === null && rejection === null && kind === 'refund' && (await needsProof(dependencies.db, by, payment))) {
    return stepUpFor(view, payment.referenceId);
  }
  return pageResponse(renderConfirmPage({ view, kind, payment, rejection, problem }), statusOf(problem, rejection));
}

type Found = NonNullable<Awaited<ReturnType<ActionPage['operation']['preview']>>['rejection']>;

function textOf(view: MerchantView, rejection: Found): string {
  if (isRunRejection(rejection)) return rejectionText(runTexts(view), rejection);
  return view.texts.rejections[rejection.reason === 'not_possible' ? rejection.code : 'other_status'];
}

const stepUpFor = ({ code }: MerchantView, ref: string) =>
  redirectTo(withReturn(SIGN_IN_PATHS.stepUp, PAYMENT_ACTION_PATHS.refund.to({ code, ref })));

function statusOf(problem: ConfirmProblem | null, rejection: string | null): number {
  if (problem === null) return 200;
  return (problem === 'unknown' || problem === 'unavailable') && rejection === null ? 503 : 409;
}

/** Requests for one payment are executed one after the other, those of the API included. */
async function perform(
  dependencies: ActionDependencies,
  visit: MemberVisit,
  page: ActionPage,
  version: number | null,
): Promise<EndpointResponse> {
  const { db, log, readiness, workflows, paymentMutex } = dependencies;
  const view = merchantView(dependencies, visit);
  const { id, referenceId } = await findOwnPayment(dependencies, visit);
  const call = { path: { payment: referenceId }, input: { version }, formId: randomUUID() };
  try {
    const result = await paymentMutex.runExclusive(id, (deadlineAtMs) => {
      const needs = { db, log, readiness, workflows: workflows.withDeadline(deadlineAtMs) };
      return page.operation.run(needs, memberActor(visit), call);
    });
    if (result.outcome === 'done')
      return redirectTo(paymentPagePath.to({ ...view, ref: referenceId }, { done: page.done }));
    if (result.outcome !== 'rejected') throw new Error(`The outcome of an action of a payment is ${result.outcome}`);
    const { reason } = result.rejection;
    if (reason === 'step_up') return stepUpFor(view, referenceId);
    return await confirmPage(dependencies, visit, page, PROBLEMS[reason] ?? 'rejected');
  } catch (error) {
    if (error instanceof PageError || isDatabaseAway(error)) throw error;
    log.warn({ err: error, action: page.operation.name }, 'outcome of an action not known');
    return confirmPage(dependencies, visit, page, 'unknown');
  }
}

/** What the page shows of these reasons. */
const PROBLEMS: Readonly<Partial<Record<string, ConfirmProblem>>> = { stale: 'stale', temporal_away: 'unavailable' };
