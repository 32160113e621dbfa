import { z } from 'zod';
import type { Queryable } from '../../db/connection/pool';
import {
  listAttention,
  type Attention,
  type AttentionCase,
  type AttentionRow,
  type TemporalAttention,
} from '../../services/attention';
import { hasPayoutsAccount } from '../../services/provider-accounts/payouts-account';
import { countOf, needsPerson, nextOf, nextOfRow, pageOf } from '../attention-commands';
import { withTemporal, type CommandContext } from '../command-context';
import type { LunasCommand } from '../lunas-command';
import { limit } from '../option-schemas';
import { formatTable, type CommandResult } from '../output';

export function addAttentionCommand(program: LunasCommand): void {
  program
    .command('attention')
    .description('list what waits for an operator, each with its next command; exits with 1 if a person has to act')
    .option('--limit <n>', 'maximum number of rows; each kind has at least one', '50')
    .examples('lunas attention', 'lunas attention --json')
    .databaseAction(z.object({ limit }), async ({ limit }, db, context) =>
      attentionResult(await listAttention(db, (ofKind) => readTemporal(context, db, ofKind), limit)),
    );
}

function readTemporal(context: CommandContext, db: Queryable, limit: number): Promise<TemporalAttention> {
  return withTemporal(context, db, async ({ records }, client) => {
    // Imported on demand, like the rest of Temporal's client.
    const { listUnpolledTaskQueues } = await import('../../temporal/task-queue-polls.js');
    const { listWorkerVersions } = await import('../../temporal/worker-versions.js');
    const hasPayouts = await hasPayoutsAccount(db);
    const [workflows, versions, unpolled] = await Promise.all([
      records.listNeedingAttention(limit),
      listWorkerVersions(client, context.config.TEMPORAL_DEPLOYMENT_NAME),
      listUnpolledTaskQueues(client, hasPayouts),
    ]);
    return { workflows, versions, unpolled };
  });
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
