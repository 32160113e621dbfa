import type { Command } from 'commander';
import { z } from 'zod';
import { LONG_STATEMENT_MS } from '../../db/pool';
import { describeCoverage, type FoundBreak, type PartCoverage } from '../../domain/reconciliation';
import { reconcileAll, type Reconciliation } from '../../engine/reconcile-all';
import { createProviderRegistry } from '../../providers/registry';
import { answering, withExamples } from '../answering';
import { durationFrom } from '../inputs';
import { type Answer, formatTable } from '../output';
import { withDatabase, withEngine } from '../settings';
import type { Terminal } from '../terminal';

export function addReconcileCommand(program: Command, terminal: Terminal): void {
  const command = program
    .command('reconcile')
    .description('compare provider, PostgreSQL and workflow of every open payment, and of those that changed lately')
    .option('--since <duration>', 'how far back payments that are over are compared', '7d');
  withExamples(command, 'lunas reconcile', 'lunas reconcile --since 30d --json');
  answering(command, terminal, z.object({ since: durationFrom(1) }), ({ since }, settings) =>
    withDatabase(
      settings,
      (db) =>
        withEngine(settings, async (engine) => {
          const providers = createProviderRegistry(db, await settings.sealer(), settings.publicBaseUrl());
          try {
            const changedSince = new Date(Date.now() - since * 1_000);
            const isRecovering = settings.config.LUNAS_RECOVERY_MODE === 'true';
            const report = (part: PartCoverage) =>
              terminal.stderr.write(`${nameOf(part)}: ${describeCoverage(part)}\n`);
            return reconciliationAnswer(
              await reconcileAll({ db, providers, engine, isRecovering }, changedSince, report),
            );
          } finally {
            await providers.close();
          }
        }),
      LONG_STATEMENT_MS,
    ),
  );
}

function reconciliationAnswer(reconciliation: Reconciliation): Answer {
  const { seen, compared, unclear, breakCount, breaks, changedSince, parts } = reconciliation;
  const coverage = describeCoverage({ seen, compared, indeterminate: unclear, breaks: breakCount });
  const text = [
    `${coverage}; final payments since ${changedSince.toISOString()}`,
    formatTable(parts, PART_COLUMNS, ''),
    formatTable(breaks, BREAK_COLUMNS, 'All is well.'),
    ...(breaks.length < breakCount ? [`These are the first ${breaks.length}.`] : []),
  ];
  return {
    json: { reconciliation },
    text: text.join('\n\n'),
    ...(breakCount + unclear > 0 && { failure: `${breakCount} breaks, ${unclear} unclear.` }),
  };
}

function nameOf({ accountId }: PartCoverage): string {
  return accountId ?? 'late payments, deliveries, workflows';
}

const PART_COLUMNS = {
  'PROVIDER ACCOUNT': nameOf,
  SEEN: ({ seen }: PartCoverage) => seen,
  COMPARED: ({ compared }: PartCoverage) => compared,
  INDETERMINATE: ({ indeterminate }: PartCoverage) => indeterminate,
  BREAKS: ({ breaks }: PartCoverage) => breaks,
};

const BREAK_COLUMNS = {
  KIND: ({ kind }: FoundBreak) => kind,
  PAYMENT: ({ referenceId }: FoundBreak) => referenceId,
  'WHAT IS WRONG': ({ detail }: FoundBreak) => detail,
  THEN: ({ replayable }: FoundBreak) =>
    replayable ? 'its workflow is told to ask the provider' : 'see lunas exceptions',
};
