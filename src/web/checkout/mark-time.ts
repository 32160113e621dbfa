import type { Language } from '../../domain/sign-in';
import { WIB } from '../ui/format';
import { liveTime } from '../ui/live-mark';
import { checkoutStateOf, type CheckoutPayment, type MarkTime } from './checkout-state';

/** How long after its payment a page has the mark that moves: while the customer shows it. */
const MARK_MS = 600_000;

/** Null: the payment is not paid, or not just before. */
export function markTimeAt(payment: CheckoutPayment, language: Language, nowMs: number): MarkTime | null {
  if (payment.paidAt === null || checkoutStateOf(payment, nowMs) !== 'paid') return null;
  const endsMs = payment.paidAt.getTime() + MARK_MS - nowMs;
  return endsMs <= 0 ? null : { time: liveTime(nowMs, { language, zone: WIB }), endsMs: String(endsMs) };
}
