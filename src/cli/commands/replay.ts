import { z } from 'zod';
import { createLogger } from '../../observability/logger';
import { WORKFLOW_BUNDLE } from '../../package-info';
import type { OpenReplay } from '../../worker/replay-open';
import { connectTemporal } from '../command-context';
import type { LunasCommand } from '../lunas-command';
import { wholeNumber } from '../option-schemas';
import { formatTable, type CommandResult } from '../output';

const REPORT_INTERVAL = 100;
const MAX_OPEN = 100_000;

export function defineReplay(replay: LunasCommand): void {
  const onProgress = (replayed: number) => {
    if (replayed % REPORT_INTERVAL === 0) replay.terminal.stderr.write(`${replayed} replayed\n`);
  };
  replay
    .requiredOption('--open <number>', 'how many open workflows of each type, of each status and age')
    .examples('lunas replay --open 200', 'lunas replay --open 1000 --json')
    .databaseAction(z.object({ open: wholeNumber(1, MAX_OPEN) }), async ({ open }, db, context) => {
      const { client, keys } = await connectTemporal(context, db);
      try {
        const { replayOpenWorkflows } = await import('../../worker/replay-open.js');
        const log = createLogger('cli', context.config.LOG_LEVEL, replay.terminal.stderr);
        return replayResult(
          await replayOpenWorkflows({
            client,
            keys,
            workflowBundlePath: WORKFLOW_BUNDLE,
            maxPerType: open,
            log,
            onProgress,
          }),
        );
      } finally {
        await client.connection.close();
      }
    });
}

function replayResult(replay: OpenReplay): CommandResult {
  const { replayed, failures } = replay;
  const summary = `${replayed} open workflows replayed, ${failures.length} failed`;
  const rows = failures.map(({ workflowId, reason }) => ({ WORKFLOW: workflowId, REASON: reason }));
  return {
    json: { replay },
    text: failures.length === 0 ? summary : `${summary}\n\n${formatTable(rows, '')}`,
    ...(failures.length > 0 && { failure: 'Do not deploy this version: its worker would stop these workflows.' }),
  };
}
