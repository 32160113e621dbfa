import {
  listHandedOverDeliveries,
  listUnfinishedLatePayments,
  listUnfinishedPayments,
} from '../db/reads/list-unfinished';
import type { Queryable } from '../db/pool';
import type { PaymentsEngine } from '../engine/payments-engine';
import { sideBySide } from '../engine/side-by-side';
import { takeDeliveryBack } from '../webhooks/deliveries';

/** Of one sort of workflow: those that were lost and go on now, and those that Temporal still has. */
export interface Recovered {
  readonly rebuilt: number;
  readonly running: number;
}

export interface Recovery {
  readonly payments: Recovered;
  readonly latePayments: Recovered;
  readonly deliveries: Recovered;
}

const AT_ONCE = 16;

/**
 * Rebuilds what Temporal has lost from PostgreSQL, each at the right point of its life: timers at their original instants, a
 * submitted refund under its key. Temporal itself refuses to start what it still has, so this is safe beside running workflows,
 * and a second run changes nothing.
 * @throws when PostgreSQL or Temporal does not answer; run it again then
 */
export async function recover(
  db: Queryable,
  engine: PaymentsEngine,
  onProgress: (done: number) => void = () => undefined,
): Promise<Recovery> {
  let done = 0;
  const each = async <T>(items: AsyncIterable<T>, rebuild: (item: T) => Promise<'rebuilt' | 'running'>) => {
    const counts = { rebuilt: 0, running: 0 };
    await sideBySide(items, AT_ONCE, async (item) => {
      counts[await rebuild(item)] += 1;
      onProgress((done += 1));
    });
    return counts;
  };
  return {
    payments: await each(listUnfinishedPayments(db), ({ terms, ...resumption }) =>
      engine.resumePayment(terms, resumption),
    ),
    latePayments: await each(listUnfinishedLatePayments(db), (terms) => engine.resumeLatePayment(terms)),
    deliveries: await each(listHandedOverDeliveries(db), async (deliveryId) => {
      if (await engine.hasRetries(deliveryId)) return 'running';
      await takeDeliveryBack(db, deliveryId);
      return 'rebuilt';
    }),
  };
}
