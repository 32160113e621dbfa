import { randomUUID } from 'node:crypto';
import type { Sealer } from '../../crypto/sealing';
import type { Realm } from '../../domain/sign-in';

/** How long a browser is remembered. */
export const KNOWN_BROWSER_MS = 180 * 86_400_000;

interface Login {
  readonly realm: Realm;
  readonly email: string;
}

/**
 * The value of a cookie for a browser in which a user has signed in. It proves no identity. It gives the browser a
 * limit of attempts of its own: a stranger who uses up the limit of an e-mail does not keep its user out. OWASP: "Slow
 * Down Online Guessing Attacks with Device Cookies".
 */
export function createKnownBrowser(sealer: Sealer, { realm, email }: Login): string {
  return sealer.seal(randomUUID(), ['known-browser', realm, email]);
}

/** The id of the browser; undefined if its cookie is absent, of another user, or not one of ours. */
export function readKnownBrowser(
  sealer: Sealer,
  { realm, email }: Login,
  cookie: string | undefined,
): string | undefined {
  if (cookie === undefined) return undefined;
  try {
    return sealer.open(cookie, ['known-browser', realm, email]);
  } catch {
    return undefined;
  }
}
