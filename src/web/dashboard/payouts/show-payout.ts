import { z } from 'zod';
import { findPayoutObstacle } from '../../../db/payouts/find-payout';
import { listPayoutDeliveries } from '../../../db/webhooks/timeline-deliveries';
import type { MemberPayoutAction } from '../../../domain/payout-actions';
import { isResting, type PayoutStatus } from '../../../domain/payout-transitions';
import { listPayoutApprovers, listPayoutLines, type PayoutDetails } from '../../../services/payouts/payouts';
import { memberPage, type MemberVisit } from '../../page/page-route';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantView, pageResponse, type MerchantView } from '../merchant-view';
import type { OfferedAction } from '../payments/payment-page';
import { findOwnPayout } from './find-own-payout';
import { renderPayoutPage } from './payout-page';
import { findActingMember, NAMED_APPROVERS, payoutActionRejection, payoutSentence } from './payout-state';
import { PAYOUT_TEXTS } from './payout-texts';
import { payoutTimelineEntries } from './payout-timeline';

/** Each line reads four or five buffers of its payment; a page has 200. */
const LINES_PER_PAGE = 15;

/** What the user has done just before, by the code in the address. Others can send the address: the status decides. */
const DONE = ['requested', 'approved', 'cancelled'] as const;
const STATUSES_AFTER: Readonly<Record<(typeof DONE)[number], readonly PayoutStatus[]>> = {
  requested: ['requested', 'approved', 'submitted'],
  approved: ['approved', 'submitted'],
  cancelled: ['cancelled'],
};

const payoutSchema = z.object({
  done: z.enum(DONE).optional().catch(undefined),
  after: z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number)
    .optional()
    .catch(undefined),
});

/** One payout: its status in a sentence, its timeline, and what it pays. */
export const showPayoutPage = memberPage(
  { area: 'payouts', level: 'view' },
  {
    method: 'get',
    path: '/m/:code/payouts/:ref',
    fields: payoutSchema,
    async handler(dependencies: Pick<DashboardDependencies, 'db' | 'environment'>, visit, query) {
      const view = merchantView(dependencies, visit);
      const { db } = dependencies;
      const { merchantId } = visit.member;
      const { done, after } = query.ok ? query.values : {};
      const payout = await findOwnPayout(dependencies, visit);
      const { id, status } = payout;
      const linesAfter = { after: after ?? 0, limit: LINES_PER_PAGE + 1 };
      const [found, deliveries, obstacle, approvers, offer] = await Promise.all([
        listPayoutLines(db, merchantId, id, linesAfter),
        listPayoutDeliveries(db, merchantId, id),
        status === 'approved' ? findPayoutObstacle(db, id, visit.now) : undefined,
        listPayoutApprovers(db, payout, NAMED_APPROVERS + 1),
        offerActions(dependencies, view, visit, payout),
      ]);
      const lines = found.slice(0, LINES_PER_PAGE);
      const { actions, isApprover } = offer;
      const page = {
        view,
        payout,
        isOpen: !isResting(status) && after === undefined,
        done: done !== undefined && STATUSES_AFTER[done].includes(status) ? done : null,
        sentence: payoutSentence(view, payout, { obstacle, isApprover, approvers }),
        actions,
        entries: payoutTimelineEntries(view, payout, deliveries),
        lines,
        isFirstPage: after === undefined,
        moreAfter: found.length > LINES_PER_PAGE ? (lines.at(-1)?.postingId ?? null) : null,
      };
      return pageResponse(renderPayoutPage(page));
    },
  },
);

interface Offer {
  readonly actions: readonly OfferedAction[];
  /** Whether the member can approve it. */
  readonly isApprover: boolean;
}

/** What concerns the payout now, possible or not. A payout that its workflow approves needs no approval. */
async function offerActions(
  dependencies: Pick<DashboardDependencies, 'db'>,
  view: MerchantView,
  visit: MemberVisit,
  payout: PayoutDetails,
): Promise<Offer> {
  const { detail } = PAYOUT_TEXTS[view.locale.language];
  const { status, referenceId, approvalKind } = payout;
  if (status !== 'requested' && status !== 'approved') return { actions: [], isApprover: false };
  const acting = await findActingMember(dependencies, visit, payout);
  const offer = (action: MemberPayoutAction): OfferedAction => ({
    label: detail[action],
    href: view.paths.payoutAction(referenceId, action),
    rejection: payoutActionRejection(view, action, payout, acting),
  });
  const cancel = offer('cancel');
  if (status !== 'requested' || approvalKind === 'none') return { actions: [cancel], isApprover: false };
  const approve: OfferedAction = { ...offer('approve'), tone: 'primary' };
  return { actions: [approve, cancel], isApprover: approve.rejection === null };
}
