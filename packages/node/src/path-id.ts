/**
 * The path of one payment.
 * @param id its `id` or `reference_id`; JavaScript can pass any value
 * @throws TypeError for one that is no text, or that would name another path
 */
export function paymentPath(id: unknown): string {
  return `/payments/${partOf(id, 'payment')}`;
}

/** The path of one payment link; as `paymentPath`. */
export function paymentLinkPath(id: unknown): string {
  return `/payment-links/${partOf(id, 'payment link')}`;
}

function partOf(id: unknown, noun: string): string {
  if (typeof id !== 'string' || /^\.*$/.test(id)) {
    throw new TypeError(`The id of a ${noun} is its id or its reference_id.`);
  }
  return encodeURIComponent(id);
}
