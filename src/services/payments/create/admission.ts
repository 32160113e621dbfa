import type { PaymentTerms } from '../../../domain/payment';
import type { ProviderName } from '../../../domain/provider-capabilities';
import { increment } from '../../../observability/metrics';
import { CreationRejectedError } from './create-rejection';

/** A creation takes a fraction of a second, so slots become free all the time. */
const RETRY_AFTER_SECONDS = 1;

/** The slots of one provider account. */
interface Slots {
  readonly provider: ProviderName;
  /** Fewer than the configured ones if creations were not completed in time. */
  count: number;
  taken: number;
  /** Since then creations are in flight and none was completed; of `performance.now()`. */
  waitingSinceMs: number;
  readonly takenByMerchant: Map<string, number>;
  /** In the order of their arrival. */
  readonly waiting: Set<WaitingBulk>;
}

interface WaitingBulk {
  readonly merchantId: string;
  readonly items: number;
  readonly start: () => void;
}

/** Enough to notice that an account responds again. */
const MIN_SLOTS = 4;

/** Longer than acquirers usually take. */
const STALLED_AFTER_MS = 3_000;

/** A merchant has these, whatever the others have, while as many slots stay free for the next merchant. */
const BASE_SHARE = 16;

/** A bulk that starts has the rest of 9 s for its creations: as long as an account may take before it has stalled. */
const TURN_TIMEOUT_MS = 6_000;

/** A bulk may wait if what is in flight and what waits need at most this many times the slots. */
const MAX_QUEUED = 1.5;

/** `too_late`: not completed in the rest of the time that a bulk had after its turn. The account may be healthy. */
export type CreationOutcome = 'completed' | 'failed' | 'too_late';

/** Who has slots, and where. */
type Applicant = Pick<PaymentTerms, 'merchantId' | 'provider' | 'providerAccountId'>;

export interface AdmissionStats {
  /** Creations that have a slot now. */
  readonly inFlight: number;
  /** Creations that were rejected since the start of the process. */
  readonly rejected: number;
}

/**
 * Limits the creations in flight in this process, so that each is completed in time. A creation is admitted or rejected
 * when its request arrives; only a bulk may wait for its turn.
 *
 * - Each provider account has slots of its own. The creations at an account that hangs keep theirs until they time
 *   out, and take none from the other accounts. Each of them that is not completed halves the slots of the account,
 *   and each one that is completed doubles them again. So an outage soon gets few creations that cannot be completed.
 *   Those of a bulk that has waited halve nothing: they had less time.
 * - An account that has creations in flight and completes none for `STALLED_AFTER_MS` has `MIN_SLOTS` until it
 *   completes one: what is admitted now would time out as well.
 * - A merchant may have half as many creations as there are free slots. So one alone has at most a third of the
 *   slots, and leaves some for a merchant that comes later ("dynamic thresholds", Choudhury and Hahne 1998).
 * - Half of what several busy merchants leave can be too few for a shop. So a merchant has `BASE_SHARE` slots in any
 *   case, as long as enough of them stay free.
 * - A bulk needs one slot of this share, and takes one for each of its items. Without one it waits, if the account is
 *   healthy, until its merchant has a slot again and the next merchant can have its `BASE_SHARE` beside it.
 */
export class Admission {
  /** Each account that had a creation since the start of the process. */
  readonly #accounts = new Map<string, Slots>();
  #rejected = 0;

  /** @param slots of each provider account (`MAX_CREATES_IN_FLIGHT`) */
  constructor(private readonly slots: number) {}

