import type { Sealer } from '../../crypto/sealing';
import type { Queryable } from '../../db/connection/pool';
import { findDetails } from '../../db/payments/payment-details';
import { openDetails } from './payment-details';

/** What the merchant sent about the customer of a payment; each is null if the request had none, or it was erased. */
interface CustomerDetails {
  readonly customer: ReadonlyMap<string, unknown> | null;
  readonly metadata: ReadonlyMap<string, unknown> | null;
  readonly description: string | null;
}

export async function readCustomer(db: Queryable, sealer: Sealer, paymentId: string): Promise<CustomerDetails> {
  const details = openDetails(sealer, paymentId, await findDetails(db, paymentId));
  const { customer, metadata, description } = details;
  return { customer: namedValuesOf(customer), metadata: namedValuesOf(metadata), description };
}

/** A merchant's own names: no output rewrites the keys of a map. */
const namedValuesOf = (object: Readonly<Record<string, unknown>> | null) => object && new Map(Object.entries(object));
