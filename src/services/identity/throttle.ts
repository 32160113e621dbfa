import { hash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import type { Pool } from '../../db/connection/pool';
import type { Realm } from '../../domain/sign-in';
import { SignInError } from '../../errors';
import { networkOf } from '../../lib/networks';
import type { Session } from './sessions';

const MINUTE_SECONDS = 60;
const HOUR_SECONDS = 60 * MINUTE_SECONDS;

/** Attempts in a time. The names are the prefixes of the keys. */
const LIMITS = {
  sign_in_pair: { points: 5, duration: 15 * MINUTE_SECONDS },
  sign_in_email: { points: 50, duration: HOUR_SECONDS },
  sign_in_network: { points: 60, duration: 15 * MINUTE_SECONDS },
  sign_in_site: { points: 240, duration: 15 * MINUTE_SECONDS },
  sign_in_site_pair: { points: 15, duration: HOUR_SECONDS },
  sign_in_browser: { points: 10, duration: HOUR_SECONDS },
  sign_in_session: { points: 5, duration: 5 * MINUTE_SECONDS },
  sign_in_user: { points: 10, duration: 15 * MINUTE_SECONDS },
  step_up_user: { points: 10, duration: 15 * MINUTE_SECONDS },
  sign_in_token: { points: 30, duration: MINUTE_SECONDS },
} as const;

type LimitName = keyof typeof LIMITS;

/** Without the store no attempt is accepted: repeat it then. */
const UNAVAILABLE_SECONDS = 5;

/** A login that a browser asks for. */
export interface SignInAttempt {
  readonly realm: Realm;
  readonly email: string;
  readonly address: string;
  /** The id of a browser in which this user has signed in before. */
  readonly knownBrowser: string | undefined;
}

/**
 * Limits the attempts to sign in, over all processes, in the table of the API's rate limits. Unlike those it fails
 * closed. It locks no account: a stranger who reaches the limit of an e-mail from one network leaves the user's own
 * network free. A stranger with many networks reaches the limit of the e-mail in all of them, but not that of a browser
 * in which the user has signed in before. Passkeys are not counted by e-mail.
 */
export class SignInThrottle {
  readonly #limits: Readonly<Record<LimitName, RateLimiterPostgres>>;

  constructor(db: Pool) {
    const limit = (name: LimitName) =>
      new RateLimiterPostgres({
        storeClient: db,
        storeType: 'pool',
        tableName: 'rate_limits',
        tableCreated: true,
        // Its timer outlives the process's shutdown. The API deletes what is expired.
        clearExpiredByTimeout: false,
        keyPrefix: name,
        ...LIMITS[name],
      });
    this.#limits = {
      sign_in_pair: limit('sign_in_pair'),
      sign_in_email: limit('sign_in_email'),
      sign_in_network: limit('sign_in_network'),
      sign_in_site: limit('sign_in_site'),
      sign_in_site_pair: limit('sign_in_site_pair'),
      sign_in_browser: limit('sign_in_browser'),
      sign_in_session: limit('sign_in_session'),
      sign_in_user: limit('sign_in_user'),
      step_up_user: limit('step_up_user'),
      sign_in_token: limit('sign_in_token'),
    };
  }

  /**
   * Counts an attempt with a password. The pair comes before the e-mail: attempts beyond the limit of one network do
   * not use up that of the e-mail. So does the /48 of IPv6: a stranger has 65,536 networks in it. A known browser is
   * counted alone: neighbours, as in the networks of mobile operators, do not keep it out.
   * @throws SignInError `throttled` or `unavailable`
   */
  async countPassword(attempt: SignInAttempt): Promise<void> {
    if (attempt.knownBrowser !== undefined) return this.#count('sign_in_browser', attempt.knownBrowser);
    await this.#count('sign_in_network', neighboursOf(attempt.address));
    await this.#count('sign_in_pair', pairOf(attempt));
    if (isIPv6(attempt.address)) {
      const site = networkOf(attempt.address, 3);
      await this.#count('sign_in_site', site);
      await this.#count('sign_in_site_pair', `${hashOf(attempt)}:${site}`);
    }
    await this.#count('sign_in_email', hashOf(attempt));
  }

  /** After a sign-in: only failures count for the pair or the browser. A store that is away keeps the count. */
  async forgetFailures(attempt: SignInAttempt): Promise<void> {
    const { knownBrowser } = attempt;
    const forgotten =
      knownBrowser === undefined
        ? this.#limits.sign_in_pair.delete(pairOf(attempt))
        : this.#limits.sign_in_browser.delete(knownBrowser);
    await forgotten.catch(() => undefined);
  }

  /**
   * Counts a code, of an app or for recovery. Codes of complete sessions are counted on their own: who has only the
   * password does not keep the user from a step-up.
   * @throws SignInError `throttled` or `unavailable`
   */
  async countCode({ id, stage, user }: Pick<Session, 'id' | 'stage' | 'user'>): Promise<void> {
    await this.#count('sign_in_session', id);
    await this.#count(stage === 'full' ? 'step_up_user' : 'sign_in_user', user.id);
  }

  /** Counts a link, or a passkey. @throws SignInError `throttled` or `unavailable` */
  async countToken(address: string): Promise<void> {
    await this.#count('sign_in_token', neighboursOf(address));
  }

  async #count(name: LimitName, key: string): Promise<void> {
    try {
      await this.#limits[name].consume(key);
    } catch (error) {
      if (error instanceof RateLimiterRes) {
        const seconds = Math.max(Math.ceil(error.msBeforeNext / 1_000), 1);
        throw new SignInError('throttled', `Too many attempts; try again in ${seconds} s.`, seconds);
      }
      throw new SignInError('unavailable', 'Signing in is not possible now.', UNAVAILABLE_SECONDS, { cause: error });
    }
  }
}

/** The table has no e-mail in clear. */
function hashOf({ realm, email }: Pick<SignInAttempt, 'realm' | 'email'>): string {
  return hash('sha256', `${realm}:${email}`);
}

function pairOf(attempt: SignInAttempt): string {
  return `${hashOf(attempt)}:${neighboursOf(attempt.address)}`;
}

/** The /24 of an IPv4 address, or the /64 of an IPv6 address, in canonical form. */
function neighboursOf(address: string): string {
  return isIPv6(address) ? networkOf(address) : address.replace(/\.\d+$/, '.0/24');
}
