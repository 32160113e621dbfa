import { z } from 'zod';
import { findPaymentOrigin } from '../../../db/payments/find-payment-origin';
import { findPaymentTimeline, type PaymentTimeline } from '../../../db/payments/find-payment-timeline';
import { findDetails } from '../../../db/payments/payment-details';
import type { PaymentRow } from '../../../db/payments/payment-row';
import { readState } from '../../../db/transitions/payment-state';
import { isFinal, type PaymentStatus } from '../../../domain/payment-transitions';
import { StreamBody } from '../../../http/endpoint';
import { EVENT_STREAM_HEADERS } from '../../../http/event-stream';
import type { ActionPayment } from '../../../services/payments/actions/request-action';
import { openDetails } from '../../../services/payments/payment-details';
import { memberPage, type MemberVisit } from '../../page/page-route';
import type { OfferedAction } from '../../ui/offered-action';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantView, pageResponse, type MerchantView } from '../merchant-view';
import { renderArchivedPage } from './archived-page';
import { describeOrigin } from './describe-origin';
import { findOwnPayment, findPaymentOrArchived } from './find-own-payment';
import { nextStep } from './next-step';
import { actionRejection, type ConfirmKind } from './payment-action-pages';
import { renderPaymentPage } from './payment-page';
import { PAYMENT_ACTION_PATHS, paymentEventsPath, paymentPagePath } from './payment-paths';
import { timelineEntries } from './payment-timeline';

/** What the user has done just before, by the code in the address. Others can send the address: the status decides. */
const DONE = ['refund_requested', 'cancelled', 'refund_cancelled'] as const;
const STATUSES_AFTER: Readonly<Record<(typeof DONE)[number], readonly PaymentStatus[]>> = {
  refund_requested: ['refund_processing'],
  cancelled: ['cancelled'],
  refund_cancelled: ['paid'],
};
const doneSchema = z.object({ done: z.enum(DONE).optional().catch(undefined) });

/** One payment: its amounts, what happens next, what can be done, and its timeline. */
export const showPaymentPage = memberPage(
  { area: 'payments', level: 'view' },
  {
    method: 'get',
    path: paymentPagePath.pattern,
    fields: doneSchema,
    async handler(dependencies: Pick<DashboardDependencies, 'db' | 'environment' | 'sealer'>, visit, query) {
      const view = merchantView(dependencies, visit);
      const { db } = dependencies;
      const { merchantId } = visit.member;
      const payment = await findPaymentOrArchived(dependencies, visit);
      if ('archivedAt' in payment) return pageResponse(renderArchivedPage({ view, ...payment }));
      const [timeline, origin, sealed, state] = await Promise.all([
        findPaymentTimeline(db, merchantId, payment.id),
        findPaymentOrigin(db, merchantId, payment.id),
        findDetails(db, payment.id),
        readState(db, payment.id),
      ]);
      const { latePayment } = timeline;
      const done = query.ok ? query.values.done : undefined;
      return pageResponse(
        renderPaymentPage({
          view,
          payment,
          details: openDetails(dependencies.sealer, payment.id, sealed),
          origin: origin && describeOrigin(view, origin),
          statusKey: statusKeyOfPayment(payment, timeline),
          isLive: !isFinal(payment.status) || (latePayment !== null && latePayment.status !== 'refunded'),
          delivered: timeline.deliveries.filter(({ status }) => status === 'delivered').length,
          done: done !== undefined && STATUSES_AFTER[done].includes(payment.status) ? done : null,
          next: nextStep(view, payment, timeline),
          hasQr: payment.status === 'pending' && payment.expiresAt.getTime() > view.nowMs,
          actions: offeredActions({ view, visit }, { ...payment, ...state }),
          entries: timelineEntries(view, payment, timeline),
        }),
      );
    },
  },
);

const eventsSchema = z.object({ seen: z.string().max(64).default('') });

/** An event for each change of the payment. The browser reads the page again then. */
export const streamPayment = memberPage(
  { area: 'payments', level: 'view' },
  {
    method: 'get',
    path: paymentEventsPath.pattern,
    fields: eventsSchema,
    async handler(dependencies: Pick<DashboardDependencies, 'db' | 'checkoutWatch'>, visit, query) {
      const payment = await findOwnPayment(dependencies, visit);
      const page = {
        paymentId: payment.id,
        statusKey: query.ok ? query.values.seen : '',
        user: { id: visit.session.user.id, mayStillSee: visit.mayStillSee },
      };
      return {
        status: 200,
        headers: { ...EVENT_STREAM_HEADERS, 'Cache-Control': 'no-store' },
        body: new StreamBody((response) => dependencies.checkoutWatch.add(page, response)),
      };
    },
  },
);

/** The key of what a page shows: two pages with the same key show the same. `statusKeyOf` of the checkout is alike. */
export function statusKeyOfPayment({ version }: PaymentRow, { latePayment }: Pick<PaymentTimeline, 'latePayment'>) {
  return latePayment === null ? String(version) : `${version}-${latePayment.status}`;
}

/** The action that concerns the payment now, possible or not. */
function offeredActions(
  shown: { readonly view: MerchantView; readonly visit: MemberVisit },
  payment: ActionPayment,
): OfferedAction[] {
  const { detail } = shown.view.texts;
  const offer = (kind: ConfirmKind, label: string): OfferedAction => ({
    label,
    href: PAYMENT_ACTION_PATHS[kind].to({ ...shown.view, ref: payment.referenceId }),
    rejection: actionRejection(shown, kind, payment),
  });
  switch (payment.status) {
    case 'created':
    case 'pending':
      return [offer('cancel', detail.cancel)];
    case 'refund_processing':
      return [offer('refundCancel', detail.cancelRefund)];
    case 'paid':
    case 'settled':
    case 'refund_failed':
      return [offer('refund', detail.refund)];
    case 'refunded':
    case 'expired':
    case 'cancelled':
    case 'failed':
      return [];
  }
}
