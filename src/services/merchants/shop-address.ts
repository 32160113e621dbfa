import type { Environment } from '../../config';
import { urlFormatViolation } from '../../webhooks/ssrf-guard';

/** The addresses of a shop that its merchant has registered. */
export interface ShopAddresses {
  /** Where customers go after a payment that has no address of its own. */
  readonly returnUrl: string | null;
  readonly checkoutOrigins: readonly string[];
}

/** Whether an absolute URL is at a registered address of the shop. */
export function isAtShop({ returnUrl, checkoutOrigins }: ShopAddresses, url: string): boolean {
  const { origin } = new URL(url);
  return checkoutOrigins.includes(origin) || (returnUrl !== null && new URL(returnUrl).origin === origin);
}

/** Where a return address has the merchant's own order id. */
export const REFERENCE_PLACEHOLDER = '{merchant_reference_id}';

/** @returns the rule that the address violates, as continuation of "The URL …"; null if it violates none */
export function returnUrlViolation(text: string, environment: Environment): string | null {
  const violation = urlFormatViolation(text.replaceAll(REFERENCE_PLACEHOLDER, 'ORDER-1'), environment);
  if (violation !== null) return violation;
  // An order id elsewhere would decide to which host the customer goes. No scheme and no port has braces.
  const url = URL.canParse(text) ? new URL(text) : null;
  const isMisplaced = url === null || `${url.host}${url.hash}`.includes(REFERENCE_PLACEHOLDER);
  return isMisplaced ? `may have ${REFERENCE_PLACEHOLDER} in its path and its query only` : null;
}

/** A scheme, a host and a port. It becomes part of a header, so nothing else may be in it. */
const ORIGIN = /^https?:\/\/(?:[a-z\d.-]+|\[[\da-f:]+\])(?::\d+)?$/;

/** Why an origin is invalid; null: it is valid. */
export function originViolation(text: string, environment: Environment): string | null {
  const violation = urlFormatViolation(text, environment);
  if (violation !== null) return violation;
  if (!ORIGIN.test(text)) return 'must be an origin such as https://shop.example, without a path';
  return null;
}
