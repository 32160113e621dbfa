import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import type { Pool, Queryable } from '../../db/connection/pool';
import { inTransaction } from '../../db/connection/transaction';
import {
  listArchiveBatches,
  lockArchiveBatch,
  lockPayments,
  readPaymentDocuments,
  removeArchivedPayments,
  type ArchiveFile,
  type RecordedBatch,
} from '../../db/operations/archive';
import { codeOf, ConflictError } from '../../errors';
import type { AuditDependencies } from '../audit/audit';
import { ofInstallation } from '../operations/of-installation';
import { Operation } from '../operations/operation';
import { done } from '../operations/rejections';
import { parseDocument, readArchiveLines } from './archive-file';
import { pauseAfter } from './pause';
import { requireNoBreaks } from './require-no-breaks';
import { requireRecorded } from './require-recorded';

/** The function `archive_payments` records each batch too, with the SHA-256 of its lines. */
export const removeByCopy = new Operation({
  name: 'archive.remove',
  ...ofInstallation,
  input: z.object({ copy: z.string() }),
  load: (_needs: AuditDependencies & { readonly db: Pool }) => Promise.resolve(null),
  target: ({ input }) => path.basename(input.copy),
  perform: async ({ needs, input }) => done(await removeArchived(needs.db, input.copy)),
});

export interface RemovedFile {
  /** Payments that this run has removed. */
  readonly removed: number;
  /** Payments of the file that earlier runs have removed. */
  readonly removedBefore: number;
}

/** A batch of a file with what the copy has of it. */
interface CopiedBatch extends RecordedBatch {
  readonly lines: readonly CopiedLine[];
}

interface CopiedLine {
  readonly id: string;
  readonly referenceId: string;
  readonly line: string;
}

/**
 * Removes the payments of a file from PostgreSQL, after it has compared a copy that comes from elsewhere: the copy with
 * the recorded SHA-256, then each payment with its line. It first compares all, then removes in batches, and compares
 * each again in its transaction. So a run can be stopped at any time, and the next one removes the rest.
 * @throws UserError if the copy is not that of a recorded file, or a payment has changed since it was written
 */
export async function removeArchived(db: Pool, copy: string): Promise<RemovedFile> {
  const file = await requireRecorded(db, copy);
  if ((await realpath(copy)) === file.path) {
    const text = `${copy} is the file that was written, and no copy. Fetch the copy to another path, and give that.`;
    throw new ConflictError('archive_file', text);
  }
  const batches = await listArchiveBatches(db, file.id);
  const removedBefore = countPayments(batches.filter(({ isRemoved }) => isRemoved));
  const rest = countPayments(batches) - removedBefore;
  if (rest === 0) return { removed: 0, removedBefore };
  for await (const { lines } of readRest(copy, batches)) await requireSame(db, lines, removedBefore);
  let removed = 0;
  for await (const batch of readRest(copy, batches)) {
    const count = removedBefore + removed;
    removed += await pauseAfter(() => removeBatchOrExplain(db, file, batch, count));
  }
  return { removed, removedBefore: removedBefore + rest - removed };
}

const countPayments = (batches: readonly RecordedBatch[]): number =>
  batches.reduce((sum, { payments }) => sum + payments, 0);

/** The batches that are not removed. */
async function* readRest(copy: string, batches: readonly RecordedBatch[]): AsyncGenerator<CopiedBatch> {
  const lines = readArchiveLines(copy);
  for (const batch of batches) {
    const read: CopiedLine[] = [];
    while (read.length < batch.payments) {
      const next = await lines.next();
      if (next.done === true) throw new ConflictError('archive_file', `${copy} has fewer payments than recorded.`);
      const { id, reference_id: referenceId } = parseDocument(copy, next.value).payment;
      read.push({ id, referenceId, line: next.value });
    }
    if (!batch.isRemoved) yield { ...batch, lines: read };
  }
}

/** SQLSTATE: `archive_payments` found a payment that has changed after it was compared in the same transaction. */
const RESTRICT_VIOLATION = '23001';

async function removeBatchOrExplain(db: Pool, file: ArchiveFile, batch: CopiedBatch, count: number): Promise<number> {
  try {
    return await removeBatch(db, file, batch, count);
  } catch (error) {
    if (codeOf(error) === RESTRICT_VIOLATION) await requireSame(db, batch.lines, count);
    throw error;
  }
}

async function removeBatch(db: Pool, file: ArchiveFile, batch: CopiedBatch, removedBefore: number): Promise<number> {
  const ids = batch.lines.map(({ id }) => id);
  return inTransaction(db, async (client) => {
    if (await lockArchiveBatch(client, file.id, batch.id)) return 0;
    await lockPayments(client, ids);
    await requireSame(client, batch.lines, removedBefore);
    await requireNoBreaks(client, ids);
    await removeArchivedPayments(client, batch.id, ids);
    return ids.length;
  });
}

async function requireSame(db: Queryable, lines: readonly CopiedLine[], removedBefore: number): Promise<void> {
  const ids = lines.map(({ id }) => id);
  const documents = new Map((await readPaymentDocuments(db, ids)).map(({ id, line }) => [id, line]));
  const changed = lines.find(({ id, line }) => documents.get(id) !== line);
  if (!changed) return;
  const removed = removedBefore === 0 ? 'Nothing was removed.' : `${removedBefore} payments of the file are removed.`;
  throw new ConflictError(
    'archive_payment_changed',
    `Payment ${changed.referenceId} is not as it was written, or has open work now. ${removed}`,
  );
}
