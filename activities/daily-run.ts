import { beginDailyRun as begin, finishDailyRun as finish } from '../src/db/transitions/daily-runs';
import type { EndedRun, StartedRun } from '../src/domain/daily-runs';
import type { ActivityDependencies } from './dependencies';
import { unchecked } from './verify-terms';

export function beginDailyRun({ db }: ActivityDependencies, run: StartedRun): Promise<void> {
  return begin(db, run);
}
beginDailyRun.checked = unchecked(beginDailyRun);

export function finishDailyRun({ db }: ActivityDependencies, run: EndedRun): Promise<void> {
  return finish(db, run);
}
finishDailyRun.checked = unchecked(finishDailyRun);
