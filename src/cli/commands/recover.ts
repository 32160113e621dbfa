import type { Command } from 'commander';
import { z } from 'zod';
import { recover, type Recovery, type RecoveryCounts, type RecoveryFailure } from '../../operator/recover';
import { LONG_STATEMENT_MS } from '../../db/pool';
import { defineAction, withExamples } from '../command-action';
import { timestamp } from '../option-schemas';
import { type CommandResult, formatTable } from '../output';
import { withDatabase, withTemporal } from '../command-context';
import type { Terminal } from '../terminal';

const REPORT_INTERVAL = 1_000;

export function addRecoverCommand(program: Command, terminal: Terminal): void {
  const command = program
    .command('recover')
    .description(
      'make PostgreSQL and Temporal consistent after one was lost or restored: rebuild lost workflows and rows',
    )
    .option(
      '--since <timestamp>',
      'look for lost rows in workflows started since then (default: one hour before the newest payment in PostgreSQL)',
    );
  withExamples(command, 'lunas recover', 'lunas recover --since 2026-01-31T09:00:00Z --json');
  defineAction(command, terminal, z.object({ since: timestamp.optional() }), ({ since }, context) =>
    withDatabase(
      context,
      (db) =>
        withTemporal(context, async (workflows) => {
          const transitionContext = {
            db,
            environment: context.config.LUNAS_ENVIRONMENT,
            onDeliveries: () => undefined,
          };
          const onProgress = (done: number) => {
            if (done % REPORT_INTERVAL === 0) terminal.stderr.write(`${done} processed\n`);
          };
          return recoveryResult(await recover(transitionContext, workflows, { startedSince: since, onProgress }));
        }),
      LONG_STATEMENT_MS,
    ),
  );
}

function recoveryResult(recovery: Recovery): CommandResult {
  const { failures } = recovery;
  const rows = Object.entries({
    'rows of payments': recovery.rows,
    payments: recovery.payments,
    'late payments': recovery.latePayments,
    'webhook deliveries': recovery.deliveries,
  });
  const counts = formatTable(rows, COUNT_COLUMNS, 'nothing');
  return {
    json: { recovery },
    text: failures.length === 0 ? counts : `${counts}\n\n${formatTable(failures, FAILURE_COLUMNS, '')}`,
    ...(failures.length > 0 && {
      failure: `${failures.length} items not recovered. Run the command again, or inspect them.`,
    }),
  };
}

const COUNT_COLUMNS = {
  WHAT: ([name]: [string, RecoveryCounts]) => name,
  REBUILT: ([, { rebuilt }]: [string, RecoveryCounts]) => rebuilt,
  NOTIFIED: ([, { notified }]: [string, RecoveryCounts]) => notified,
  'ALREADY RUNNING': ([, { running }]: [string, RecoveryCounts]) => running,
};

const FAILURE_COLUMNS = {
  ID: ({ id }: RecoveryFailure) => id,
  REASON: ({ reason }: RecoveryFailure) => reason,
};
