import type { Pool } from '../db/connection/pool';
import { countTotals, recomputeNext } from '../db/ledger/payment-totals';
import type { Logger } from '../observability/logger';
import { increment } from '../observability/metrics';
import { repeat, type Repetition } from './repeat';

const INTERVAL_MS = 5_000;
/** After a pause of hours there are many transitions: a run counts up to 20 times as many as one transaction may. */
const MAX_COUNTS = 20;

interface TotalsDependencies {
  readonly db: Pool;
  readonly log: Logger;
}

/**
 * Keeps the totals of the dashboard: counts new transitions and lines every five seconds, and recomputes the last 40
 * days once a night. Several workers may run it: one counts at a time.
 */
export function startTotals(dependencies: TotalsDependencies): Repetition {
  return repeat(INTERVAL_MS, (stopping) =>
    keepTotals(dependencies, stopping).catch((error: unknown) => {
      dependencies.log.warn({ err: error }, 'totals not counted; will retry');
    }),
  );
}

async function keepTotals({ db, log }: TotalsDependencies, stopping: AbortSignal): Promise<void> {
  for (let count = 0; count < MAX_COUNTS && !stopping.aborted; count += 1) {
    if ((await countTotals(db)) !== 'full') break;
  }
  const nextCountAtMs = Date.now() + INTERVAL_MS;
  while (!stopping.aborted && Date.now() < nextCountAtMs) {
    const step = await recomputeNext(db);
    if (step.isDone) return;
    if (step.corrections === 0) continue;
    increment('lunas_payment_totals_corrected_total', {}, step.corrections);
    log.error({ corrections: step.corrections }, 'totals corrected');
  }
}
