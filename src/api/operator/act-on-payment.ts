import type { Request } from 'express';
import { z } from 'zod';
import type { ApiErrorCode } from '../../domain/errors';
import { actOnPayment, type PaymentActionName } from '../../operator/act-on-payment';
import { findPayment } from '../../operator/find-payment';
import { snakeCased } from '../../operator/snake-cased';
import type { OperatorEndpoint } from '../endpoint';
import { noteSchema, paymentInPath, readAction, refusingAs } from './operator-request';

const resolutionSchema = noteSchema.extend({
  as: z.enum(['refunded', 'paid'], { error: 'must be refunded or paid' }),
});

/** `POST /operator/payments/:id/settle` */
export const settlePayment = asking('payment_cancel_failed', (request) => ({
  action: 'payment.settle',
  ...readAction(request, noteSchema),
}));

/** `POST /operator/payments/:id/fail` */
export const failPayment = asking('payment_cancel_failed', (request) => ({
  action: 'payment.fail',
  ...readAction(request, noteSchema),
}));

/** `POST /operator/payments/:id/refund/retry` */
export const retryRefund = asking('payment_refund_failed', (request) => ({
  action: 'refund.retry',
  ...readAction(request, noteSchema),
}));

/** `POST /operator/payments/:id/refund/resolve` */
export const resolveRefund = asking('payment_refund_failed', (request) => {
  const { as, note } = readAction(request, resolutionSchema);
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
  return async ({ db, engine, turns }, request, { actor }) => {
    const { action, note } = read(request);
    return refusingAs(code, async () => {
      const { id } = await findPayment(db, paymentInPath(request));
      const payment = await turns.take(id, (endsAtMs) =>
        actOnPayment({ db, engine: engine.endingAt(endsAtMs), by: actor }, action, id, note),
      );
      return { status: 200, body: snakeCased({ payment }) };
    });
  };
}
