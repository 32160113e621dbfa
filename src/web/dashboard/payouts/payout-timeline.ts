import type { PayoutHistoryRow } from '../../../db/payouts/list-payouts';
import type { TimelineDelivery } from '../../../db/webhooks/timeline-deliveries';
import { formatUnbroken } from '../../../domain/money';
import {
  PAYOUT_TRANSITIONS,
  type PayoutAmount,
  type PayoutTransitionName,
  type PayoutTransitionRule,
} from '../../../domain/payout-transitions';
import type { PayoutDetails } from '../../../services/payouts/payouts';
import type { MerchantView } from '../merchant-view';
import type { TimedEntry } from '../payments/payment-page';
import { withDeliveries } from '../payments/payment-timeline';
import { personOf } from './payout-parts';
import { PAYOUT_TEXTS } from './payout-texts';

const TONES: Readonly<Partial<Record<PayoutTransitionName, TimedEntry['tone']>>> = {
  complete: 'good',
  resolve_as_completed: 'good',
  fail: 'bad',
  resolve_as_failed: 'bad',
  return: 'bad',
  resolve_as_returned: 'bad',
};

/** What happened to the payout, oldest first: each transition, and after it the webhooks that it caused. */
export function payoutTimelineEntries(
  view: MerchantView,
  payout: PayoutDetails,
  deliveries: readonly TimelineDelivery[],
): TimedEntry[] {
  return payout.steps
    .flatMap((step) => {
      const caused = deliveries.filter(({ version }) => version === step.version);
      return withDeliveries(view, stepEntry(view, payout, step), caused);
    })
    .toSorted((one, other) => one.atMs - other.atMs);
}

function stepEntry(view: MerchantView, payout: PayoutDetails, step: PayoutHistoryRow): TimedEntry {
  const { detail } = PAYOUT_TEXTS[view.locale.language];
  const { version, name, actor, actorName, occurredAt } = step;
  const isFailure = name === 'fail' && payout.failureKind !== null;
  const note = [
    personOf(view, actor, actorName),
    cancellationText(view, step),
    isFailure && payout.failureKind ? detail.failures[payout.failureKind] : null,
    balanceText(view, name, payout),
  ].filter((part) => part !== null);
  return {
    key: `step-${version}`,
    tone: TONES[name] ?? 'plain',
    title: detail.steps[name],
    note: note.length === 0 ? null : note.join(' · '),
    atMs: occurredAt.getTime(),
  };
}

/** Why the workflow cancelled it; null if a person did. */
function cancellationText({ locale }: MerchantView, { name, actor }: PayoutHistoryRow): string | null {
  const { detail } = PAYOUT_TEXTS[locale.language];
  if (actor !== 'workflow') return null;
  if (name === 'cancel_request') return detail.notApproved;
  return name === 'cancel' ? detail.accountEnded : null;
}

/** How it changed the available balance, which is a liability: a credit increases it. */
function balanceText({ texts }: MerchantView, name: PayoutTransitionName, payout: PayoutDetails): string | null {
  const rule: PayoutTransitionRule = PAYOUT_TRANSITIONS[name];
  const line = rule.posting.find(({ account }) => account === 'merchant_available');
  if (!line) return null;
  const amounts: Readonly<Record<PayoutAmount, number>> = {
    gross: payout.grossRupiah,
    amount: payout.amountRupiah,
    fee: payout.feeRupiah,
  };
  return texts.detail.available(`${line.side === 'credit' ? '+' : '−'}${formatUnbroken(amounts[line.amount])}`);
}
