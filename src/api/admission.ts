import type { PaymentTerms } from '../domain/payment';
import type { ProviderName } from '../domain/provider-capabilities';
import { ApiError } from '../http/api-error';
import { increment } from '../observability/metrics';

/** A creation takes a fraction of a second, so places become free all the time. */
const RETRY_AFTER_SECONDS = 1;

/** Of one provider account. */
interface Places {
  readonly provider: ProviderName;
  /** Fewer than the configured ones if creations were not completed in time. */
  count: number;
  taken: number;
  /** Since then creations are in flight and none was completed; of `performance.now()`. */
  waitingSinceMs: number;
  readonly takenByMerchant: Map<string, number>;
}

/** Enough to notice that an account responds again. */
const MIN_PLACES = 4;

/** Longer than acquirers usually take. */
const STALLED_AFTER_MS = 3_000;

/** Of a merchant, whatever the others have, while as many places stay free for the next merchant. */
const BASE_SHARE = 16;

/** Who has places, and where. */
type Applicant = Pick<PaymentTerms, 'merchantId' | 'provider' | 'providerAccountId'>;

export interface AdmissionStats {
  /** Creations that have a place now. */
  readonly inFlight: number;
  /** Creations that were rejected since the start of the process. */
  readonly rejected: number;
}

/**
 * Limits the creations in flight in this process, so that each is completed in time. A creation is admitted or rejected
 * when its request arrives: none waits for a place.
 *
 * - Each provider account has places of its own. The creations at an account that hangs keep theirs until they time
 *   out, and take none from the other accounts. Each of them that is not completed halves the places of the account,
 *   and each one that is completed doubles them again. So an outage soon gets few creations that cannot be completed.
 * - An account that has creations in flight and completes none for `STALLED_AFTER_MS` has `MIN_PLACES` until it
 *   completes one: what is admitted now would time out as well.
 * - A merchant may have half as many creations as there are free places. So one alone has at most a third of the
 *   places, and leaves some for a merchant that comes later ("dynamic thresholds", Choudhury and Hahne 1998).
 * - Half of what several busy merchants leave can be too few for a shop. So a merchant has `BASE_SHARE` places in any
 *   case, as long as enough of them stay free.
 * - A bulk needs one place of this share, and takes one for each of its items.
 */
export class Admission {
  /** Each account that had a creation since the start of the process. */
  readonly #accounts = new Map<string, Places>();
  #rejected = 0;

  /** @param places of each provider account (`MAX_CREATES_IN_FLIGHT`) */
  constructor(private readonly places: number) {}

  /**
   * A check without the account, which is not known before the first statement of a request: under overload a rejection
   * then costs PostgreSQL nothing.
   * @throws ApiError as `admit`, if the merchant has used its share at each account of the provider
   */
  requirePlace(merchantId: string, provider: ProviderName): void {
    const accounts = [...this.#accounts.values()].filter((account) => account.provider === provider);
    if (accounts.length === 0 || accounts.some((account) => hasPlace(account, merchantId))) return;
    this.#countRejected(accounts, merchantId, 1);
    throw tooManyInFlight(merchantId, provider);
  }

  /**
   * Takes places for creations of one merchant at one account; `release` returns each of them.
   * @throws ApiError `rate_limited` with `Retry-After` if the merchant has used its share; then no place is taken
   */
  admit(applicant: Applicant, creations: number): void {
    const { merchantId } = applicant;
    const account = this.#accountOf(applicant);
    if (!hasPlace(account, merchantId)) {
      this.#countRejected([account], merchantId, creations);
      throw tooManyInFlight(merchantId, applicant.provider);
    }
    if (account.taken === 0) account.waitingSinceMs = performance.now();
    account.taken += creations;
    account.takenByMerchant.set(merchantId, takenBy(account, merchantId) + creations);
  }

  /** Returns the place of one creation. @param isCompleted the payment is issued or failed */
  release(applicant: Applicant, isCompleted: boolean): void {
    const account = this.#accountOf(applicant);
    increment('lunas_creates_total', { outcome: isCompleted ? 'completed' : 'failed' });
    account.count = isCompleted ? Math.min(account.count * 2, this.places) : Math.max(account.count / 2, MIN_PLACES);
    if (isCompleted) account.waitingSinceMs = performance.now();
    account.taken -= 1;
    const left = takenBy(account, applicant.merchantId) - 1;
    if (left === 0) account.takenByMerchant.delete(applicant.merchantId);
    else account.takenByMerchant.set(applicant.merchantId, left);
  }

  /** For metrics. */
  stats(): AdmissionStats {
    const inFlight = [...this.#accounts.values()].reduce((sum, { taken }) => sum + taken, 0);
    return { inFlight, rejected: this.#rejected };
  }

  #countRejected(accounts: readonly Places[], merchantId: string, creations: number): void {
    this.#rejected += creations;
    const isOverShare = accounts.some(
      (account) => this.#isHealthy(account) && takenBy(account, merchantId) >= BASE_SHARE,
    );
    increment('lunas_creates_total', { outcome: isOverShare ? 'over_share' : 'no_capacity' }, creations);
  }

  /** The account completes its creations, so it has all of its places. */
  #isHealthy(account: Places): boolean {
    return account.count === this.places && !isStalled(account);
  }

  #accountOf({ provider, providerAccountId }: Applicant): Places {
    const known = this.#accounts.get(providerAccountId);
    if (known) return known;
    const account: Places = { provider, count: this.places, taken: 0, waitingSinceMs: 0, takenByMerchant: new Map() };
    this.#accounts.set(providerAccountId, account);
    return account;
  }
}

function hasPlace(account: Places, merchantId: string): boolean {
  const taken = takenBy(account, merchantId);
  const free = (isStalled(account) ? MIN_PLACES : account.count) - account.taken;
  return taken < free / 2 || (taken < BASE_SHARE && free > BASE_SHARE);
}

function isStalled({ taken, waitingSinceMs }: Places): boolean {
  return taken > 0 && performance.now() - waitingSinceMs >= STALLED_AFTER_MS;
}

function takenBy({ takenByMerchant }: Places, merchantId: string): number {
  return takenByMerchant.get(merchantId) ?? 0;
}

function tooManyInFlight(merchantId: string, provider: ProviderName): ApiError {
  return new ApiError('rate_limited', `Too many creations are in flight; try again in ${RETRY_AFTER_SECONDS} s.`, {
    headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) },
    internal: `no place for merchant ${merchantId} at ${provider}`,
  });
}
