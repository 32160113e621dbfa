import type { FoundObstacle } from '../../../db/payouts/find-payout';
import type { PayoutRejection } from '../../../domain/payout-rejections';
import type { PayoutDetails } from '../../../services/payouts/payouts';
import { formatNames, formatTime } from '../../ui/format';
import type { MerchantView } from '../merchant-view';
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
