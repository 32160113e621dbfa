import { findAuthority, type Authority } from '../../../db/identity/members';
import type { FoundObstacle } from '../../../db/payouts/find-payout';
import { actorText } from '../../../domain/actor';
import { findMemberRejection, type MemberPayoutAction } from '../../../domain/payout-actions';
import type { PayoutRejection } from '../../../domain/payout-rejections';
import type { PayoutDetails } from '../../../services/payouts/payouts';
import type { MemberVisit } from '../../page/page-route';
import { formatNames, formatTime } from '../../ui/format';
import type { DashboardDependencies } from '../dashboard-dependencies';
import { merchantRejection, type MerchantView } from '../merchant-view';
import { actingUser } from '../user-identity';
import { ACTION_REJECTION_TEXTS } from './action-rejection-texts';
import { PAYOUT_TEXTS } from './payout-texts';
import { describeRejection } from './rejection-texts';

/** What the status of a payout does not say. */
interface PayoutCircumstances {
  /** Why an approved payout is not sent yet. */
  readonly obstacle: FoundObstacle | undefined;
  /** Whether this member can approve it. */
  readonly isApprover: boolean;
  /** The names of the members who can: at most one more than are shown. */
  readonly approvers: readonly string[];
}

/** The status of a payout in a sentence: what happens next, or how it ended. */
export function payoutSentence(
  view: MerchantView,
  payout: PayoutDetails,
  { obstacle, isApprover, approvers }: PayoutCircumstances,
): string {
  const { detail } = PAYOUT_TEXTS[view.locale.language];
  switch (payout.status) {
    case 'requested':
      return isApprover ? detail.waitsForYou : waitText(view, payout, approvers);
    case 'approved':
      return obstacle ? `${detail.keptBack} ${describeObstacle(view, obstacle)}` : detail.sends;
    case 'submitted':
      return detail.submitted;
    case 'completed':
      return detail.completed;
    case 'failed':
      return [detail.failed, payout.failureKind && detail.failures[payout.failureKind], detail.available]
        .filter(Boolean)
        .join(' ');
    case 'cancelled':
      return `${detail.cancelled} ${detail.available}`;
    case 'returned':
      return `${detail.returned} ${detail.amountAvailable}`;
  }
}

/** More approvers are not named. */
export const NAMED_APPROVERS = 3;

function waitText({ locale }: MerchantView, { approvalKind }: PayoutDetails, approvers: readonly string[]): string {
  const { detail } = PAYOUT_TEXTS[locale.language];
  if (approvers.length === 0) return detail.waits[approvalKind];
  const named = approvers.slice(0, NAMED_APPROVERS);
  const others = approvers.length > NAMED_APPROVERS ? [detail.otherMember] : [];
  return detail.waitsFor(formatNames([...named, ...others], locale.language, 'disjunction'));
}

/** The page of a new payout has the same text. */
function describeObstacle({ locale }: MerchantView, { obstacle, until }: FoundObstacle): string {
  const rejection: PayoutRejection =
    obstacle === 'cooling_down' ? { code: obstacle, usableFrom: until ?? new Date(0) } : { code: obstacle };
  return describeRejection(rejection, locale.language, (at) => formatTime(at, 'full', locale));
}

const LEVELS = { approve: 'authorise', cancel: 'manage' } as const satisfies Record<MemberPayoutAction, string>;

interface ActingMember extends Authority {
  readonly userId: string;
}

/** The member of the visit, as `payoutActionRejection` needs them for this payout. */
export async function findActingMember(
  { db }: Pick<DashboardDependencies, 'db'>,
  visit: MemberVisit,
  { requestedBy }: PayoutDetails,
): Promise<ActingMember> {
  const user = actingUser(visit);
  return { userId: user.userId, ...(await findAuthority(db, user, requestedBy)) };
}

/**
 * Why the member cannot request the action, in the member's language; null if they can. Of the role, the merchant and
 * the payout, in this order. A merchant that is suspended can still cancel. Button and form have the same reason.
 */
export function payoutActionRejection(
  view: MerchantView,
  action: MemberPayoutAction,
  payout: PayoutDetails,
  { userId, ...authority }: ActingMember,
): string | null {
  const name = actorText({ kind: 'merchant_user', id: userId });
  const rejection = findMemberRejection(action, payout, { name, ...authority });
  return (
    view.rightRejection('payouts', LEVELS[action]) ??
    (action === 'approve' ? merchantRejection(view) : null) ??
    (rejection && ACTION_REJECTION_TEXTS[view.locale.language][rejection])
  );
}
