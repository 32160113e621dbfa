import type { Request } from 'express';
import { z } from 'zod';
import type { ApiErrorCode } from '../../domain/errors';
import type { OperatorScope } from '../../domain/key-access';
import { RESOLVE_ACTIONS, type OperatorPaymentAction } from '../../domain/payment-actions';
import { snakeCaseKeys } from '../../lib/snake-case';
import { findPayment } from '../../services/payments/find-payment';
import { performPaymentAction } from '../../services/payments/payment-actions';
import type { ApiDependencies } from '../dependencies';
import { operatorEndpoint, type OperatorEndpoint } from '../endpoint';
import { mapErrors, noteSchema, parseActionBody, paymentInPath } from './operator-request';

const resolutionSchema = noteSchema.extend({
  as: z.enum(['refunded', 'paid'], { error: 'must be refunded or paid' }),
});

export const settlePayment = paymentActionEndpoint(
  { path: 'settle', scope: 'settle', code: 'payment_cancel_failed' },
  withNote('settle'),
);

export const failPayment = paymentActionEndpoint(
  { path: 'fail', scope: 'fail', code: 'payment_cancel_failed' },
  withNote('fail'),
);

export const cancelByOperator = paymentActionEndpoint(
  { path: 'cancel', scope: 'fail', code: 'payment_cancel_failed' },
  withNote('cancel'),
);

export const refundByOperator = paymentActionEndpoint(
  { path: 'refund', scope: 'refund', code: 'payment_refund_failed' },
  withNote('refund'),
);

export const retryRefund = paymentActionEndpoint(
  { path: 'refund/retry', scope: 'refund', code: 'payment_refund_failed' },
  withNote('retryRefund'),
);

export const resolveRefund = paymentActionEndpoint(
  { path: 'refund/resolve', scope: 'resolve', code: 'payment_refund_failed' },
  (request) => {
    const { as, note } = parseActionBody(request, resolutionSchema);
    return { action: RESOLVE_ACTIONS[as], note };
  },
);

/** For an action whose body is only a note. */
function withNote(action: OperatorPaymentAction) {
  return (request: Request) => ({ action, ...parseActionBody(request, noteSchema) });
}

interface ActionRoute {
  readonly path: string;
  readonly scope: OperatorScope;
  /** The code of a rejection. */
  readonly code: ApiErrorCode;
}

/** Requests for one payment are executed one after the other, those of merchants included. */
function paymentActionEndpoint(
  { path, scope, code }: ActionRoute,
  read: (request: Request) => { readonly action: OperatorPaymentAction; readonly note: string },
): OperatorEndpoint {
  return operatorEndpoint({
    method: 'post',
    path: `/operator/payments/:id/${path}`,
    scope,
    readsBody: true,
    async handler(
      { db, log, workflows, paymentMutex }: Pick<ApiDependencies, 'db' | 'log' | 'workflows' | 'paymentMutex'>,
      request,
      { actor },
    ) {
      const { action, note } = read(request);
      return mapErrors(code, async () => {
        const { id } = await findPayment(db, paymentInPath(request));
        const payment = await paymentMutex.runExclusive(id, (deadlineAtMs) => {
          const dependencies = { db, log, workflows: workflows.withDeadline(deadlineAtMs) };
          return performPaymentAction(dependencies, actor, { action, payment: id, note });
        });
        return { status: 200, body: snakeCaseKeys({ payment }) };
      });
    },
  });
}
