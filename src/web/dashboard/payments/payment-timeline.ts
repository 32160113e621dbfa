import type {
  PaymentTimeline,
  TimelineEntryLine,
  TimelineTransition,
} from '../../../db/payments/find-payment-timeline';
import type { PaymentRow } from '../../../db/payments/payment-row';
import type { TimelineDelivery } from '../../../db/webhooks/timeline-deliveries';
import { parseActor } from '../../../domain/actor';
import { formatRupiah } from '../../../domain/money';
import { PAYMENT_TRANSITIONS, type TransitionName, type TransitionRule } from '../../../domain/payment-transitions';
import { formatTime } from '../../ui/format';
import type { MerchantView } from '../merchant-view';
import type { TimedEntry } from './payment-page';
import { PAYMENT_TEXTS } from './payment-texts';

const TONES: Readonly<Partial<Record<TransitionName, TimedEntry['tone']>>> = {
  pay: 'good',
  settle: 'good',
  fail: 'bad',
  fail_creation: 'bad',
  fail_refund: 'bad',
};

/**
 * What happened to the payment, oldest first: transitions, webhooks by their first attempt, a late payment. At the same
 * time, a transition stands before the webhooks that it caused, and before the next transition.
 */
export function timelineEntries(view: MerchantView, payment: PaymentRow, timeline: PaymentTimeline): TimedEntry[] {
  return entriesByVersion(view, payment, timeline).toSorted((one, other) => one.atMs - other.atMs);
}

function entriesByVersion(view: MerchantView, payment: PaymentRow, timeline: PaymentTimeline): TimedEntry[] {
  const { transitions, deliveries, latePayment } = timeline;
  const refundNumbers = numberRefunds(transitions);
  const entries = transitions.flatMap((transition) => {
    const caused = deliveries.filter(({ version }) => version === transition.version);
    const refund = refundNumbers.get(transition.version) ?? null;
    return withDeliveries(view, transitionEntry(view, transition, payment, timeline, refund), caused);
  });
  if (!latePayment) return entries;
  const amount = formatRupiah(latePayment.totalRupiah);
  const late: TimedEntry = {
    key: 'late-payment',
    tone: 'bad',
    title: view.texts.detail.latePaymentOf(amount),
    note: view.texts.detail.latePayments[latePayment.status],
    atMs: latePayment.receivedAtMs,
  };
  return [...entries, late];
}

/** The number of the refund that each transition belongs to, by the version of the transition. */
function numberRefunds(transitions: readonly TimelineTransition[]): ReadonlyMap<number, number> {
  const numbers = new Map<number, number>();
  let number = 0;
  for (const { version, name } of transitions) {
    const { refund }: TransitionRule = PAYMENT_TRANSITIONS[name];
    if (refund?.from === null) number += 1;
    if (refund !== undefined || name === 'resolve_refund_as_paid') numbers.set(version, number);
  }
  return numbers;
}

function transitionEntry(
  view: MerchantView,
  transition: TimelineTransition,
  { failureReason }: PaymentRow,
  { refunds, ledger }: PaymentTimeline,
  refundNumber: number | null,
): TimedEntry {
  const { version, name, atMs } = transition;
  const lines = ledger.filter((line) => line.version === version).map((line) => ledgerText(view, line));
  const reason = name === 'fail_creation' || name === 'fail' ? failureReason : null;
  const refund = refunds.find(({ number }) => number === refundNumber);
  const refundReason = name === 'fail_refund' ? (refund?.failureReason ?? null) : null;
  const { refundNumber: numbered } = PAYMENT_TEXTS[view.locale.language];
  const refundText = refundNumber === null ? null : numbered(refundNumber);
  const note = [refundText, actorText(view, transition), ...lines, reason, refundReason].filter(
    (part) => part !== null,
  );
  return {
    key: `transition-${version}`,
    tone: TONES[name] ?? 'plain',
    title: view.texts.transitions[name],
    note: note.length === 0 ? null : note.join(' · '),
    atMs,
  };
}

/** Who did it; null for what Lunas does by itself. */
function actorText({ texts }: MerchantView, { actor, memberName }: TimelineTransition): string | null {
  const { by } = texts.detail;
  switch (parseActor(actor)?.kind) {
    case 'merchant_user':
      return memberName ?? by.formerMember;
    case 'api_key':
      return by.key;
    case 'operator':
    case 'os_user':
      return by.lunas;
    default:
      return null;
  }
}

/** The merchant's accounts are liabilities: a credit increases them. No line of the text ends within its amount. */
function ledgerText({ texts: { detail } }: MerchantView, { side, account, amountRupiah }: TimelineEntryLine): string {
  const amount = `${side === 'credit' ? '+' : '−'}${formatRupiah(amountRupiah).replace(' ', '\u00A0')}`;
  return account === 'merchant_pending' ? detail.pending(amount) : detail.available(amount);
}

/**
 * A step, and the webhooks that it caused. Those that were delivered are among its details; the others are entries of
 * their own. The timeline of a payout has the same.
 */
export function withDeliveries(
  view: MerchantView,
  step: TimedEntry,
  caused: readonly TimelineDelivery[],
): readonly TimedEntry[] {
  const delivered = caused.filter(({ status }) => status === 'delivered');
  const others = caused.filter(({ status }) => status !== 'delivered');
  const lines = delivered.map((delivery) =>
    [`${delivery.event} · ${delivery.origin}`, ...attemptLines(view, delivery)].join(' · '),
  );
  const summary = view.texts.detail.webhooksDelivered(lines.length);
  return [
    lines.length === 0 ? step : { ...step, details: { summary, lines } },
    ...others.map((delivery) => deliveryEntry(view, delivery, step.atMs)),
  ];
}

function attemptLines({ texts: { detail }, locale }: MerchantView, { attempts }: TimelineDelivery): string[] {
  return attempts.map((attempt) => {
    const result = attempt.statusCode === null ? detail.noResponse : String(attempt.statusCode);
    return detail.attempt(formatTime(new Date(attempt.atMs), 'full', locale), result, attempt.durationMs);
  });
}

function deliveryEntry(view: MerchantView, delivery: TimelineDelivery, atMs: number): TimedEntry {
  const { id, event, origin, status, attempts } = delivery;
  const { detail } = view.texts;
  const lines = attemptLines(view, delivery);
  return {
    key: `delivery-${id}`,
    tone: 'minor',
    title: detail.webhook(event),
    note: `${origin} · ${detail.deliveryStates[status]}`,
    atMs: attempts[0]?.atMs ?? atMs,
    ...(lines.length > 0 && { details: { summary: detail.attempts(lines.length), lines } }),
  };
}
