import { randomBytes } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';
import { Semaphore } from 'async-mutex';
import { isTooLong, normalisePassword } from '../../domain/passwords';
import { SignInError } from '../../errors';
import { networkOf, SITE_GROUPS } from '../../lib/networks';
import { Shares, type Share } from '../../lib/shares';

/** OWASP's first recommendation for argon2id, which is the package's default algorithm: 19 MiB, two passes. */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** A hash occupies one of the four threads that DNS and files share. */
const MAX_CONCURRENT = 2;
const MAX_WAITING = 16;
/** The other half is for known browsers and for users who are signed in. */
const MAX_OF_STRANGERS = (MAX_CONCURRENT + MAX_WAITING) / 2;
const MAX_OF_NETWORK = 3;
/** Eighteen hashes of 40 ms on two threads, on a machine ten times slower than ours. */
const RETRY_AFTER_SECONDS = 5;

/** In the form of a hash. No password is its source: an unknown e-mail takes as long as a known one. */
const NO_PASSWORD = `$argon2id$v=19$m=${PARAMETERS.memoryCost},t=2,p=1$${randomBase64(16)}$${randomBase64(32)}`;

/**
 * The hashes of a process: at most two at a time, and at most sixteen waiting. Strangers have half of these
 * slots, each network three of them, and they wait for all others.
 */
export class PasswordHasher {
  readonly #slots = new Semaphore(MAX_CONCURRENT);
  readonly #shares = new Shares();

  /** @throws SignInError `busy` */
  hash(password: string): Promise<string> {
    return this.#run(() => hash(normalisePassword(password), PARAMETERS));
  }

  /**
   * Compares in the same time whether there is a password or not.
   * @param passwordHash undefined: there is none
   * @param strangerAddress of a browser that is not known, in canonical form; null: it is known, or signed in
   * @throws SignInError `busy`
   */
  async verify(
    passwordHash: string | undefined,
    password: string,
    strangerAddress: string | null = null,
  ): Promise<boolean> {
    const candidate = isTooLong(password) ? '' : normalisePassword(password);
    const isEqual = await this.#run(() => verify(passwordHash ?? NO_PASSWORD, candidate), strangerAddress);
    return isEqual && passwordHash !== undefined;
  }

  async #run<Result>(work: () => Promise<Result>, strangerAddress: string | null = null): Promise<Result> {
    const shares = strangerAddress === null ? [ALL] : [ALL, ...strangerShares(strangerAddress)];
    if (this.#shares.findExhausted(shares)) {
      throw new SignInError('busy', 'Too many users sign in now.', RETRY_AFTER_SECONDS);
    }
    const release = this.#shares.hold(shares);
    try {
      return await this.#slots.runExclusive(work, 1, strangerAddress === null ? 1 : 0);
    } finally {
      release();
    }
  }
}

const ALL: Share = { owner: 'all', max: MAX_CONCURRENT + MAX_WAITING };

function strangerShares(address: string): Share[] {
  return [
    { owner: 'strangers', max: MAX_OF_STRANGERS },
    { owner: `network ${networkOf(address, SITE_GROUPS)}`, max: MAX_OF_NETWORK },
  ];
}

function randomBase64(bytes: number): string {
  return randomBytes(bytes).toString('base64').replaceAll('=', '');
}
