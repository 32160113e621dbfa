import { z } from 'zod';
import type { Sealer } from '../../crypto/sealing';
import type { Queryable } from '../../db/connection/pool';
import { findDetails } from '../../db/payments/payment-details';
import { DeclaredAction } from '../../domain/declared-action';
import { findFirstSuccess } from '../audit/audit';
import { findPayment } from './find-payment';

/** What the merchant sent about the customer of a payment. */
export interface CustomerDetails {
  readonly paymentId: string;
  readonly referenceId: string;
  /** Null if the request had none, or it was erased. */
  readonly customer: ReadonlyMap<string, unknown> | null;
  readonly metadata: ReadonlyMap<string, unknown> | null;
  readonly erasedAt: Date | null;
}

const jsonObject = z
  .record(z.string(), z.unknown())
  .transform((object) => new Map(Object.entries(object)))
  .nullable();
const detailsSchema = z.object({ customer: jsonObject, metadata: jsonObject });
const NO_DETAILS = { customer: null, metadata: null };

export const SHOW_CUSTOMER = new DeclaredAction('customer.show');
export const ERASE_CUSTOMER = new DeclaredAction('customer.erase');

/**
 * @param payment its UUID or `reference_id`
 * @throws NotFoundError if there is no such payment
 */
export async function showCustomer(db: Queryable, sealer: Sealer, payment: string): Promise<CustomerDetails> {
  const { id, referenceId } = await findPayment(db, payment);
  const details = await readCustomer(db, sealer, id);
  return { paymentId: id, referenceId, ...details, erasedAt: await findFirstSuccess(db, ERASE_CUSTOMER, id) };
}

/** What the merchant sent about the customer; nulls if the request had none, or it was erased. */
export async function readCustomer(
  db: Queryable,
  sealer: Sealer,
  paymentId: string,
): Promise<Pick<CustomerDetails, 'customer' | 'metadata'>> {
  const sealed = await findDetails(db, paymentId);
  if (sealed === undefined) return NO_DETAILS;
  return detailsSchema.parse(JSON.parse(sealer.open(sealed, ['payment-details', paymentId])));
}
