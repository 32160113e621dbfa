/**
 * The path of one payment.
 * @param id its `id` or `reference_id`; JavaScript can pass any value
 * @throws TypeError for one that is no text, or that would name another path
 */
export function paymentPath(id: unknown): string {
  if (typeof id !== 'string' || /^\.*$/.test(id))
    throw new TypeError('The id of a payment is its id or its reference_id.');
  return `/payments/${encodeURIComponent(id)}`;
}
