import { v5 as uuidV5, v7 as uuidV7 } from 'uuid';
import type { PaymentTerms } from '../../../domain/payment';

export type PaymentIdentity = Pick<PaymentTerms, 'paymentId' | 'idempotencyKey'>;

/**
 * With an idempotency key the id is a function of merchant and key, so the same key is the same payment and the same
 * workflow. Without a key every request creates a payment.
 */
export function paymentIdentity(merchantId: string, idempotencyKey: string | null): PaymentIdentity {
  const paymentId = idempotencyKey === null ? uuidV7() : uuidV5(idempotencyKey, merchantId);
  return { paymentId, idempotencyKey };
}

/** The idempotency key of a form of the dashboard, so that a double click creates one object. */
export const idempotencyKeyOf = (formId: string) => `dashboard-${formId}`;
