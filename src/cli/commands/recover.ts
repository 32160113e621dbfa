import type { Command } from 'commander';
import { z } from 'zod';
import { recover, type Recovery, type RecoveryCounts, type RecoveryFailure } from '../../operator/recover';
import { LONG_STATEMENT_MS } from '../../db/pool';
import { answering, withExamples } from '../answering';
import { instant } from '../inputs';
import { type Answer, formatTable } from '../output';
import { withDatabase, withEngine } from '../settings';
import type { Terminal } from '../terminal';

const REPORT_EVERY = 1_000;

export function addRecoverCommand(program: Command, terminal: Terminal): void {
  const command = program
    .command('recover')
    .description(
      'make PostgreSQL and Temporal agree again after one was lost or restored: rebuild lost workflows and rows, notify the others',
    )
    .option(
      '--since <instant>',
      'look for rows that PostgreSQL has lost among workflows started since then (default: an hour before its newest payment)',
    );
  withExamples(command, 'lunas recover', 'lunas recover --since 2026-01-31T09:00:00Z --json');
  answering(command, terminal, z.object({ since: instant.optional() }), ({ since }, settings) =>
    withDatabase(
      settings,
      (db) =>
        withEngine(settings, async (engine) => {
          const context = { db, environment: settings.config.LUNAS_ENVIRONMENT, onDeliveries: () => undefined };
          const onProgress = (done: number) => {
            if (done % REPORT_EVERY === 0) terminal.stderr.write(`${done} looked at\n`);
          };
          return recoveryAnswer(await recover(context, engine, { startedSince: since, onProgress }));
        }),
      LONG_STATEMENT_MS,
    ),
  );
}

function recoveryAnswer(recovery: Recovery): Answer {
  const { failures } = recovery;
  const rows = Object.entries({
    'rows of payments': recovery.rows,
    payments: recovery.payments,
    'late payments': recovery.latePayments,
    'webhook deliveries': recovery.deliveries,
  });
  const counts = formatTable(rows, COLUMNS, 'nothing');
  return {
    json: { recovery },
    text: failures.length === 0 ? counts : `${counts}\n\n${formatTable(failures, FAILURE_COLUMNS, '')}`,
    ...(failures.length > 0 && {
      failure: `${failures.length} could not be recovered: run it again, or look at them.`,
    }),
  };
}

const COLUMNS = {
  WHAT: ([name]: [string, RecoveryCounts]) => name,
  REBUILT: ([, { rebuilt }]: [string, RecoveryCounts]) => rebuilt,
  NOTIFIED: ([, { notified }]: [string, RecoveryCounts]) => notified,
  'ALREADY RUNNING': ([, { running }]: [string, RecoveryCounts]) => running,
};

const FAILURE_COLUMNS = {
  ID: ({ id }: RecoveryFailure) => id,
  REASON: ({ reason }: RecoveryFailure) => reason,
};
