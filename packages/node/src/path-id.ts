/**
 * The path of one payment, by `id` or `reference_id`.
 * @throws TypeError for a text that would name another path
 */
export function paymentPath(id: string): string {
  if (/^\.*$/.test(id)) throw new TypeError('The id of a payment is its id or its reference_id.');
  return `/payments/${encodeURIComponent(id)}`;
}
