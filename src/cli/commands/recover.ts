import type { Command } from 'commander';
import { z } from 'zod';
import type { Recovered } from '../../operator/recover';
import { recover } from '../../operator/recover';
import { answering } from '../answering';
import { formatTable } from '../output';
import { withDatabase, withEngine } from '../settings';
import type { Terminal } from '../terminal';

const REPORT_EVERY = 1_000;

export function addRecoverCommand(program: Command, terminal: Terminal): void {
  const command = program
    .command('recover')
    .description('rebuild from PostgreSQL the workflows that Temporal has lost: payments, late money, webhook retries');
  answering(command, terminal, z.object({}), (_input, settings) =>
    withDatabase(settings, (db) =>
      withEngine(settings, async (engine) => {
        const recovery = await recover(db, engine, (done) => {
          if (done % REPORT_EVERY === 0) terminal.stderr.write(`${done} looked at\n`);
        });
        const rows = Object.entries({
          payments: recovery.payments,
          'late payments': recovery.latePayments,
          'webhook deliveries': recovery.deliveries,
        });
        return { json: { recovery }, text: formatTable(rows, COLUMNS, 'nothing') };
      }),
    ),
  );
}

const COLUMNS = {
  WORKFLOWS: ([name]: [string, Recovered]) => name,
  REBUILT: ([, { rebuilt }]: [string, Recovered]) => rebuilt,
  'STILL THERE': ([, { running }]: [string, Recovered]) => running,
};
