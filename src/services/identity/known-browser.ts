import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Sealer } from '../../crypto/sealing';
import type { Realm } from '../../domain/sign-in';

/** How long a browser is remembered. */
export const KNOWN_BROWSER_MS = 180 * 86_400_000;

interface Login {
  readonly realm: Realm;
  readonly email: string;
}

/** The id of the browser, and when the user signed in there, in milliseconds. */
const sealedBrowser = z.tuple([z.uuid(), z.int()]);

/**
 * The value of a cookie for a browser in which a user has signed in. It proves no identity. It gives the browser a
 * limit of attempts of its own: a stranger who uses up the limit of an e-mail does not keep its user out. OWASP: "Slow
 * Down Online Guessing Attacks with Device Cookies".
 */
export function createKnownBrowser(sealer: Sealer, { realm, email }: Login, now: Date): string {
  const browser: z.input<typeof sealedBrowser> = [randomUUID(), now.getTime()];
  return sealer.seal(JSON.stringify(browser), ['known-browser', realm, email]);
}

/**
 * The id of the browser. Undefined if its cookie is absent, of another user or not one of ours, too old, or from before
 * the password: who was in the login then has no attempts of their own any more.
 * @param passwordChangedAt null: the user has no password
 */
export function readKnownBrowser(
  sealer: Sealer,
  { realm, email, passwordChangedAt }: Login & { readonly passwordChangedAt: Date | null },
  cookie: string | undefined,
  now: Date,
): string | undefined {
  if (cookie === undefined) return undefined;
  try {
    const [id, signedInAtMs] = sealedBrowser.parse(JSON.parse(sealer.open(cookie, ['known-browser', realm, email])));
    const validFromMs = Math.max(now.getTime() - KNOWN_BROWSER_MS, passwordChangedAt?.getTime() ?? 0);
    return signedInAtMs >= validFromMs ? id : undefined;
  } catch {
    return undefined;
  }
}
