import { closeDays as closeEndedDays } from '../src/db/records/balance-days';
import type { ActivityDependencies } from './dependencies';
import { unchecked } from './verify-terms';

/** Closes the days of the merchants' balances that are over. A repeated call closes nothing more. */
export function closeDays({ db }: ActivityDependencies): Promise<number> {
  return closeEndedDays(db);
}
closeDays.checked = unchecked(closeDays);
