import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { PAYOUTS_TASK_QUEUE } from '../../../workflows/ids';
import { createPool, type Queryable } from '../../db/connection/pool';
import { findAccountsOf, listRecordedCases } from '../../db/operations/list-attention';
import {
  CASES_OF_KIND,
  HALF_MS,
  listAttention,
  type Attention,
  type AttentionCase,
  type AttentionRow,
  type TemporalAttention,
} from '../../services/attention';
import { hasPayoutsAccount } from '../../services/provider-accounts/payouts-account';
import { countOf, needsPerson, nextOf, nextOfRow, pageOf } from '../attention-commands';
import type { CommandContext } from '../command-context';
import { explainDatabaseError } from '../database-error';
import { requireOwnSettings, requireSettings, type LunasCommand } from '../lunas-command';
import { limit } from '../option-schemas';
import { formatTable, type CommandResult } from '../output';
import type { Terminal } from '../terminal';

/** The statements of PostgreSQL's half run beside each other. */
const CONNECTIONS = 8;

export function defineAttention(attention: LunasCommand): void {
  attention
    .option('--limit <n>', 'maximum number of rows; each kind has at least one', '50')
    .option('--watch', 'print the list again whenever it changes, until the command is stopped')
    .examples('lunas attention', 'lunas attention --watch', 'lunas attention --json')
    .checkedAction(z.object({ limit, watch: z.boolean().default(false) }), async ({ limit, watch }, context) => {
      const read = () => readAttention(context, limit);
      return watch ? watchAttention(read, attention.terminal) : attentionResult(await read());
    });
}

const WATCH_INTERVAL_MS = 5_000;

/** Prints the list under its time whenever another row, or another number of cases, is in it. */
async function watchAttention(read: () => Promise<Attention>, { stdout }: Terminal): Promise<never> {
  for (let printed: string | null = null; ;) {
    const found = await read();
    const rows = JSON.stringify(found.rows.map(({ kind, cause, subject, count }) => [kind, cause, subject, count]));
    if (rows !== printed) stdout.write(`${new Date().toISOString()}\n${attentionResult(found).text}\n\n`);
    printed = rows;
    await sleep(WATCH_INTERVAL_MS);
  }
}

/** Each half has its own time, and needs neither the other one nor a master key. */
async function readAttention(context: CommandContext, limit: number): Promise<Attention> {
  const databaseUrl = await context.databaseUrl();
  await requireOwnSettings(context);
  const readTemporal = await loadTemporalReader();
  const timeouts = { connectionTimeoutMs: HALF_MS, statementTimeoutMs: HALF_MS };
  const db = createPool(databaseUrl, { max: CONNECTIONS, ...timeouts });
  try {
    const halves = {
      postgresql: () =>
        requireSettings(context, db)
          .then(() => listRecordedCases(db, CASES_OF_KIND))
          .catch((error: unknown) => {
            throw explainDatabaseError(error, databaseUrl);
          }),
      temporal: () => readTemporal(context, db),
      accountsOf: (references: readonly string[]) => findAccountsOf(db, references),
    };
    return await listAttention(halves, limit);
  } finally {
    // One that hangs ends by its own timeouts, after the result was printed.
    void db.end();
  }
}

/** Temporal's client is imported on demand. That is no part of the time that Temporal has. */
async function loadTemporalReader(): Promise<typeof readTemporal> {
  const { BoundedClient } = await import('../../temporal/bounded-client.js');
  const { connectClient } = await import('../../temporal/connection.js');
  const { NO_PAYLOAD_KEYS } = await import('../../temporal/payload-codec.js');
  const { listUnpolledTaskQueues } = await import('../../temporal/task-queue-polls.js');
  const { listWorkerVersions } = await import('../../temporal/worker-versions.js');
  const { WorkflowRecords } = await import('../../temporal/workflow-records.js');
  return readTemporal;

  async function readTemporal(context: CommandContext, db: Queryable): Promise<TemporalAttention> {
    const target = await context.temporal();
    const client = new BoundedClient(connectClient(target, NO_PAYLOAD_KEYS)).withDeadline(Date.now() + HALF_MS);
    try {
      // Without PostgreSQL, payouts may be in use.
      const hasPayouts = hasPayoutsAccount(db).catch(() => true);
      const [workflows, versions, unpolled] = await Promise.all([
        new WorkflowRecords(client).listNeedingAttention(CASES_OF_KIND),
        listWorkerVersions(client, context.config.TEMPORAL_DEPLOYMENT_NAME),
        listUnpolledTaskQueues(client, true),
      ]);
      const isNeeded = await hasPayouts;
      return {
        workflows,
        versions,
        unpolled: unpolled.filter(({ taskQueue }) => isNeeded || taskQueue !== PAYOUTS_TASK_QUEUE),
      };
    } finally {
      void client.close();
    }
  }
}

function attentionResult({ rows, moreRows, cases }: Attention): CommandResult {
  const table = formatTable(rows.map(tableRow), 'Nothing waits for an operator.');
  const waiting = rows.filter(needsPerson).length + moreRows;
  return {
    json: { cases: cases.map(caseDocument), rows: rows.map(rowDocument), moreRows },
    text: moreRows === 0 ? table : `${table}\n${moreRows} more (--limit)`,
    ...(waiting > 0 && { failure: waiting === 1 ? '1 row needs a person.' : `${waiting} rows need a person.` }),
  };
}

function tableRow(row: AttentionRow) {
  const page = pageOf(row);
  return {
    SINCE: row.since,
    COUNT: countOf(row),
    KIND: row.kind.replaceAll('_', ' '),
    NEXT: nextOfRow(row),
    DETAIL: page === null ? row.detail : `${row.detail} (${page})`,
    MERCHANT: row.merchantId,
  };
}

function caseDocument(found: AttentionCase) {
  const { kind, subject, merchantId, since, detail, cause } = found;
  return { kind, subject, merchantId, since, detail, cause, next: nextOf(found), page: pageOf(found) };
}

function rowDocument(row: AttentionRow) {
  const { kind, subject, merchantId, since, detail, cause, count } = row;
  const found = { kind, count, subject, merchantId, since, detail, cause };
  return { ...found, next: nextOfRow(row), page: pageOf(row), needsPerson: needsPerson(row) };
}
