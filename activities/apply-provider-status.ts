import type { PaymentStep, StepResult } from '../src/domain/payment-step';
import { formatRupiah } from '../src/domain/money';
import { expiryOf } from '../src/domain/payment';
import { openException } from '../src/db/exceptions';
import type { TransitionContext } from '../src/db/transitions/apply-transition';
import { cancelPayment } from '../src/db/transitions/cancel-payment';
import { denyPayment } from '../src/db/transitions/deny-payment';
import { expirePayment } from '../src/db/transitions/expire-payment';
import { payPayment } from '../src/db/transitions/pay-payment';
import { readState } from '../src/db/transitions/payment-state';
import type { ProviderPayment } from '../src/providers/provider';
import { resultOf, stepOf } from './steps';

/**
 * Records what the provider says of a pending payment. Only this makes a payment `paid`, `expired` or `failed` while
 * it waits for its customer; what does not fit is left for a person to look at.
 */
export async function applyProviderStatus(
  context: TransitionContext,
  request: PaymentStep,
  said: ProviderPayment,
): Promise<StepResult> {
  const { terms, state, atMs, createdAtMs } = request;
  const step = stepOf(request);
  if (said.totalRupiah !== terms.totalRupiah) {
    const amounts = `${formatRupiah(said.totalRupiah)} instead of ${formatRupiah(terms.totalRupiah)}`;
    const detail = `The provider has an order over ${amounts}.`;
    await openException(context.db, {
      kind: 'wrong_amount',
      referenceId: terms.referenceId,
      providerAccountId: terms.providerAccountId,
      paymentId: terms.paymentId,
      amountRupiah: said.totalRupiah,
      detail,
    });
    return { state, attention: detail };
  }
  switch (said.status) {
    case 'pending':
      return { state };
    case 'paid':
      return resultOf(await payPayment(context, step, said.paidAt ?? step.at));
    case 'expired':
      // Its clock may run ahead of ours: expiry is ours to begin, at the deadline that the merchant knows.
      if (atMs < expiryOf(createdAtMs, terms)) return { state };
      return resultOf(await expirePayment(context, step));
    case 'denied':
      return resultOf(await denyPayment(context, step, 'the provider denied the payment'));
    case 'cancelled':
      return resultOf(await cancelPayment(context, step));
    case 'refunded': {
      // Paid first, then refunded at the provider's own: that it was paid may be a step that only the database knows.
      const known = await readState(context.db, terms.paymentId);
      if (known.version > state.version) return resultOf({ outcome: 'superseded', state: known });
      return { state, attention: `The provider says "${said.status}", which was not asked for here.` };
    }
  }
}
