import type { Queryable } from '../db/pool';
import type { Logger } from '../logger';
import type { Sealer } from '../sealing';
import { claimDeliveries, LEASE_SECONDS, type Delivery } from './outbox';
import { batchWriter } from './batch-writer';
import { markDead } from './mark-dead';
import { recordDelivered, recordFailed, recordRetryWorkflowStarted, type Success } from './record-attempt';
import { decideRetry } from './retry-policy';
import { ATTEMPT_TIMEOUT_MS, type WebhookAttempt, type WebhookSender } from './send';

const MAX_IN_FLIGHT = 256;
const MAX_PER_ENDPOINT = 8;
/** Of one claim, so that its statement stays short. */
const MAX_PER_CLAIM = 48;
const POLL_MS = 1_000;
/** A claim that took longer to answer is left to its lease, which a try that begins now might outlive. */
const CLAIM_TIMEOUT_MS = LEASE_SECONDS * 1_000 - 2 * ATTEMPT_TIMEOUT_MS;

export interface Relay {
  /** There may be something to send. */
  wake(): void;
  /** Ends after the tries that are under way. */
  stop(): Promise<void>;
}

/** A delivery whose first try failed, and when the next one is due. */
export interface FailedDelivery {
  readonly delivery: Delivery;
  readonly attempt: WebhookAttempt;
  readonly delaySeconds: number;
}

export interface RelayDependencies {
  readonly db: Queryable;
  readonly sealer: Sealer;
  readonly sender: WebhookSender;
  /** Gives a delivery whose first try failed to a workflow of its own; doing it twice is doing it once. */
  readonly startRetryWorkflow: (failed: FailedDelivery) => Promise<void>;
  readonly log: Logger;
}

/**
 * Makes the first try of every delivery: claims what waits, sends it side by side within a bound for each endpoint, and
 * hands what failed over, except where the endpoint fails all the time: then its deliveries go on waiting in the outbox.
 * Woken in process after a transition; a poll behind it finds what a dead relay left.
 */
export function startRelay({ db, sealer, sender, startRetryWorkflow, log }: RelayDependencies): Relay {
  const inFlight = new Map<string, Promise<void>>();
  const perEndpoint = new Map<string, number>();
  const markingDead = new Map<string, Promise<void>>();
  const recordSuccess = batchWriter<Success>((successes) => recordDelivered(db, successes));
  const stopping = new AbortController();
  let wake: () => void = () => undefined;
  /** Of an endpoint, for want of room, when it last claimed; while it claims, of any, since room is made meanwhile. */
  let mayHaveMore: (endpointId: string) => boolean = () => false;

  const running = run();
  return {
    wake: () => wake(),
    async stop() {
      stopping.abort();
      wake();
      await running;
      await Promise.all(inFlight.values());
    },
  };

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const woken = nextWake();
      const claimed = await claim().catch((error: unknown) => {
        log.warn({ err: error }, 'the relay could not read what is due');
        return [];
      });
      for (const delivery of claimed) startDelivery(delivery);
      if (claimed.length === MAX_PER_CLAIM) continue;
      // It took all that there was room for; whoever makes room or brings more rings.
      await woken;
    }
  }

  async function claim(): Promise<Delivery[]> {
    const max = Math.min(MAX_IN_FLIGHT - inFlight.size, MAX_PER_CLAIM);
    mayHaveMore = () => true;
    if (max <= 0) return [];
    const requestedAt = Date.now();
    const taken = new Map(perEndpoint);
    const claimed = await claimDeliveries(db, sealer, {
      max,
      maxPerEndpoint: MAX_PER_ENDPOINT,
      inFlight: taken,
    });
    for (const { endpointId } of claimed) taken.set(endpointId, (taken.get(endpointId) ?? 0) + 1);
    if (claimed.length < max) mayHaveMore = (endpointId) => (taken.get(endpointId) ?? 0) >= MAX_PER_ENDPOINT;
    if (Date.now() - requestedAt <= CLAIM_TIMEOUT_MS) return claimed;
    log.warn({ deliveries: claimed.length }, 'a claim took too long and is left to its lease');
    return [];
  }

  function startDelivery(delivery: Delivery): void {
    count(delivery.endpointId, 1);
    const done = deliver(delivery)
      // The lease runs out and another try is made: nothing is lost.
      .catch((error: unknown) =>
        log.warn({ err: error, delivery: delivery.deliveryId }, 'a delivery was left to its lease'),
      )
      .finally(() => {
        inFlight.delete(delivery.deliveryId);
        count(delivery.endpointId, -1);
        if (mayHaveMore(delivery.endpointId)) wake();
      });
    inFlight.set(delivery.deliveryId, done);
  }

  async function deliver(delivery: Delivery): Promise<void> {
    if (delivery.endpointStatus === 'disabled') return markRestDead(delivery.endpointId);
    const attempt = await sender.send(delivery);
    const decision = decideRetry(1, attempt);
    switch (decision.next) {
      case 'delivered':
        return recordSuccess({ delivery, attempt });
      case 'dead':
        await recordFailed(db, delivery, attempt, { by: 'relay', deadReason: decision.reason });
        return markRestDead(delivery.endpointId);
      case 'retry': {
        const { status, isFailing } = await recordFailed(db, delivery, attempt, { by: 'relay', deadReason: null });
        if (status !== 'pending' || isFailing) return markRestDead(delivery.endpointId);
        await startRetryWorkflow({ delivery, attempt, delaySeconds: decision.delaySeconds });
        return recordRetryWorkflowStarted(db, delivery.deliveryId);
      }
    }
  }

  /** Of an endpoint that gets nothing any more; once at a time for each. */
  function markRestDead(endpointId: string): Promise<void> {
    const running = markingDead.get(endpointId);
    if (running) return running;
    const marking = markDead(db, endpointId, stopping.signal).finally(() => markingDead.delete(endpointId));
    markingDead.set(endpointId, marking);
    return marking;
  }

  function count(endpointId: string, change: number): void {
    const now = (perEndpoint.get(endpointId) ?? 0) + change;
    if (now > 0) perEndpoint.set(endpointId, now);
    else perEndpoint.delete(endpointId);
  }

  /** Resolves when the bell rings, or when it is time to look anyway. */
  function nextWake(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, POLL_MS);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