  /**
   * A check without the account, which is not known before the first statement of a request: under overload a rejection
   * then costs PostgreSQL nothing.
   * @throws CreationRejectedError as `admit`, if the merchant has used its share at each account of the provider
   */
  requireSlot(merchantId: string, provider: ProviderName): void {
    const accounts = [...this.#accounts.values()].filter((account) => account.provider === provider);
    if (accounts.length === 0 || accounts.some((account) => hasSlot(account, merchantId))) return;
    this.#countRejected(accounts, merchantId, 1);
    throw tooManyInFlight(merchantId, provider);
  }

  /**
   * Takes a slot for a creation; `release` returns it.
   * @throws CreationRejectedError `creates_in_flight` if the merchant has used its share; then no slot is taken
   */
  admit(applicant: Applicant): void {
    const account = this.#accountOf(applicant);
    if (!hasSlot(account, applicant.merchantId)) throw this.#rejection(account, applicant, 1);
    take(account, applicant.merchantId, 1);
  }

  /**
   * Takes a slot for each item of a bulk, as soon as it is its turn; `release` returns each of them.
   * @returns whether it has waited
   * @throws CreationRejectedError as `admit`, also if the turn does not come in time
   */
  async admitBulk(applicant: Applicant, items: number): Promise<boolean> {
    const { merchantId } = applicant;
    const account = this.#accountOf(applicant);
    if (hasSlot(account, merchantId)) {
      take(account, merchantId, items);
      return false;
    }
    if (!this.#canWait(account, items) || !(await isTurn(account, { merchantId, items }))) {
      throw this.#rejection(account, applicant, items);
    }
    return true;
  }

  /** Returns the slot of one creation. @param outcome `completed` if the payment is issued or failed */
  release(applicant: Applicant, outcome: CreationOutcome): void {
    const account = this.#accountOf(applicant);
    increment('lunas_creates_total', { outcome: outcome === 'completed' ? 'completed' : 'failed' });
    if (outcome === 'completed') {
      account.count = Math.min(account.count * 2, this.slots);
      account.waitingSinceMs = performance.now();
    } else if (outcome === 'failed') {
      account.count = Math.max(account.count / 2, MIN_SLOTS);
    }
    account.taken -= 1;
    const left = takenBy(account, applicant.merchantId) - 1;
    if (left === 0) account.takenByMerchant.delete(applicant.merchantId);
    else account.takenByMerchant.set(applicant.merchantId, left);
    startWaiting(account);
  }

  /** The state of the admission for metrics. */
  stats(): AdmissionStats {
    const inFlight = [...this.#accounts.values()].reduce((sum, { taken }) => sum + taken, 0);
    return { inFlight, rejected: this.#rejected };
  }

  #canWait(account: Slots, items: number): boolean {
    const queued = [...account.waiting].reduce((sum, bulk) => sum + bulk.items, account.taken);
    return this.#isHealthy(account) && queued + items <= this.slots * MAX_QUEUED;
  }

  #rejection(account: Slots, { merchantId, provider }: Applicant, creations: number): CreationRejectedError {
    this.#countRejected([account], merchantId, creations);
    return tooManyInFlight(merchantId, provider);
  }

  #countRejected(accounts: readonly Slots[], merchantId: string, creations: number): void {
    this.#rejected += creations;
    const isOverShare = accounts.some(
      (account) => this.#isHealthy(account) && takenBy(account, merchantId) >= BASE_SHARE,
    );
    increment('lunas_creates_total', { outcome: isOverShare ? 'over_share' : 'no_capacity' }, creations);
  }

  /** The account completes its creations, so it has all of its slots. */
  #isHealthy(account: Slots): boolean {
    return account.count === this.slots && !isStalled(account);
  }

  #accountOf({ provider, providerAccountId }: Applicant): Slots {
    const known = this.#accounts.get(providerAccountId);
    if (known) return known;
    const account: Slots = {
      provider,
      count: this.slots,
      taken: 0,
      waitingSinceMs: 0,
      takenByMerchant: new Map(),
      waiting: new Set(),
    };
    this.#accounts.set(providerAccountId, account);
    return account;
  }
}

function hasSlot(account: Slots, merchantId: string): boolean {
  const taken = takenBy(account, merchantId);
  const free = freeSlots(account);
  return taken < free / 2 || (taken < BASE_SHARE && free > BASE_SHARE);
}

function freeSlots(account: Slots): number {
  return (isStalled(account) ? MIN_SLOTS : account.count) - account.taken;
}

function take(account: Slots, merchantId: string, creations: number): void {
  if (account.taken === 0) account.waitingSinceMs = performance.now();
  account.taken += creations;
  account.takenByMerchant.set(merchantId, takenBy(account, merchantId) + creations);
}

/** Waits until the bulk has its slots. @returns false if that takes too long; then it has none */
function isTurn(account: Slots, bulk: Omit<WaitingBulk, 'start'>): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (hasSlots: boolean) => {
      clearTimeout(timer);
      account.waiting.delete(waiting);
      resolve(hasSlots);
    };
    const start = () => {
      take(account, bulk.merchantId, bulk.items);
      end(true);
    };
    const waiting = { ...bulk, start };
    const timer = setTimeout(() => end(false), TURN_TIMEOUT_MS).unref();
    account.waiting.add(waiting);
  });
}

function startWaiting(account: Slots): void {
  for (const { merchantId, items, start } of account.waiting) {
    const leavesShare = takenBy(account, merchantId) === 0 || freeSlots(account) - items >= 2 * BASE_SHARE;
    if (leavesShare && hasSlot(account, merchantId)) start();
  }
}

function isStalled({ taken, waitingSinceMs }: Slots): boolean {
  return taken > 0 && performance.now() - waitingSinceMs >= STALLED_AFTER_MS;
}

function takenBy({ takenByMerchant }: Slots, merchantId: string): number {
  return takenByMerchant.get(merchantId) ?? 0;
}

function tooManyInFlight(merchantId: string, provider: ProviderName): CreationRejectedError {
  const retryAfterSeconds = RETRY_AFTER_SECONDS;
  return new CreationRejectedError({ reason: 'creates_in_flight', merchantId, provider, retryAfterSeconds });
}
