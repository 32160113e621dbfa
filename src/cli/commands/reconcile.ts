import type { Command } from 'commander';
import { z } from 'zod';
import type { FoundBreak } from '../../domain/reconciliation';
import { reconcile } from '../../engine/reconcile';
import { createProviderRegistry } from '../../providers/registry';
import { answering, withExamples } from '../answering';
import { durationFrom } from '../inputs';
import { formatTable } from '../output';
import { withDatabase, withEngine } from '../settings';
import type { Terminal } from '../terminal';

const REPORT_EVERY = 1_000;

export function addReconcileCommand(program: Command, terminal: Terminal): void {
  const command = program
    .command('reconcile')
    .description('compare provider, PostgreSQL and workflow of every open payment, and of those that changed lately')
    .option('--since <duration>', 'how far back payments that are over are compared', '7d');
  withExamples(command, 'lunas reconcile', 'lunas reconcile --since 30d --json');
  answering(command, terminal, z.object({ since: durationFrom(1) }), ({ since }, settings) =>
    withDatabase(settings, (db) =>
      withEngine(settings, async (engine) => {
        const providers = createProviderRegistry(db, await settings.sealer(), settings.publicBaseUrl());
        try {
          const changedSince = new Date(Date.now() - since * 1_000);
          const reconciliation = await reconcile({ db, providers, engine }, changedSince, (compared) => {
            if (compared % REPORT_EVERY === 0) terminal.stderr.write(`${compared} compared\n`);
          });
          const { compared, unclear, breaks } = reconciliation;
          const summary = `${compared} payments compared, ${breaks.length} breaks, ${unclear} unclear`;
          return {
            json: { reconciliation },
            text: `${summary}\n${formatTable(breaks, COLUMNS, 'All is well.')}`,
            ...(breaks.length + unclear > 0 && { failure: `${breaks.length} breaks, ${unclear} unclear.` }),
          };
        } finally {
          await providers.close();
        }
      }),
    ),
  );
}

const COLUMNS = {
  KIND: ({ kind }: FoundBreak) => kind,
  PAYMENT: ({ referenceId, paymentId }: FoundBreak) => referenceId ?? paymentId,
  'WHAT IS WRONG': ({ detail }: FoundBreak) => detail,
  THEN: ({ replayable }: FoundBreak) =>
    replayable ? 'its workflow is told to ask the provider' : 'see lunas exceptions',
};
