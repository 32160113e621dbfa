import type { Pool } from '../../src/db/connection/pool';
import { closeNextDay } from '../../src/db/records/balance-days';

/**
 * Closes all days up to one, whatever the clock, as only the owner can.
 * @param lastDay an SQL expression
 */
export async function closeDaysUntil(db: Pool, lastDay: string): Promise<void> {
  await db.query(`select end_days_until(${lastDay})`);
  while ((await closeNextDay(db)) !== null);
}
