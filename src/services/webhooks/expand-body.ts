import { z } from 'zod';
import type { RefundPart } from '../../db/payments/payment-parts';
import type { WebhookPayment } from '../../db/webhooks/find-webhook-payments';
import { PAYMENT_TRANSITIONS, type TransitionRule } from '../../domain/payment-transitions';
import type { RefundStatus } from '../../domain/refund';
import type { ExpandBody } from '../../webhooks/outbox';
import { expand, type RenderDependencies } from '../payments/expand';

/** What each body of a payment or a late payment has of its event. */
const eventSchema = z.object({ event: z.string(), updated_at: z.iso.datetime() });

/**
 * Adds to the body of a delivery what its endpoint wants, as it was at the event. This is derived for each attempt from
 * what never changes again: so each attempt has the same body, and no row repeats personal data. Only what was erased
 * since is null.
 */
export function bodyExpander(dependencies: RenderDependencies): ExpandBody {
  return async (delivery) => {
    const { payment, body } = delivery;
    if (payment === undefined) return delivery;
    const contract: object = JSON.parse(body);
    const { event, updated_at: at } = eventSchema.parse(contract);
    const members = await expand(dependencies, paymentAt(payment, { event, atMs: Date.parse(at) }), delivery.expand);
    return { ...delivery, body: JSON.stringify({ ...contract, ...members }) };
  };
}

interface EventTime {
  readonly event: string;
  readonly atMs: number;
}

/** The payment as it was at the event. QR, due date and reason of a failure are written once. */
function paymentAt(payment: WebhookPayment, { event, atMs }: EventTime): WebhookPayment {
  const isNew = event === 'payment.created';
  const isUnpaid = isNew || event === 'payment.pending';
  return {
    ...payment,
    qrisPayload: isNew ? null : payment.qrisPayload,
    settlementDueAt: isUnpaid ? null : payment.settlementDueAt,
    failureReason: isUnpaid ? null : payment.failureReason,
    settledAt: event === 'payment.settled' ? payment.settledAt : null,
    refund: refundAt(payment, atMs),
    latePayment: latePaymentAt(payment, { event, atMs }),
  };
}

/** The newest refund at a time. Its row has only its last status, so it follows from the transitions until then. */
function refundAt({ history, refunds }: WebhookPayment, atMs: number): RefundPart | null {
  const changes = history
    .filter((transition) => transition.atMs <= atMs)
    .flatMap((transition) => {
      const { refund }: TransitionRule = PAYMENT_TRANSITIONS[transition.name];
      return refund ? [{ ...refund, atMs: transition.atMs }] : [];
    });
  const row = refunds[changes.filter(({ from }) => from === null).length - 1];
  const own = changes.slice(changes.findLastIndex(({ from }) => from === null));
  const last = own.at(-1);
  if (!row || !last) return null;
  const enteredAt = (...statuses: readonly RefundStatus[]) =>
    own.findLast(({ to }) => statuses.includes(to))?.atMs ?? null;
  return {
    ...row,
    status: last.to,
    submittedAtMs: enteredAt('submitted'),
    finishedAtMs: enteredAt('confirmed', 'rejected', 'cancelled'),
    failureReason: enteredAt('rejected') === null ? null : row.failureReason,
  };
}

/** No event of a payment comes after its late payment. */
function latePaymentAt({ latePayment }: WebhookPayment, { event, atMs }: EventTime): WebhookPayment['latePayment'] {
  if (!latePayment || !event.startsWith('late_payment.')) return null;
  return event === 'late_payment.received'
    ? { ...latePayment, status: 'received', finishedAtMs: null }
    : { ...latePayment, status: 'refunded', finishedAtMs: atMs };
}
