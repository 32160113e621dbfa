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
const DAY_SECONDS = 24 * HOUR_SECONDS;

/** Attempts in a time. The names are the prefixes of the keys. */
const LIMITS = {
  sign_in_pair: { points: 5, duration: 15 * MINUTE_SECONDS },
  sign_in_email: { points: 50, duration: HOUR_SECONDS },
  sign_in_network: { points: 60, duration: 15 * MINUTE_SECONDS },
  sign_in_site: { points: 240, duration: 15 * MINUTE_SECONDS },
  sign_in_site_pair: { points: 15, duration: HOUR_SECONDS },
  sign_in_browser: { points: 10, duration: HOUR_SECONDS },
  sign_in_session: { points: 5, duration: 5 * MINUTE_SECONDS },
  code_pair: { points: 10, duration: 15 * MINUTE_SECONDS },
  code_pair_day: { points: 20, duration: DAY_SECONDS },
  code_user_day: { points: 30, duration: DAY_SECONDS },
  code_browser_day: { points: 20, duration: DAY_SECONDS },
  code_session_day: { points: 20, duration: DAY_SECONDS },
  wrong_code_day: { points: 30, duration: DAY_SECONDS },
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

/** A code, of an app or for recovery, that a browser sends. */
export interface CodeAttempt {
  readonly session: Pick<Session, 'id' | 'stage' | 'user'>;
  readonly address: string;
  /** The browser of a `SignInAttempt`. */
  readonly knownBrowser: string | undefined;
  readonly isRecoveryCode: boolean;
}

/** A limit, and what it counts. */
type Counted = readonly [name: LimitName, key: string];

/**
 * Limits the attempts to sign in, over all processes, in the table of the API's rate limits. Unlike those it fails
 * closed. It locks no account: a stranger who reaches the limit of an e-mail from one network leaves the user's own
 * network free. A stranger with many networks reaches the limit of the e-mail in all of them, but not that of a browser
 * in which the user has signed in before. Passkeys are not counted by e-mail.
 */
export class SignInThrottle {
  readonly #db: Pool;
  readonly #limiters = new Map<LimitName, RateLimiterPostgres>();

  constructor(db: Pool) {
    this.#db = db;
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
        ? this.#limit('sign_in_pair').delete(pairOf(attempt))
        : this.#limit('sign_in_browser').delete(knownBrowser);
    await forgotten.catch(() => undefined);
  }

  /**
   * Counts a code. Who has only the password of a user does not keep that user out: a signed-in session, a known
   * browser and the codes from each network are counted on their own. All strange networks share the limit of a day, so
   * that a guess is improbable: 30 codes, of which 3 in a million are right. A recovery code cannot be guessed, so it
   * is not counted by user.
   * @throws SignInError `throttled` or `unavailable`
   */
  async countCode(attempt: CodeAttempt): Promise<void> {
    await this.#count('sign_in_session', attempt.session.id);
    for (const [name, key] of codeLimits(attempt)) await this.#count(name, key);
  }

  /** After a right code: only wrong ones count for a day. A store that is away keeps the count. */
  async forgetCode(attempt: CodeAttempt): Promise<void> {
    for (const [name, key] of codeLimits(attempt)) {
      const limiter = this.#limit(name);
      await limiter.reward(key).catch(() => undefined);
    }
  }

  /** Counts a wrong code of a user, for the notice. @returns how many in a day; 0 if the store is away */
  async countWrongCode(userId: string): Promise<number> {
    const limiter = this.#limit('wrong_code_day');
    const { consumedPoints } = await limiter.penalty(userId).catch(() => ({ consumedPoints: 0 }));
    return consumedPoints;
  }

  /** Counts a link, or a passkey. @throws SignInError `throttled` or `unavailable` */
  async countToken(address: string): Promise<void> {
    await this.#count('sign_in_token', neighboursOf(address));
  }

  #limit(name: LimitName): RateLimiterPostgres {
    const known = this.#limiters.get(name);
    if (known) return known;
    const limiter = new RateLimiterPostgres({
      storeClient: this.#db,
      storeType: 'pool',
      tableName: 'rate_limits',
      tableCreated: true,
      // Its timer outlives the process's shutdown. The API deletes what is expired.
      clearExpiredByTimeout: false,
      keyPrefix: name,
      ...LIMITS[name],
    });
    this.#limiters.set(name, limiter);
    return limiter;
  }

  async #count(name: LimitName, key: string): Promise<void> {
    try {
      await this.#limit(name).consume(key);
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

/** The narrow limits come first: an attempt beyond one does not use up the next. */
function codeLimits({ session, address, knownBrowser, isRecoveryCode }: CodeAttempt): readonly Counted[] {
  if (session.stage !== 'password') return [['code_session_day', session.id]];
  if (knownBrowser !== undefined) return [['code_browser_day', knownBrowser]];
  // A stranger has 65,536 networks in the /48 of IPv6.
  const pair = `${session.user.id}:${isIPv6(address) ? networkOf(address, 3) : neighboursOf(address)}`;
  const ofPair: readonly Counted[] = [
    ['code_pair', pair],
    ['code_pair_day', pair],
  ];
  return isRecoveryCode ? ofPair : [...ofPair, ['code_user_day', session.user.id]];
}

/** The /24 of an IPv4 address, or the /64 of an IPv6 address, in canonical form. */
function neighboursOf(address: string): string {
  return isIPv6(address) ? networkOf(address) : address.replace(/\.\d+$/, '.0/24');
}
