import { closeNextDay, endDays } from '../src/db/ledger/balance-days';
import { observeDuration } from '../src/observability/metrics';
import type { ActivityDependencies } from './dependencies';
import { unchecked } from './verify-terms';

/**
 * Closes the days of the merchants' balances that are over, one by one. Then it cuts the last month of fees and issues
 * its invoices, and those of an earlier cut, whose process ended before. A repeated call does nothing more.
 * @param today the day on which the workflow started, `YYYY-MM-DD` in WIB: only days before it are closed
 * @returns how many days were closed
 */
export async function closeDays({ db, issueDueInvoices }: ActivityDependencies, today: string): Promise<number> {
  const startedAtMs = performance.now();
  try {
    await endDays(db, today);
  } finally {
    observeDuration('lunas_day_end_duration_seconds', {}, performance.now() - startedAtMs);
  }
  let closed = 0;
  while ((await closeNextDay(db)) !== null) closed += 1;
  await issueDueInvoices(today);
  return closed;
}
closeDays.checked = unchecked(closeDays);
