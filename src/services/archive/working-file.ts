import { createHash } from 'node:crypto';
import { open, readdir, rename, rm, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import type { ArchiveRun, RecordedBatch } from '../../db/operations/archive';
import { ConflictError } from '../../errors';
import {
  archiveFileName,
  compressLines,
  readBatches,
  sha256Of,
  sizeOf,
  syncDirectory,
  writeChecksum,
} from './archive-file';

/*
 * The file that a run writes until it is complete. Its name has the run's id, so that no two runs ever write one file:
 * a run that was paused, and whose lock another run has, still changes only a file that is not needed any more.
 */

const WORKING_NAME = /^lunas-payments-(\d{4}-\d\d-\d\d)-(\d+)\.jsonl\.gz\.([0-9a-f-]{36})\.part$/;

export function workingPath(directory: string, run: ArchiveRun): string {
  return path.join(directory, `${archiveFileName(run)}.${run.runId}.part`);
}

/** The runs of which a directory has a file that was not published. */
export async function listWorkingFiles(directory: string): Promise<ArchiveRun[]> {
  const names = (await readdir(directory)).map((name) => WORKING_NAME.exec(name) ?? []);
  return names.flatMap(([, day, id, runId]) =>
    day !== undefined && runId !== undefined ? [{ day, id: Number(id), runId }] : [],
  );
}

/** What a batch added to the file. */
export interface WrittenBatch {
  /** The size of the file with this batch. */
  readonly endByte: number;
  readonly sha256: Buffer;
}

export class WorkingFile {
  private constructor(
    readonly path: string,
    private readonly handle: FileHandle,
  ) {}

  /** @throws Error if the file exists */
  static async create(file: string): Promise<WorkingFile> {
    const handle = await open(file, 'wx', 0o600);
    await syncDirectory(path.dirname(file));
    return new WorkingFile(file, handle);
  }

  /**
   * Copies the recorded batches of the file that another run began.
   * @throws ConflictError if that file does not have them
   */
  async copy(from: string, batches: readonly RecordedBatch[]): Promise<void> {
    let position = 0;
    for await (const bytes of readBatches(from, batches)) {
      await this.#write(bytes, position);
      position += bytes.length;
    }
    await this.handle.sync();
  }

  /**
   * Writes a batch after the recorded ones, and waits until the disk has it. A batch that this run wrote there and that
   * was rolled back is overwritten.
   */
  async append(recordedBytes: number, lines: readonly string[]): Promise<WrittenBatch> {
    const bytes = await compressLines(lines);
    await this.handle.truncate(recordedBytes);
    await this.#write(bytes, recordedBytes);
    await this.handle.sync();
    return { endByte: recordedBytes + bytes.length, sha256: createHash('sha256').update(bytes).digest() };
  }

  close(): Promise<void> {
    return this.handle.close();
  }

  /** Removes a file without recorded batches. */
  async remove(): Promise<void> {
    await rm(this.path, { force: true });
  }

  async #write(bytes: Buffer, position: number): Promise<void> {
    for (let written = 0; written < bytes.length;) {
      const { bytesWritten } = await this.handle.write(bytes, written, bytes.length - written, position + written);
      written += bytesWritten;
    }
  }
}

/**
 * Reads a file back and compares it with its recorded batches.
 * @returns its SHA-256
 * @throws ConflictError if it has less, more or something else
 */
export async function verifyWorkingFile(file: string, batches: readonly RecordedBatch[]): Promise<Buffer> {
  const hash = createHash('sha256');
  for await (const bytes of readBatches(file, batches)) hash.update(bytes);
  const [size, recordedBytes] = [await sizeOf(file), batches.at(-1)?.endByte ?? 0];
  if (size === recordedBytes) return hash.digest();
  throw new ConflictError(
    'archive_file',
    `${file} has ${size} bytes, but ${recordedBytes} are recorded. Archive again.`,
  );
}

/**
 * Gives a completed file its name, with its checksum beside it. Repeatable.
 * @throws ConflictError if another file has the name
 */
export async function publishFile(directory: string, run: ArchiveRun, sha256: Buffer): Promise<string> {
  const [working, published] = [workingPath(directory, run), path.join(directory, archiveFileName(run))];
  if ((await sizeOf(published)) > 0) {
    throw new ConflictError(
      'archive_file',
      `${published} is another file. Move it away, and archive again: ${working} is complete.`,
    );
  }
  if (!(await sha256Of(working)).equals(sha256)) {
    const text = `${working} was changed: its SHA-256 is not the recorded ${sha256.toString('hex')}.`;
    throw new ConflictError('archive_file', text);
  }
  await writeChecksum(published, sha256);
  await rename(working, published);
  await syncDirectory(directory);
  return published;
}
