import type { PaymentTimeline } from '../../../db/payments/find-payment-timeline';
import type { PaymentRow } from '../../../db/payments/payment-row';
import type { MerchantView } from '../merchant-view';

/** What happens next to a payment, in words. */
export interface NextStep {
  readonly text: string;
  /** When the step comes; null if no time is known. */
  readonly at: Date | null;
  /** Counted down until then, instead of the time itself. */
  readonly isCountdown: boolean;
}

export function nextStep(view: MerchantView, payment: PaymentRow, timeline: PaymentTimeline): NextStep {
  const { next, latePayments } = view.texts.detail;
  const say = (text: string): NextStep => ({ text, at: null, isCountdown: false });
  if (timeline.latePayment) return say(latePayments[timeline.latePayment.status]);
  switch (payment.status) {
    case 'created':
      return say(next.created);
    case 'pending':
      return payment.expiresAt.getTime() > view.nowMs
        ? { text: next.pending, at: payment.expiresAt, isCountdown: false }
        : say(next.checking);
    case 'paid':
      return settlementStep(view, payment);
    case 'refund_processing':
      return refundStep(view, timeline);
    case 'refund_failed':
      return say(next.refundFailed);
    case 'settled':
    case 'refunded':
    case 'expired':
    case 'failed':
    case 'cancelled':
      return say(next[payment.status]);
  }
}

function settlementStep(view: MerchantView, { settlementKind, settlementDueAt }: PaymentRow): NextStep {
  const { next } = view.texts.detail;
  if (view.merchantState === 'on_hold') return { text: next.onHold, at: null, isCountdown: false };
  if (settlementKind === 'manual') return { text: next.settlesManually, at: null, isCountdown: false };
  return { text: next.settles, at: settlementDueAt, isCountdown: false };
}

function refundStep({ texts, nowMs }: MerchantView, { refunds }: PaymentTimeline): NextStep {
  const { next } = texts.detail;
  const refund = refunds.at(-1);
  if (refund?.status !== 'held' || refund.submitAtMs <= nowMs) {
    return { text: next.refundSubmitted, at: null, isCountdown: false };
  }
  return { text: next.refundHeld, at: new Date(refund.submitAtMs), isCountdown: true };
}
