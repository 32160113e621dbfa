import { z } from 'zod';
import { findPayoutObstacle } from '../../../db/payouts/find-payout';
import { listPayoutDeliveries } from '../../../db/webhooks/timeline-deliveries';
import { isResting, type PayoutStatus } from '../../../domain/payout-transitions';
import { approvePayout } from '../../../services/payouts/approve-payout';
import { cancelPayout } from '../../../services/payouts/cancel-payout';
import { listPayoutApprovers, listPayoutLines, type PayoutDetails } from '../../../services/payouts/payouts';
import { memberPage, type MemberVisit } from '../../page/page-route';
import type { OfferedAction } from '../../ui/offered-action';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { memberText } from '../form-pages';
import { merchantView, pageResponse, type MerchantView } from '../merchant-view';
import { memberActor } from '../user-identity';
import { actRejections, approveRejections } from './action-rejection-texts';
import { findOwnPayout } from './find-own-payout';
import { renderPayoutPage } from './payout-page';
import { PAYOUT_ACTION_PATHS, payoutPagePath, type MemberPayoutAction } from './payout-paths';
import { NAMED_APPROVERS, payoutSentence } from './payout-state';
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
    path: payoutPagePath.pattern,
    fields: payoutSchema,
    async handler(dependencies: DashboardDependencies, visit, query) {
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
  dependencies: DashboardDependencies,
  view: MerchantView,
  visit: MemberVisit,
  { status, referenceId, approvalKind }: PayoutDetails,
): Promise<Offer> {
  const { detail } = PAYOUT_TEXTS[view.locale.language];
  if (status !== 'requested' && status !== 'approved') return { actions: [], isApprover: false };
  const [by, path] = [memberActor(visit), { payout: referenceId }];
  const hrefOf = (action: MemberPayoutAction) => PAYOUT_ACTION_PATHS[action].to({ code: view.code, ref: referenceId });
  const { rejection } = await cancelPayout.preview(dependencies, by, path);
  const cancel = {
    label: detail.cancel,
    href: hrefOf('cancel'),
    rejection: rejection && memberText(view, actRejections(view), rejection),
  };
  if (status !== 'requested' || approvalKind === 'none') return { actions: [cancel], isApprover: false };
  const { rejection: notApproved } = await approvePayout.preview(dependencies, by, path);
  const approve = {
    label: detail.approve,
    href: hrefOf('approve'),
    rejection: notApproved && memberText(view, approveRejections(view), notApproved),
    tone: 'primary',
  } as const;
  return { actions: [approve, cancel], isApprover: notApproved === null };
}
