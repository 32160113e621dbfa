import type { Activities } from '../../activities';
import type { EndedRun } from '../../src/domain/daily-runs';

type RunActivities = Pick<Activities, 'beginDailyRun' | 'finishDailyRun'>;

/** The activities that record runs, and the runs that ended. */
export function collectRuns(): { readonly runs: EndedRun[]; readonly activities: RunActivities } {
  const runs: EndedRun[] = [];
  return {
    runs,
    activities: {
      beginDailyRun: () => Promise.resolve(),
      finishDailyRun: async (run) => {
        runs.push(run);
      },
    },
  };
}
