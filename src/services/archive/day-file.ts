import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { Pool, Queryable } from '../../db/connection/pool';
import { inTransaction } from '../../db/connection/transaction';
import {
  assignArchiveFile,
  completeArchiveFile,
  countPayments,
  findRecordedBytes,
  listArchiveBatches,
  lockArchiveFile,
  lockIncompleteFile,
  lockPayments,
  readPaymentDocuments,
  removeArchivedPayments,
  type ArchiveRun,
  type IncompleteFile,
} from '../../db/operations/archive';
import { ConflictError } from '../../errors';
import { findLedgerBreaks } from '../ledger/find-ledger-breaks';
import { readLedgersOf } from '../ledger/read-payment-ledgers';
import { archiveFileName, readUnrecordedIds, sizeOf } from './archive-file';
import { publishFile, verifyWorkingFile, WorkingFile, workingPath } from './working-file';

interface OpenFile {
  readonly run: ArchiveRun;
  readonly working: WorkingFile;
}

/**
 * The file that a run writes for one day. PostgreSQL decides which run that is: each transaction locks the row of the
 * file and ends if another run has taken it over. The transaction that removes payments is committed only by the run
 * whose file has them.
 */
export class DayFile {
  #open: OpenFile | undefined;

  constructor(
    private readonly db: Pool,
    private readonly directory: string,
    private readonly day: string,
  ) {}

  /**
   * Takes over the file of the day that is not complete, or begins a new one.
   * @throws ConflictError if the file does not have its recorded batches, or has payments that are nowhere else
   */
  async open(): Promise<OpenFile> {
    if (this.#open) return this.#open;
    const { lastRunId, ...opened } = await inTransaction(this.db, async (client) => {
      const file = await lockIncompleteFile(client, this.day);
      const run = { id: file.id, day: file.day, runId: randomUUID() };
      const working = await WorkingFile.create(workingPath(this.directory, run));
      try {
        await this.#takeOver(client, file, working);
        await assignArchiveFile(client, run);
      } catch (error) {
        await working.close();
        await working.remove();
        throw error;
      }
      return { run, working, lastRunId: file.lastRunId };
    });
    this.#open = opened;
    if (lastRunId !== null) await rm(workingPath(this.directory, { ...opened.run, runId: lastRunId }), { force: true });
    return opened;
  }

  async #takeOver(client: Queryable, file: IncompleteFile, working: WorkingFile): Promise<void> {
    const { lastRunId } = file;
    const batches = await listArchiveBatches(client, file.id);
    const published = path.join(this.directory, archiveFileName(file));
    const last = lastRunId === null ? published : workingPath(this.directory, { ...file, runId: lastRunId });
    if (batches.length === 0 && (await sizeOf(published)) > 0) {
      const text = `${published} is not a file of this database. Move it away, and archive again.`;
      throw new ConflictError('archive_file', text);
    }
    const unrecorded = await readUnrecordedIds(last, batches.at(-1)?.endByte ?? 0);
    if ((await countPayments(client, unrecorded)) !== new Set(unrecorded).size) {
      throw new ConflictError(
        'archive_file',
        `${last} has payments after those that are recorded, and PostgreSQL does not have them. Keep the file: ` +
          'the database may be restored from an old backup. Move the file away only if you have its payments.',
      );
    }
    await working.copy(last, batches);
  }

  /**
   * Moves payments to the file in one transaction, those that may be archived and that are not locked.
   * @returns their ids
   * @throws ConflictError if another run has taken the file over, or a ledger has a break
   */
  async move(ids: readonly string[]): Promise<readonly string[]> {
    const { run, working } = await this.open();
    return inTransaction(this.db, async (client) => {
      await lockArchiveFile(client, run);
      const documents = await readPaymentDocuments(client, await lockPayments(client, ids));
      if (documents.length === 0) return [];
      const paymentIds = documents.map(({ id }) => id);
      await requireNoBreaks(client, paymentIds);
      const recordedBytes = await findRecordedBytes(client, run.id);
      const lines = documents.map(({ line }) => line);
      const written = await working.append(recordedBytes, lines);
      await removeArchivedPayments(client, { fileId: run.id, ...written, paymentIds });
      return paymentIds;
    });
  }

  /**
   * Reads the file back, compares it with what is recorded, and publishes it.
   * @returns its path; null if the file has no payment yet
   * @throws ConflictError if the file differs, or another run has taken it over
   */
  async complete(): Promise<string | null> {
    if (!this.#open) return null;
    const { run, working } = this.#open;
    const batches = await listArchiveBatches(this.db, run.id);
    if (batches.length === 0) {
      await working.remove();
      return null;
    }
    // A run that takes the file over removes this one: its error has the better message.
    const verified = verifyWorkingFile(working.path, batches);
    await verified.catch(() => inTransaction(this.db, (client) => lockArchiveFile(client, run)));
    const sha256 = await verified;
    await inTransaction(this.db, async (client) => {
      await lockArchiveFile(client, run);
      await completeArchiveFile(client, run.id, sha256);
    });
    return publishFile(this.directory, run, sha256);
  }

  async close(): Promise<void> {
    await this.#open?.working.close();
  }
}

/** The rows may have been changed since their verification. */
async function requireNoBreaks(client: Queryable, paymentIds: readonly string[]): Promise<void> {
  for (const ledger of await readLedgersOf(client, paymentIds)) {
    for (const { paymentId, detail } of findLedgerBreaks(ledger)) {
      const text = `The ledger of payment ${paymentId} has a break: ${detail} It stays, with the payments after it.`;
      throw new ConflictError('ledger_break', text);
    }
  }
}
