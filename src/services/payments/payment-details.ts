import { z } from 'zod';
import type { Sealer } from '../../crypto/sealing';

const jsonObject = z.record(z.string(), z.unknown()).nullable();
const absentInOldRows = z.string().nullable().default(null);
const detailsSchema = z
  .object({ customer: jsonObject, metadata: jsonObject, description: absentInOldRows, return_url: absentInOldRows })
  .transform(({ return_url: returnUrl, ...details }) => ({ ...details, returnUrl }));

/** What the merchant sent with a payment and only `payment_details` has, sealed. It can be erased. */
export type SentDetails = Readonly<z.output<typeof detailsSchema>>;

/** A request without any. */
export const NO_DETAILS: SentDetails = { customer: null, metadata: null, description: null, returnUrl: null };

/** Null if there is nothing to store. */
export function sealDetails(sealer: Sealer, paymentId: string, details: SentDetails): string | null {
  const { customer, metadata, description, returnUrl } = details;
  if ([customer, metadata, description, returnUrl].every((value) => value === null)) return null;
  return sealer.seal(JSON.stringify({ customer, metadata, description, return_url: returnUrl }), bindingOf(paymentId));
}

/** @param sealed null or undefined if the request had no details, or they were erased: then each is null */
export function openDetails(sealer: Sealer, paymentId: string, sealed: string | null | undefined): SentDetails {
  if (sealed === undefined || sealed === null) return NO_DETAILS;
  return detailsSchema.parse(JSON.parse(sealer.open(sealed, bindingOf(paymentId))));
}

const bindingOf = (paymentId: string) => ['payment-details', paymentId] as const;
