import { randomBytes } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';
import { Semaphore } from 'async-mutex';
import { isTooLong, normalisePassword } from '../../domain/passwords';
import { SignInError } from '../../errors';

/** OWASP's first recommendation for argon2id, which is the package's default algorithm: 19 MiB, two passes. */
const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

/** A hash occupies one of the four threads that DNS and files share. */
const MAX_CONCURRENT = 2;
const MAX_WAITING = 16;
/** Eighteen hashes of 40 ms on two threads, on a machine ten times slower than ours. */
const RETRY_AFTER_SECONDS = 5;

/** In the form of a hash. No password is its source: an unknown e-mail takes as long as a known one. */
const NO_PASSWORD = `$argon2id$v=19$m=${PARAMETERS.memoryCost},t=2,p=1$${randomBase64(16)}$${randomBase64(32)}`;

/** The hashes of a process: at most two at a time, and at most sixteen waiting. */
export class PasswordHasher {
  readonly #slots = new Semaphore(MAX_CONCURRENT);
  #pending = 0;

  /** @throws SignInError `busy` */
  hash(password: string): Promise<string> {
    return this.#run(() => hash(normalisePassword(password), PARAMETERS));
  }

  /**
   * Compares in the same time whether there is a password or not.
   * @param passwordHash undefined: there is none
   * @throws SignInError `busy`
   */
  async verify(passwordHash: string | undefined, password: string): Promise<boolean> {
    const candidate = isTooLong(password) ? '' : normalisePassword(password);
    const isEqual = await this.#run(() => verify(passwordHash ?? NO_PASSWORD, candidate));
    return isEqual && passwordHash !== undefined;
  }

  async #run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#pending >= MAX_CONCURRENT + MAX_WAITING) {
      throw new SignInError('busy', 'Too many users sign in now.', RETRY_AFTER_SECONDS);
    }
    this.#pending += 1;
    try {
      return await this.#slots.runExclusive(work);
    } finally {
      this.#pending -= 1;
    }
  }
}

function randomBase64(bytes: number): string {
  return randomBytes(bytes).toString('base64').replaceAll('=', '');
}
