import type { Request } from 'express';
import type { PaymentRow } from '../../db/payments/payment-row';
import { toStepActor } from '../../domain/actor';
import type { ErrorReason } from '../../domain/errors';
import type { MerchantPaymentAction, RejectionCode } from '../../domain/payment-actions';
import { ApiError } from '../../http/api-error';
import { requestActionInTurn } from '../../services/payments/actions/request-action';
import type { ExpandedPayment } from '../../services/payments/expand';
import type { MerchantHandler } from '../endpoint';
import { expandAll, readExpand, withMembers } from './expand';
import { requirePayment } from './require-payment';

interface MerchantAction<Payment> {
  readonly action: MerchantPaymentAction;
  /** The reason of a rejection because of the status. */
  readonly statusReason: ErrorReason;
  /** The body is not needed. @throws ApiError if it asks for something else than this action */
  readonly checkBody?: (request: Request, payment: PaymentRow) => void;
  readonly toResponse: (payment: PaymentRow) => Payment;
}

/** Rejections that are not because of the status. */
const OWN_REASONS: Readonly<Partial<Record<RejectionCode, ErrorReason>>> = {
  provider_cannot_cancel: 'provider_cannot_cancel',
  provider_cannot_refund: 'provider_cannot_refund',
  refund_submitted: 'refund_submitted',
  refund_limit: 'refund_limit',
};

/** Handles a merchant's action on a payment (`requestActionInTurn`). */
export function paymentAction<Payment extends object>(
  merchantAction: MerchantAction<Payment>,
): MerchantHandler<{ payment: Payment & Partial<ExpandedPayment> }> {
  const { action, statusReason, checkBody, toResponse } = merchantAction;
  return async (dependencies, httpRequest, merchant) => {
    const { merchantId, keyId } = merchant;
    const wanted = readExpand(httpRequest, merchant);
    const actor = toStepActor({ kind: 'api_key', id: keyId, door: 'api' });
    const find = (pathId: string) => requirePayment(dependencies.db, merchantId, pathId);
    const payment = await find(String(httpRequest.params.id));
    checkBody?.(httpRequest, payment);
    const { id } = payment;
    const request = { action, actor, paymentId: id, find: () => find(id) };
    const result = await requestActionInTurn(dependencies, request);
    if (result.outcome === 'rejected') throw new ApiError(OWN_REASONS[result.code] ?? statusReason, result.reason);
    const expanded = await expandAll(dependencies, merchantId, [id], wanted);
    return { status: 200, body: { payment: withMembers(toResponse(result.payment), expanded.get(id)) } };
  };
}
