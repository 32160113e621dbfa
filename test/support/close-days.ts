import type { Pool } from '../../src/db/connection/pool';
import { closeNextDay } from '../../src/db/ledger/balance-days';
import { countTotals } from '../../src/db/ledger/payment-totals';
import { eventually } from './eventually';

/**
 * Closes all days up to one, whatever the clock, as only the owner can.
 * @param lastDay an SQL expression
 */
export async function closeDaysUntil(db: Pool, lastDay: string): Promise<void> {
  await db.query(`select end_days_until(${lastDay})`);
  while ((await closeNextDay(db)) !== null);
}

/** Counts the lines of balances, as a worker does every five seconds: the files of open days have only counted ones. */
export async function countLines(db: Pool): Promise<void> {
  await eventually(
    () => countTotals(db),
    (outcome) => outcome === 'complete',
  );
}
