import type { Queryable } from '../../db/connection/pool';
import { findPaymentOwner, type PaymentKey } from '../../db/payments/find-payment';
import type { PaymentRow } from '../../db/payments/payment-row';
import { ApiError } from '../../http/api-error';
import { lookUpPayment } from '../../services/payments/find-payment';

/**
 * @param pathId a UUID or a reference_id
 * @throws ApiError `not_found`, also for a payment of another merchant
 */
export async function requirePayment(db: Queryable, merchantId: string, pathId: string): Promise<PaymentRow> {
  const found = await lookUpPayment(db, { merchantId }, pathId);
  switch (found.outcome) {
    case 'found':
      return found.payment;
    case 'archived':
      throw new ApiError('payment_archived', ARCHIVED);
    case 'missing':
      throw new ApiError('payment_unknown', PAYMENT_UNKNOWN, { internal: await whyNotFound(db, found.key) });
  }
}

export const PAYMENT_UNKNOWN =
  'There is no such transaction. The path takes its id or reference_id; ' +
  'GET /transactions?merchant_reference_id=… finds it by your order ID.';
const ARCHIVED = 'This transaction is archived; the operator of this service has its records.';

async function whyNotFound(db: Queryable, key: PaymentKey | undefined): Promise<string> {
  if (!key) return 'neither a UUID nor a reference_id';
  const owner = await findPaymentOwner(db, key);
  return owner === undefined ? 'unknown payment' : `payment of merchant ${owner}`;
}
