import { z } from 'zod';
import type { Sealer } from '../../crypto/sealing';
import type { Queryable } from '../../db/connection/pool';
import { findDetails } from '../../db/payments/payment-details';

/** What the merchant sent about the customer of a payment. */
interface CustomerDetails {
  /** Null if the request had none, or it was erased. */
  readonly customer: ReadonlyMap<string, unknown> | null;
  readonly metadata: ReadonlyMap<string, unknown> | null;
}

const jsonObject = z
  .record(z.string(), z.unknown())
  .transform((object) => new Map(Object.entries(object)))
  .nullable();
const detailsSchema = z.object({ customer: jsonObject, metadata: jsonObject });
const NO_DETAILS = { customer: null, metadata: null };

/** What the merchant sent about the customer; nulls if the request had none, or it was erased. */
export async function readCustomer(db: Queryable, sealer: Sealer, paymentId: string): Promise<CustomerDetails> {
  const sealed = await findDetails(db, paymentId);
  if (sealed === undefined) return NO_DETAILS;
  return detailsSchema.parse(JSON.parse(sealer.open(sealed, ['payment-details', paymentId])));
}
