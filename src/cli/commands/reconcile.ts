import type { Command } from 'commander';
import { z } from 'zod';
import { LONG_STATEMENT_MS } from '../../db/pool';
import { describeCoverage, type FoundBreak, type PartCoverage } from '../../domain/reconciliation';
import { reconcileAll, type Reconciliation } from '../../temporal/reconcile-all';
import { createProviderRegistry } from '../../providers/registry';
import { defineAction, withExamples } from '../command-action';
import { durationFrom } from '../option-schemas';
import { type CommandResult, formatTable } from '../output';
import { withDatabase, withTemporal } from '../command-context';
import type { Terminal } from '../terminal';

export function addReconcileCommand(program: Command, terminal: Terminal): void {
  const command = program
    .command('reconcile')
    .description('compare provider, PostgreSQL and workflow of open payments and of recently changed final payments')
    .option('--since <duration>', 'compare final payments that changed in this period', '7d');
  withExamples(command, 'lunas reconcile', 'lunas reconcile --since 30d --json');
  defineAction(command, terminal, z.object({ since: durationFrom(1) }), ({ since }, context) =>
    withDatabase(
      context,
      (db) =>
        withTemporal(context, async (workflows) => {
          const providers = createProviderRegistry(db, await context.sealer(), context.publicBaseUrl());
          try {
            const changedSince = new Date(Date.now() - since * 1_000);
            const isRecovering = context.config.LUNAS_RECOVERY_MODE === 'true';
            const report = (part: PartCoverage) =>
              terminal.stderr.write(`${nameOf(part)}: ${describeCoverage(part)}\n`);
            return reconciliationResult(
              await reconcileAll({ db, providers, workflows, isRecovering }, changedSince, report),
            );
          } finally {
            await providers.close();
          }
        }),
      LONG_STATEMENT_MS,
    ),
  );
}

function reconciliationResult(reconciliation: Reconciliation): CommandResult {
  const { seen, compared, indeterminate, breakCount, breaks, changedSince, parts } = reconciliation;
  const coverage = describeCoverage({ seen, compared, indeterminate, breaks: breakCount });
  const text = [
    `${coverage}; final payments since ${changedSince.toISOString()}`,
    formatTable(parts, PART_COLUMNS, ''),
    formatTable(breaks, BREAK_COLUMNS, 'No breaks found.'),
    ...(breaks.length < breakCount ? [`These are the first ${breaks.length}.`] : []),
  ];
  return {
    json: { reconciliation },
    text: text.join('\n\n'),
    ...(breakCount + indeterminate > 0 && { failure: `${breakCount} breaks, ${indeterminate} indeterminate.` }),
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
  DETAIL: ({ detail }: FoundBreak) => detail,
  THEN: ({ isResolvedByStatusQuery }: FoundBreak) =>
    isResolvedByStatusQuery ? 'its workflow queries the provider' : 'see lunas exceptions',
};
