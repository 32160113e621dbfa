import { findMerchantPayment } from '../../../db/queries/find-payment';
import { findPaymentTimeline } from '../../../db/queries/find-payment-timeline';
import type { PaymentRow } from '../../../db/queries/payment-row';
import { toStepActor } from '../../../domain/actor';
import type { MerchantPaymentAction } from '../../../domain/payment-actions';
import type { EndpointResponse } from '../../../http/endpoint';
import { ActionRejectedError, requestPaymentAction } from '../../../services/payments/request-payment-action';
import { PageError } from '../../page/page-error';
import { memberPage, NO_FIELDS, redirectTo, type MemberVisit, type PageAccess } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantView, pageResponse, type MerchantView } from '../merchant-view';
import { renderConfirmPage, type ConfirmKind } from './confirm-page';
import { findOwnPayment } from './find-own-payment';
import { actionRejection, stateOfPayment } from './payment-state';

type ActionDependencies = Pick<DashboardDependencies, 'db' | 'environment' | 'workflows' | 'paymentMutex' | 'log'>;

interface ConfirmedAction {
  readonly kind: ConfirmKind;
  readonly path: string;
  readonly action: MerchantPaymentAction;
  readonly access: Exclude<PageAccess, string>;
  /** The code of the text on the page of the payment afterwards. */
  readonly done: string;
}

const MANAGE = { area: 'payments', level: 'manage' } as const;
const AUTHORISE = { area: 'payments', level: 'authorise' } as const;

const ACTIONS: readonly ConfirmedAction[] = [
  { kind: 'refund', path: '/refund', action: 'refund', access: AUTHORISE, done: 'refund_requested' },
  { kind: 'cancel', path: '/cancel', action: 'cancel', access: MANAGE, done: 'cancelled' },
  { kind: 'refundCancel', path: '/refund/cancel', action: 'cancel', access: AUTHORISE, done: 'refund_cancelled' },
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
      fields: NO_FIELDS,
      handler: async (dependencies: ActionDependencies, visit) => perform(dependencies, visit, confirmed),
    }),
  ];
});

async function confirmPage(
  dependencies: ActionDependencies,
  visit: MemberVisit,
  confirmed: ConfirmedAction,
  isUnknown = false,
): Promise<EndpointResponse> {
  const view = merchantView(dependencies, visit);
  const payment = await findOwnPayment(dependencies, visit);
  const rejection = await rejectionOf(dependencies, view, visit, payment, confirmed);
  const status = rejection === null || visit.request.method === 'GET' ? 200 : 409;
  const { kind } = confirmed;
  return pageResponse(renderConfirmPage({ view, kind, payment, rejection, isUnknown }), status);
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
): Promise<EndpointResponse> {
  const view = merchantView(dependencies, visit);
  const payment = await findOwnPayment(dependencies, visit);
  const rejection = await rejectionOf(dependencies, view, visit, payment, confirmed);
  if (rejection !== null) return confirmPage(dependencies, visit, confirmed);
  const { merchantId } = visit.member;
  const find = async () => {
    const found = await findMerchantPayment(dependencies.db, merchantId, { id: payment.id });
    if (!found) throw new PageError('not_found', 'the payment was archived meanwhile');
    return found;
  };
  const actor = toStepActor({ kind: 'merchant_user', id: visit.session.user.id, door: 'dashboard' });
  try {
    await requestPaymentAction(dependencies, { action: confirmed.action, actor, paymentId: payment.id, find });
  } catch (error) {
    if (error instanceof ActionRejectedError) return confirmPage(dependencies, visit, confirmed);
    if (error instanceof PageError) throw error;
    dependencies.log.warn({ err: error, action: confirmed.action }, 'outcome of an action not known');
    return confirmPage(dependencies, visit, confirmed, true);
  }
  return redirectTo(`${view.paths.payment(payment.referenceId)}?done=${confirmed.done}`);
}
