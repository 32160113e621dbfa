import { findMerchantPayment } from '../../db/queries/find-payment';
import { ApiError } from '../api-error';
import type { MerchantEndpoint } from '../endpoint';
import { parsePathId } from './path-id';
import { paymentDetailView } from './payment-responses';

/** `GET /payments/:id`, by UUID or reference_id. Another merchant's payment is not found. */
export const getPayment: MerchantEndpoint = async ({ db }, request, { merchantId }) => {
  const key = parsePathId(String(request.params.id));
  const payment = key && (await findMerchantPayment(db, merchantId, key));
  if (!payment) throw new ApiError('not_found', 'There is no such transaction.');
  return { status: 200, body: { payment: paymentDetailView(payment) } };
};
