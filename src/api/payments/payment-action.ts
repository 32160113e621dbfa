import { setTimeout as sleep } from 'node:timers/promises';
import type { Request } from 'express';
import type { PaymentRow } from '../../db/queries/payment-row';
import { toStepActor } from '../../domain/actor';
import type { ApiErrorCode } from '../../domain/errors';
import { rejectionReason, type MerchantPaymentAction } from '../../domain/payment-actions';
import type { PaymentWorkflowClient, RequestOutcome } from '../../temporal/payment-workflow-client';
import { requestFromLost } from '../../services/recovery/restart-payment';
import { ApiError } from '../../http/api-error';
import type { MerchantHandler } from '../endpoint';
import { requirePayment } from './require-payment';

/**
 * Temporal needs 3 s to detect the death of a worker. Until then PostgreSQL may contain a step of which the workflow
 * has no result yet.
 */
const CATCH_UP_ATTEMPTS = 16;
const CATCH_UP_PAUSE_MS = 250;

interface MerchantAction<Payment> {
  readonly action: MerchantPaymentAction;
  /** The code of a rejection. */
  readonly code: ApiErrorCode;
  /** @throws ApiError if the request asks for something else than this action */
  readonly assertRequest?: (request: Request, payment: PaymentRow) => void;
  readonly toResponse: (payment: PaymentRow) => Payment;
}

/**
 * Handles a merchant's action on a payment. Requests for one payment are executed one after the other, and each reads
 * the payment first. So of twenty concurrent requests Temporal, which accepts ten per workflow, receives one.
 */
export function paymentAction<Payment>(merchantAction: MerchantAction<Payment>): MerchantHandler<{ payment: Payment }> {
  const { action, code, assertRequest, toResponse } = merchantAction;
  return async ({ db, workflows, paymentMutex, log }, httpRequest, { merchantId, keyId }) => {
    const actor = toStepActor({ kind: 'api_key', id: keyId, door: 'api' });
    const find = (pathId: string) => requirePayment(db, merchantId, pathId);
    const payment = await find(String(httpRequest.params.id));
    assertRequest?.(httpRequest, payment);
    const { id } = payment;
    return paymentMutex.runExclusive(id, async (deadlineAtMs) => {
      const client = workflows.withDeadline(deadlineAtMs);
      const request = () => requestWithCatchUp(client, id);
      const requested = await requestFromLost({ db, workflows: client, log }, id, request);
      if (requested.outcome === 'rejected') throw new ApiError(code, requested.reason);
      const now = await find(id);
      if (requested.outcome === 'no_workflow') {
        assertAllowed(now);
        throw new Error(`Payment ${id} is "${now.status}", and its workflow was lost again`);
      }
      return { status: 200, body: { payment: toResponse({ ...now, status: requested.status }) } };
    });

    /**
     * If the workflow rejects the request in an outdated status, the request is repeated after the workflow has caught
     * up: with its own repeat of the step, or, if Temporal has lost that step, with PostgreSQL.
     */
    async function requestWithCatchUp(client: PaymentWorkflowClient, id: string): Promise<RequestOutcome> {
      for (let attemptsLeft = CATCH_UP_ATTEMPTS; ; attemptsLeft -= 1) {
        const payment = await find(id);
        assertAllowed(payment);
        const requested = await client.request(payment, action, actor);
        if (requested.outcome !== 'rejected' || requested.status === undefined || attemptsLeft === 0) return requested;
        if (requested.status === (await find(id)).status) return requested;
        if (attemptsLeft === CATCH_UP_ATTEMPTS) await client.signalProviderUpdate(id);
        await sleep(CATCH_UP_PAUSE_MS);
      }
    }
  };

  function assertAllowed(payment: PaymentRow): void {
    const rejection = rejectionReason(action, payment, payment, Date.now());
    if (rejection !== null) throw new ApiError(code, rejection);
  }
}
