import type { Queryable } from '../db/pool';
import type { Logger } from '../log';
import type { Sealer } from '../sealing';
import { claimDeliveries, recordAttempt, type Delivery } from './deliveries';
import { judgeTry } from './retry-policy';
import type { WebhookSender } from './send';

const MOST_UNDER_WAY = 128;
const MOST_PER_ENDPOINT = 8;
const POLL_MS = 1_000;

export interface Relay {
  /** There may be something to send. */
  wake(): void;
  /** Ends after the tries that are under way. */
  stop(): Promise<void>;
}

export interface RelayDependencies {
  readonly db: Queryable;
  readonly sealer: Sealer;
  readonly sender: WebhookSender;
  /** Gives a delivery whose first try failed to a workflow of its own; doing it twice is doing it once. */
  readonly handOver: (delivery: Delivery, waitSeconds: number) => Promise<void>;
  readonly log: Logger;
}

/**
 * Makes the first try of every delivery: claims what is due, sends it side by side within a bound for each endpoint, and
 * hands what failed over. Woken in process after a transition; a poll behind it finds what a dead relay left.
 */
export function startRelay({ db, sealer, sender, handOver, log }: RelayDependencies): Relay {
  const underWay = new Map<string, Promise<void>>();
  const perEndpoint = new Map<string, number>();
  const stopping = new AbortController();
  let ring: () => void = () => undefined;

  const running = run();
  return {
    wake: () => ring(),
    async stop() {
      stopping.abort();
      ring();
      await running;
      await Promise.all(underWay.values());
    },
  };

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const rung = nextRing();
      const claimed = await claim().catch((error: unknown) => {
        log.warn({ err: error }, 'the relay could not read what is due');
        return [];
      });
      for (const delivery of claimed) begin(delivery);
      if (claimed.length === 0) await rung;
    }
  }

  function claim(): Promise<Delivery[]> {
    const busyEndpoints = [...perEndpoint].filter(([, count]) => count >= MOST_PER_ENDPOINT).map(([id]) => id);
    const most = MOST_UNDER_WAY - underWay.size;
    if (most <= 0) return Promise.resolve([]);
    return claimDeliveries(db, sealer, { most, mostPerEndpoint: MOST_PER_ENDPOINT, busyEndpoints });
  }

  function begin(delivery: Delivery): void {
    count(delivery.endpointId, 1);
    const done = deliver(delivery)
      // The lease runs out and another try is made: nothing is lost.
      .catch((error: unknown) =>
        log.warn({ err: error, delivery: delivery.deliveryId }, 'a delivery was left to its lease'),
      )
      .finally(() => {
        underWay.delete(delivery.deliveryId);
        count(delivery.endpointId, -1);
        ring();
      });
    underWay.set(delivery.deliveryId, done);
  }

  async function deliver(delivery: Delivery): Promise<void> {
    const attempt = await sender.send(delivery);
    const verdict = judgeTry(delivery.attempts + 1, attempt);
    if (verdict.becomes !== 'retried') return recordAttempt(db, delivery.deliveryId, attempt, verdict);
    await handOver(delivery, verdict.waitSeconds);
    return recordAttempt(db, delivery.deliveryId, attempt, { becomes: 'handed_over' });
  }

  function count(endpointId: string, change: number): void {
    const now = (perEndpoint.get(endpointId) ?? 0) + change;
    if (now > 0) perEndpoint.set(endpointId, now);
    else perEndpoint.delete(endpointId);
  }

  /** Resolves when the bell rings, or when it is time to look anyway. */
  function nextRing(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, POLL_MS);
      ring = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
