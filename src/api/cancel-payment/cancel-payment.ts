import { findPayment, type PaymentKey } from '../../db/reads/find-payment';
import type { PaymentRow } from '../../db/reads/payment-row';
import { PROVIDER_CAPABILITIES } from '../../domain/provider-capabilities';
import { ApiError } from '../api-error';
import type { MerchantEndpoint } from '../endpoint';
import { parsePathId } from '../path-id';
import { cancelledPaymentView } from '../payment-views';
import type { ApiServices } from '../services';

/**
 * `POST /payments/:id/cancel` and its alias. Requests for one payment take turns, and each looks again before it asks:
 * of twenty at once one cancels, and the others are told so without a word to Temporal, which takes ten at a time.
 */
export const cancelPayment: MerchantEndpoint = async (services, request, { merchantId }) => {
  const key = parsePathId(String(request.params.id));
  const payment = key && (await findPayment(services.db, merchantId, key));
  if (!payment) throw new ApiError('not_found', 'There is no such transaction.');
  const id: PaymentKey = { id: payment.id };
  const cancelled = await services.turns.take(payment.id, async () => {
    const ended = await cancel(services, (await findPayment(services.db, merchantId, id)) ?? payment);
    const now = await findPayment(services.db, merchantId, id);
    if (ended === 'no_workflow' && now) requireCancellable(now);
    return now;
  });
  if (cancelled?.status !== 'cancelled') throw new Error(`Payment ${payment.id} was to be cancelled, and is not`);
  return { status: 200, body: { payment: cancelledPaymentView(cancelled) } };
};

async function cancel({ engine }: ApiServices, payment: PaymentRow): Promise<'done' | 'no_workflow'> {
  requireCancellable(payment);
  const ended = await engine.cancelPayment(payment.id);
  if (ended.outcome === 'refused') throw new ApiError('payment_cancel_failed', ended.reason);
  return ended.outcome;
}

function requireCancellable(payment: PaymentRow): void {
  if (!PROVIDER_CAPABILITIES[payment.provider].cancel) {
    throw new ApiError('payment_cancel_failed', `${payment.provider} does not support cancelling.`);
  }
  if (payment.status !== 'pending') {
    throw new ApiError('payment_cancel_failed', `A transaction that is "${payment.status}" cannot be cancelled.`);
  }
}
