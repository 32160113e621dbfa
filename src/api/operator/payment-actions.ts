import type { Request } from 'express';
import { z } from 'zod';
import type { ApiErrorCode } from '../../domain/errors';
import { performPaymentAction, type PaymentActionName } from '../../operator/payment-actions';
import { findPayment } from '../../operator/find-payment';
import { snakeCaseKeys } from '../../snake-case';
import type { OperatorEndpoint } from '../endpoint';
import { noteSchema, paymentInPath, parseActionBody, mapErrors } from './operator-request';

const resolutionSchema = noteSchema.extend({
  as: z.enum(['refunded', 'paid'], { error: 'must be refunded or paid' }),
});

/** `POST /operator/payments/:id/settle` */
export const settlePayment = asking('payment_cancel_failed', (request) => ({
  action: 'payment.settle',
  ...parseActionBody(request, noteSchema),
}));

/** `POST /operator/payments/:id/fail` */
export const failPayment = asking('payment_cancel_failed', (request) => ({
  action: 'payment.fail',
  ...parseActionBody(request, noteSchema),
}));

/** `POST /operator/payments/:id/refund/retry` */
export const retryRefund = asking('payment_refund_failed', (request) => ({
  action: 'refund.retry',
  ...parseActionBody(request, noteSchema),
}));

/** `POST /operator/payments/:id/refund/resolve` */
export const resolveRefund = asking('payment_refund_failed', (request) => {
  const { as, note } = parseActionBody(request, resolutionSchema);
  return { action: `refund.resolve_as_${as}`, note };
});

/**
 * Requests for one payment take turns, as those of merchants do.
 * @param code of a refusal
 */
function asking(
  code: ApiErrorCode,
  read: (request: Request) => { readonly action: PaymentActionName; readonly note: string },
): OperatorEndpoint {
  return async ({ db, workflows, mutex }, request, { actor }) => {
    const { action, note } = read(request);
    return mapErrors(code, async () => {
      const { id } = await findPayment(db, paymentInPath(request));
      const payment = await mutex.runExclusive(id, (deadlineAtMs) =>
        performPaymentAction({ db, workflows: workflows.withDeadline(deadlineAtMs), by: actor }, action, id, note),
      );
      return { status: 200, body: snakeCaseKeys({ payment }) };
    });
  };
}
