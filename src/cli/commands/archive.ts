import path from 'node:path';
import { z } from 'zod';
import { LONG_STATEMENT_MS } from '../../db/connection/pool';
import { formatRupiah } from '../../domain/money';
import { UserError } from '../../errors';
import { readArchiveFile, requireChecksum, type ArchivedDocument } from '../../services/archive/archive-file';
import { removeByCopy, type RemovedFile } from '../../services/archive/remove-archived';
import { requireRecorded } from '../../services/archive/require-recorded';
import { MIN_AGE_DAYS, writeArchive, writeToArchive, type WrittenDay } from '../../services/archive/write-archive';
import { requireDone } from '../../services/operations/require-done';
import { withDatabase, type LunasCommand } from '../lunas-command';
import { day } from '../option-schemas';
import { formatFields, formatRow, formatTable, type CommandResult } from '../output';
import { runOperation } from '../run-operation';

export function defineArchive(archive: LunasCommand): void {
  addWrite(archive);
  addRemove(archive);
  addShow(archive);
}

const writeInput = z.object({
  before: day,
  directory: z.string().min(1, 'must not be empty').optional(),
  dryRun: z.boolean().default(false),
});

function addWrite(archive: LunasCommand): void {
  archive
    .command('write')
    .description('write old final payments to files, and remove nothing')
    .option('--before <day>', `payments created before this day, in UTC; at least ${MIN_AGE_DAYS} days ago`)
    .option('--directory <path>', 'where the files are written (default: archive in LUNAS_HOME)')
    .option('--dry-run', 'count the payments, and write nothing')
    .examples(
      'lunas archive write --before 2026-01-31 --dry-run',
      'lunas archive write --before 2026-01-31 --directory /srv/lunas-archive --note "yearly archive"',
    )
    .writeAction(
      writeInput,
      async ({ before, directory, dryRun }, audit, context) => {
        const input = {
          before,
          directory: path.resolve(directory ?? path.join(context.dataDirectory.path, 'archive')),
        };
        const onDay = (day: WrittenDay) => void archive.terminal.stderr.write(`${formatRow(dayRow(day))}\n`);
        if (dryRun) return writeResult(await writeArchive(audit.db, { ...input, isDryRun: true, onDay }), true);
        const written = await runOperation(audit, writeToArchive, { ...audit, onDay }, { path: {}, input });
        return writeResult(requireDone(written), false);
      },
      { statementTimeoutMs: LONG_STATEMENT_MS },
    );
}

function writeResult(days: readonly WrittenDay[], isDryRun: boolean): CommandResult {
  const written = days.reduce((sum, day) => sum + day.written, 0);
  const total = isDryRun
    ? `${written} payments would be written.`
    : `${written} payments written, and none removed. Copy the files elsewhere, then run lunas archive remove.`;
  return {
    json: { dryRun: isDryRun, written, days },
    text: `${formatTable(days.map(dayRow), 'There is no final payment before that day.')}\n\n${total}`,
  };
}

function dayRow({ day, written, open, kept, keptReferences, file }: WrittenDay) {
  const more = kept > keptReferences.length ? ' …' : '';
  return {
    DAY: day,
    WRITTEN: written,
    OPEN: open,
    KEPT: kept === 0 ? 0 : `${kept} (${keptReferences.join(', ')}${more})`,
    FILE: file,
  };
}

const removeInput = z.object({ copy: z.string().min(1, 'must not be empty') });

function addRemove(archive: LunasCommand): void {
  archive
    .command('remove')
    .description('compare a copy of a file with what was written and with PostgreSQL, then remove its payments there')
    .requiredOption('--copy <path>', 'the file, fetched back from where it was copied to')
    .examples('lunas archive remove --copy /tmp/lunas-payments-2026-01-30-1.jsonl.gz --note "yearly archive"')
    .writeAction(
      removeInput,
      async ({ copy }, audit) => {
        const call = { path: {}, input: { copy: path.resolve(copy) } };
        return removeResult(copy, requireDone(await runOperation(audit, removeByCopy, audit, call)));
      },
      { statementTimeoutMs: LONG_STATEMENT_MS },
    );
}

function removeResult(copy: string, { removed, removedBefore }: RemovedFile): CommandResult {
  const text =
    removed === 0
      ? `The ${removedBefore} payments of ${copy} were removed before. Nothing is left to do.`
      : `${removed} payments removed; ${removedBefore} were removed before.`;
  return { json: { file: copy, removed, removedBefore }, text };
}

const showInput = z.object({ file: z.string(), payment: z.string().optional(), offline: z.boolean().default(false) });

function addShow(archive: LunasCommand): void {
  archive
    .command('show <file>')
    .description('compare an archive file with the checksum in the database, and show what it has')
    .option('--payment <payment>', 'a payment of the file, by its id or reference, with all its rows')
    .option('--offline', 'without a database: compare it only with the checksum file beside it')
    .examples(
      'lunas archive show lunas-payments-2026-01-30-1.jsonl.gz',
      'lunas archive show lunas-payments-2026-01-30-1.jsonl.gz --payment LN0123456789ABCDEF --json',
    )
    .checkedAction(showInput, async ({ file, payment, offline }, context) => {
      if (offline) await requireChecksum(file);
      else await withDatabase(context, (db) => requireRecorded(db, file));
      return payment === undefined ? summarize(file, offline) : showPayment(file, payment);
    });
}

async function summarize(file: string, isOffline: boolean): Promise<CommandResult> {
  const counts = new Map<string, { readonly status: string; payments: number; totalRupiah: number }>();
  for await (const { payment } of readArchiveFile(file)) {
    const count = counts.get(payment.status) ?? { status: payment.status, payments: 0, totalRupiah: 0 };
    count.payments += 1;
    count.totalRupiah += payment.total_rupiah;
    counts.set(payment.status, count);
  }
  const statuses = [...counts.values()].sort((one, other) => (one.status < other.status ? -1 : 1));
  const payments = statuses.reduce((sum, status) => sum + status.payments, 0);
  const table = statuses.map((row) => ({
    STATUS: row.status,
    PAYMENTS: row.payments,
    TOTAL: formatRupiah(row.totalRupiah),
  }));
  const checked = isOffline ? `that of ${file}.sha256. The database was not asked.` : 'correct.';
  return {
    json: { file, payments, statuses },
    text: `${payments} payments; the checksum is ${checked}\n\n${formatTable(table, 'The file has no payments.')}`,
  };
}

async function showPayment(file: string, idOrReference: string): Promise<CommandResult> {
  for await (const document of readArchiveFile(file)) {
    const { id, reference_id } = document.payment;
    if (id === idOrReference || reference_id === idOrReference) return { json: document, text: render(document) };
  }
  throw new UserError(`${file} has no payment ${idOrReference}.`);
}

function render({ payment, transitions }: ArchivedDocument): string {
  const fields = formatFields({
    Payment: payment.reference_id,
    Id: payment.id,
    Merchant: payment.merchant_id,
    Status: payment.status,
    Total: formatRupiah(payment.total_rupiah),
    Created: payment.created_at,
  });
  const rows = transitions.map(({ version, name, occurred_at, actor }) => ({
    VERSION: version,
    TRANSITION: name,
    AT: occurred_at,
    BY: actor,
  }));
  return `${fields}\n\n${formatTable(rows, 'It has no transitions.')}\n\n--json prints all its rows.`;
}
