import type { Sealer } from '../crypto/sealing';
import type { Queryable } from '../db/connection/pool';
import { subjectLogId } from '../domain/subject';
import { batchWriter } from '../lib/batch-writer';
import { withCorrelation } from '../observability/correlation';
import type { Logger } from '../observability/logger';
import { attemptDelivery } from './attempt-delivery';
import { logAttempt } from './log-attempt';
import { markDead } from './mark-dead';
import { claimDeliveries, LEASE_SECONDS, type Delivery, type ExpandBody } from './outbox';
import { recordDelivered, recordFailed, recordRetryWorkflowStarted, type Success } from './record-attempt';
import { decideRetry } from './retry-policy';
import { ATTEMPT_TIMEOUT_MS, type WebhookAttempt, type WebhookSender } from './send';

const MAX_PER_ENDPOINT = 8;
/** The limit of one claim, so that its statement stays short. */
const MAX_PER_CLAIM = 48;
const POLL_MS = 1_000;
/** After a slower claim, an attempt that starts now could outlast the lease. */
const CLAIM_TIMEOUT_MS = LEASE_SECONDS * 1_000 - 2 * ATTEMPT_TIMEOUT_MS;

/** A delivery whose first attempt failed, and the delay before the next one. */
export interface FailedDelivery {
  readonly delivery: Delivery;
  readonly attempt: WebhookAttempt;
  readonly delaySeconds: number;
}

interface RelayDependencies {
  readonly db: Queryable;
  readonly sealer: Sealer;
  readonly sender: WebhookSender;
  readonly expandBody: ExpandBody;
  /** Idempotent: a delivery has one retry workflow. */
  readonly startRetryWorkflow: (failed: FailedDelivery) => Promise<void>;
  /** Attempts (`RELAY_SLOTS`). */
  readonly maxInFlight: number;
  readonly log: Logger;
}

/**
 * Makes the first attempt of every delivery. It claims pending deliveries and sends them concurrently, with a limit
 * for each endpoint that holds over all relays. It starts a retry workflow for a failed delivery. If the endpoint is
 * failing, its deliveries stay in the outbox instead. A transition wakes the relay; a poll finds what a terminated
 * relay had claimed.
 */
export class Relay {
  readonly #inFlight = new Map<string, Promise<void>>();
  readonly #markingDead = new Map<string, Promise<void>>();
  readonly #stopping = new AbortController();
  readonly #recordSuccess = batchWriter<Success>((successes) => recordDelivered(this.dependencies.db, successes));
  readonly #running: Promise<void>;
  #endPause: () => void = () => undefined;
  /** Endpoints whose last claim used all their room. */
  readonly #full = new Set<string>();
  /** Whether the last claim may have left deliveries of the endpoint; during a claim, true for all endpoints. */
  #mayHaveMore: (endpointId: string) => boolean = () => false;

  constructor(private readonly dependencies: RelayDependencies) {
    this.#running = this.#run();
  }

  /** There may be deliveries to send. */
  wake(): void {
    this.#endPause();
  }

  /** Resolves when the attempts in flight are complete. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.wake();
    await this.#running;
    await Promise.all(this.#inFlight.values());
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const woken = this.#pause();
      const claimed = await this.#claim().catch((error: unknown) => {
        this.dependencies.log.warn({ err: error }, 'webhook claim failed');
        return [];
      });
      for (const delivery of claimed) this.#start(delivery);
      if (claimed.length === MAX_PER_CLAIM) continue;
      // The claim used all the room. New deliveries and new room wake the relay.
      await woken;
    }
  }

  async #claim(): Promise<Delivery[]> {
    const { db, maxInFlight, log } = this.dependencies;
    const max = Math.min(maxInFlight - this.#inFlight.size, MAX_PER_CLAIM);
    this.#mayHaveMore = () => true;
    if (max <= 0) return [];
    const requestedAt = Date.now();
    const claimed = await claimDeliveries(db, { max, maxPerEndpoint: MAX_PER_ENDPOINT });
    for (const { endpointId, usesAllRoom } of claimed) {
      if (usesAllRoom) this.#full.add(endpointId);
      else this.#full.delete(endpointId);
    }
    if (claimed.length < max) this.#mayHaveMore = (endpointId) => this.#full.has(endpointId);
    if (Date.now() - requestedAt <= CLAIM_TIMEOUT_MS) return claimed;
    log.warn({ deliveries: claimed.length }, 'webhook claim too slow; deliveries retried after lease');
    return [];
  }

  #start(delivery: Delivery): void {
    const ids = subjectLogId(delivery.subject);
    const done = withCorrelation(delivery.correlation, ids, () => this.#deliverOrAbandon(delivery)).finally(() => {
      this.#inFlight.delete(delivery.deliveryId);
      if (this.#mayHaveMore(delivery.endpointId)) this.wake();
    });
    this.#inFlight.set(delivery.deliveryId, done);
  }

  async #deliverOrAbandon(delivery: Delivery): Promise<void> {
    try {
      await this.#deliver(delivery);
    } catch (error) {
      const fields = { err: error, delivery: delivery.deliveryId };
      this.dependencies.log.warn(fields, 'delivery abandoned; retried after lease');
    }
  }

  async #deliver(delivery: Delivery): Promise<void> {
    const { db, startRetryWorkflow, log } = this.dependencies;
    if (delivery.endpointStatus === 'disabled') return this.#markRestDead(delivery.endpointId);
    const attempt = await attemptDelivery(this.dependencies, delivery);
    const decision = decideRetry(1, attempt);
    logAttempt(log, { delivery, attempt, number: 1, decision });
    switch (decision.next) {
      case 'delivered':
        return this.#recordSuccess({ delivery, attempt });
      case 'dead':
        await recordFailed(db, delivery, attempt, { by: 'relay', deadReason: decision.reason });
        return this.#markRestDead(delivery.endpointId);
      case 'retry': {
        const { status, isFailing } = await recordFailed(db, delivery, attempt, { by: 'relay', deadReason: null });
        if (status !== 'pending' || isFailing) return this.#markRestDead(delivery.endpointId);
        await startRetryWorkflow({ delivery, attempt, delaySeconds: decision.delaySeconds });
        return recordRetryWorkflowStarted(db, delivery.deliveryId);
      }
    }
  }

  /** For an endpoint that is disabled or failing; one run at a time for each endpoint. */
  #markRestDead(endpointId: string): Promise<void> {
    const running = this.#markingDead.get(endpointId);
    if (running) return running;
    const marking = markDead(this.dependencies.db, endpointId, this.#stopping.signal).finally(() =>
      this.#markingDead.delete(endpointId),
    );
    this.#markingDead.set(endpointId, marking);
    return marking;
  }

  /** Resolves when the relay is woken or the next poll is due. */
  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, POLL_MS);
      this.#endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
