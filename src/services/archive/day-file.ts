import { createHash } from 'node:crypto';
import { open, realpath, rename, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import type { Queryable } from '../../db/connection/pool';
import {
  beginArchiveFile,
  completeArchiveFile,
  readPaymentDocuments,
  type ArchiveBatch,
  type ArchiveFile,
  type PaymentDocument,
} from '../../db/operations/archive';
import { ConflictError } from '../../errors';
import { archiveFileName, compressLines, sha256Of, sizeOf, syncDirectory, writeChecksum } from './archive-file';
import { requireNoBreaks } from './require-no-breaks';

const WORKING_SUFFIX = '.part';

interface OpenFile {
  readonly file: ArchiveFile;
  readonly path: string;
  readonly handle: FileHandle;
}

/**
 * The file that a run writes for one day. Its name has an id of its own, so no two runs write one file. PostgreSQL
 * records it when it is complete and on the disk. A run that is killed leaves a file that no payment is removed by.
 */
export class DayFile {
  readonly #batches: ArchiveBatch[] = [];
  readonly #sha256 = createHash('sha256');
  #open: OpenFile | undefined;

  constructor(
    private readonly db: Queryable,
    private readonly directory: string,
    private readonly day: string,
  ) {}

  /**
   * Appends those of the payments that may be archived.
   * @returns their ids
   * @throws ConflictError if a ledger has a break
   */
  async append(ids: readonly string[]): Promise<readonly string[]> {
    const documents = await readPaymentDocuments(this.db, ids);
    const [first, last] = [documents[0], documents.at(-1)];
    if (!first || !last) return [];
    const written = documents.map(({ id }) => id);
    await requireNoBreaks(this.db, written);
    const bytes = await compressLines(documents.map(({ line }) => line));
    const { handle } = await this.#begin();
    await handle.appendFile(bytes);
    this.#sha256.update(bytes);
    this.#batches.push({
      payments: documents.length,
      createdFrom: first.createdAt,
      createdTo: last.createdAt,
      sha256: hashOf(documents),
    });
    return written;
  }

  async #begin(): Promise<OpenFile> {
    if (this.#open) return this.#open;
    const file = await beginArchiveFile(this.db, this.day);
    const published = path.join(this.directory, archiveFileName(file));
    if ((await sizeOf(published)) > 0) {
      throw new ConflictError('archive_file', `${published} is not a file of this database. Move it away.`);
    }
    this.#open = { file, path: published, handle: await open(published + WORKING_SUFFIX, 'wx', 0o600) };
    return this.#open;
  }

  /**
   * Reads the file back, gives it its name with its checksum beside it, and records it.
   * @returns its path; null if no payment was written
   * @throws ConflictError if the disk has something else
   */
  async complete(): Promise<string | null> {
    if (!this.#open) return null;
    const { file, path: published, handle } = this.#open;
    await handle.sync();
    const sha256 = this.#sha256.digest();
    if (!(await sha256Of(published + WORKING_SUFFIX)).equals(sha256)) {
      const text = `${published}${WORKING_SUFFIX} is not as it was written. The disk or a process has changed it.`;
      throw new ConflictError('archive_file', text);
    }
    await writeChecksum(published, sha256);
    await rename(published + WORKING_SUFFIX, published);
    await syncDirectory(this.directory);
    await completeArchiveFile(this.db, { ...file, sha256, path: await realpath(published), batches: this.#batches });
    return published;
  }

  async close(): Promise<void> {
    await this.#open?.handle.close();
  }
}

/** The function `archive_payments` compares it with the rows that it removes. */
function hashOf(documents: readonly PaymentDocument[]): Buffer {
  const hash = createHash('sha256');
  for (const { line } of documents) hash.update(`${line}\n`);
  return hash.digest();
}
