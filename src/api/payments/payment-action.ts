import type { Request } from 'express';
import type { PaymentRow } from '../../db/queries/payment-row';
import { toStepActor } from '../../domain/actor';
import type { ApiErrorCode } from '../../domain/errors';
import type { MerchantPaymentAction } from '../../domain/payment-actions';
import { ActionRejectedError, requestPaymentAction } from '../../services/payments/request-payment-action';
import { ApiError } from '../../http/api-error';
import type { MerchantHandler } from '../endpoint';
import { requirePayment } from './require-payment';

interface MerchantAction<Payment> {
  readonly action: MerchantPaymentAction;
  /** The code of a rejection. */
  readonly code: ApiErrorCode;
  /** @throws ApiError if the request asks for something else than this action */
  readonly assertRequest?: (request: Request, payment: PaymentRow) => void;
  readonly toResponse: (payment: PaymentRow) => Payment;
}

/** Handles a merchant's action on a payment (`requestPaymentAction`). */
export function paymentAction<Payment>(merchantAction: MerchantAction<Payment>): MerchantHandler<{ payment: Payment }> {
  const { action, code, assertRequest, toResponse } = merchantAction;
  return async (dependencies, httpRequest, { merchantId, keyId }) => {
    const actor = toStepActor({ kind: 'api_key', id: keyId, door: 'api' });
    const find = (pathId: string) => requirePayment(dependencies.db, merchantId, pathId);
    const payment = await find(String(httpRequest.params.id));
    assertRequest?.(httpRequest, payment);
    const { id } = payment;
    const request = { action, actor, paymentId: id, find: () => find(id) };
    const changed = await requestPaymentAction(dependencies, request).catch((error: unknown) => {
      throw error instanceof ActionRejectedError ? new ApiError(code, error.message) : error;
    });
    return { status: 200, body: { payment: toResponse(changed) } };
  };
}
