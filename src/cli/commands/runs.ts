import { z } from 'zod';
import { RUN_KINDS } from '../../domain/daily-runs';
import { requireDone } from '../../services/operations/require-done';
import { listRuns, type ListedRun } from '../../services/runs/list-runs';
import { repeatRun } from '../../services/runs/repeat-run';
import { withTemporal } from '../command-context';
import type { LunasCommand } from '../lunas-command';
import { joinOptions, limit, note, oneOf } from '../option-schemas';
import { formatTable } from '../output';
import { runOperation } from '../run-operation';

const kind = oneOf(RUN_KINDS);

export function defineRuns(runs: LunasCommand): void {
  runs
    .command('list')
    .description('list the runs, newest first, with what each has done and with whom it failed')
    .option('--kind <kind>', joinOptions(RUN_KINDS))
    .option('--limit <n>', 'maximum number', '20')
    .examples('lunas runs list --kind payouts')
    .databaseAction(z.object({ kind: kind.optional(), limit }), async ({ kind = null, limit }, db) => {
      const runs = await listRuns(db, { kind, limit });
      return { json: { runs }, text: formatTable(runs.map(toRow), 'No schedule has run yet.') };
    });
  runs
    .command('repeat <kind>')
    .description('run a scheduled job now; what an earlier run of the day has done is not done twice')
    .requiredOption('--note <text>', 'why')
    .examples('lunas runs repeat payouts --note "the bank is back, ticket 4711"')
    .writeAction(z.object({ kind, note }), async ({ kind }, audit, context) => {
      const { db, log } = audit;
      const { workflowId } = await withTemporal(context, db, async (workflows) =>
        requireDone(await runOperation(audit, repeatRun, { db, log, workflows }, { path: { kind }, input: {} })),
      );
      const text = `The run of ${kind} has begun. \`lunas runs list --kind ${kind}\` has its result.`;
      return { json: { kind, workflowId }, text };
    });
}

function toRow({ kind, day, startedAt, finishedAt, done, failed, failedCount, failure, isComplete }: ListedRun) {
  const names = failed.join(', ');
  return {
    KIND: kind,
    DAY: day,
    STARTED: startedAt,
    FINISHED: finishedAt,
    COMPLETE: isComplete ? 'yes' : 'no',
    DONE: done,
    FAILED: failure ?? (failedCount > failed.length ? `${failedCount}: ${names} …` : names),
  };
}
