import type { Request } from 'express';
import { z } from 'zod';
import type { ApiErrorCode } from '../../domain/errors';
import type { RequiredScope } from '../../domain/key-access';
import { snakeCaseKeys } from '../../lib/snake-case';
import { cancelPayment } from '../../services/payments/actions/cancel-payment';
import { failPayment } from '../../services/payments/actions/fail-payment';
import { performPaymentAction, type OperatorPaymentOperation } from '../../services/payments/actions/perform-action';
import { refundPayment } from '../../services/payments/actions/refund-payment';
import { RESOLVE_REFUND } from '../../services/payments/actions/resolve-refund';
import { retryRefund } from '../../services/payments/actions/retry-refund';
import { settlePayment } from '../../services/payments/actions/settle-payment';
import type { ApiDependencies } from '../dependencies';
import { operatorEndpoint, type OperatorEndpoint } from '../endpoint';
import { mapErrors, noteSchema, parseActionBody, paymentInPath } from './operator-request';

const resolutionSchema = noteSchema.extend({
  as: z.enum(['refunded', 'paid'], { error: 'must be refunded or paid' }),
});

export const settleByOperator = paymentActionEndpoint(
  { path: 'settle', scope: settlePayment.scope, code: 'payment_cancel_failed' },
  withNote(settlePayment),
);

export const failByOperator = paymentActionEndpoint(
  { path: 'fail', scope: failPayment.scope, code: 'payment_cancel_failed' },
  withNote(failPayment),
);

export const cancelByOperator = paymentActionEndpoint(
  { path: 'cancel', scope: cancelPayment.scope, code: 'payment_cancel_failed' },
  withNote(cancelPayment),
);

export const refundByOperator = paymentActionEndpoint(
  { path: 'refund', scope: refundPayment.scope, code: 'payment_refund_failed' },
  withNote(refundPayment),
);

export const retryRefundByOperator = paymentActionEndpoint(
  { path: 'refund/retry', scope: retryRefund.scope, code: 'payment_refund_failed' },
  withNote(retryRefund),
);

export const resolveRefund = paymentActionEndpoint(
  { path: 'refund/resolve', scope: RESOLVE_REFUND.paid.scope, code: 'payment_refund_failed' },
  (request) => {
    const { as, note } = parseActionBody(request, resolutionSchema);
    return { operation: RESOLVE_REFUND[as], note };
  },
);

/** For an action whose body is only a note. */
function withNote(operation: OperatorPaymentOperation) {
  return (request: Request) => ({ operation, ...parseActionBody(request, noteSchema) });
}

interface ActionRoute {
  readonly path: string;
  readonly scope: RequiredScope;
  /** The code of a rejection. */
  readonly code: ApiErrorCode;
}

function paymentActionEndpoint(
  { path, scope, code }: ActionRoute,
  read: (request: Request) => { readonly operation: OperatorPaymentOperation; readonly note: string },
): OperatorEndpoint {
  return operatorEndpoint({
    method: 'post',
    path: `/operator/payments/:id/${path}`,
    scope,
    readsBody: true,
    async handler(
      dependencies: Pick<ApiDependencies, 'db' | 'log' | 'workflows' | 'paymentMutex'>,
      request,
      { actor },
    ) {
      const { operation, note } = read(request);
      return mapErrors(code, async () => {
        const payment = await performPaymentAction(dependencies, actor, {
          operation,
          payment: paymentInPath(request),
          note,
        });
        return { status: 200, body: snakeCaseKeys({ payment }) };
      });
    },
  });
}
