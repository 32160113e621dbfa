import type { Queryable } from '../../db/connection/pool';
import type { PaymentLinkRow } from '../../db/links/payment-link-row';
import { NotFoundError } from '../../errors';
import { ApiError } from '../../http/api-error';
import { requireLink } from '../../services/links/close-link';

/** @throws ApiError `not_found`, also for a link of another merchant */
export async function requireOwnLink(db: Queryable, merchantId: string, pathId: string): Promise<PaymentLinkRow> {
  return requireLink(db, { merchantId }, pathId).catch((error: unknown) => {
    if (error instanceof NotFoundError) throw new ApiError('payment_link_unknown', 'There is no such payment link.');
    throw error;
  });
}
