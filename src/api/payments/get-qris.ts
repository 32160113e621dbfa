import { findMerchantPayment } from '../../db/queries/find-payment';
import { ApiError } from '../api-error';
import type { MerchantEndpoint } from '../endpoint';
import { parsePathId } from './path-id';
import { qrisView } from './payment-responses';

/** `GET /payments/:id/qris`: the QR of a bulk item, or of any payment later on. */
export const getQris: MerchantEndpoint = async ({ db, qrisLinks }, request, { merchantId }) => {
  const key = parsePathId(String(request.params.id));
  const payment = key && (await findMerchantPayment(db, merchantId, key));
  if (!payment) throw new ApiError('not_found', 'There is no such transaction.');
  const qris = qrisView(payment, qrisLinks);
  if (!qris) throw new ApiError('not_found', `This transaction is ${payment.status} and has no QR code.`);
  return { status: 200, body: { qris } };
};
