import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline/promises';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createGunzip, gzip } from 'node:zlib';
import { z } from 'zod';
import type { ArchiveFile } from '../../db/records/archive';
import { codeOf, messageOf, UserError } from '../../errors';

/*
 * A file of the archive: JSON lines, a payment each, compressed by gzip. Beside it is a file with its SHA-256, in the
 * format of `sha256sum --check`.
 */

const compress = promisify(gzip);

const CHECKSUM_SUFFIX = '.sha256';

export function archiveFileName({ day, id }: ArchiveFile): string {
  return `lunas-payments-${day}-${id}.jsonl.gz`;
}

/** @throws UserError if the directory cannot be created */
export async function createArchiveDirectory(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    throw new UserError(
      `${directory} cannot be written (${messageOf(error)}). Give a writable directory with --directory.`,
    );
  });
}

/**
 * Opens a file for the bytes after its recorded batches. What a stopped run wrote there, without removing the payments,
 * is cut off.
 * @throws UserError if the file does not have the batches that are recorded
 */
async function openAtEnd(file: string, recordedBytes: number): Promise<FileHandle> {
  const size = await sizeOf(file);
  if (size < recordedBytes) {
    throw new UserError(
      `${file} has ${size} of the ${recordedBytes} bytes that a stopped run wrote. ` +
        'Give the directory of that run with --directory: only its file has those payments.',
    );
  }
  const handle = await open(file, size === 0 ? 'w' : 'r+', 0o600);
  await handle.truncate(recordedBytes);
  return handle;
}

/**
 * Writes a batch, and waits until the disk has it.
 * @param recordedBytes the size of the file after the last recorded batch
 * @returns the size of the file with this batch
 * @throws UserError if the file does not have the batches that are recorded
 */
export async function writeBatch(file: string, recordedBytes: number, lines: readonly string[]): Promise<number> {
  const bytes = await compress(lines.map((line) => `${line}\n`).join(''));
  const handle = await openAtEnd(file, recordedBytes);
  try {
    for (let written = 0; written < bytes.length;) {
      const { bytesWritten } = await handle.write(bytes, written, bytes.length - written, recordedBytes + written);
      written += bytesWritten;
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
  if (recordedBytes === 0) await syncDirectory(path.dirname(file));
  return recordedBytes + bytes.length;
}

async function sizeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return 0;
    throw error;
  }
}

/** A new name is on the disk only when its directory is. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Writes the checksum of a file whose batches are all recorded.
 * @returns the SHA-256
 * @throws UserError if the file does not have the batches that are recorded
 */
export async function writeChecksum(file: string, recordedBytes: number): Promise<Buffer> {
  await (await openAtEnd(file, recordedBytes)).close();
  const sha256 = await sha256Of(file);
  await writeFile(file + CHECKSUM_SUFFIX, `${sha256.toString('hex')}  ${path.basename(file)}\n`, { flush: true });
  await syncDirectory(path.dirname(file));
  return sha256;
}

async function sha256Of(file: string): Promise<Buffer> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest();
}

/** What a reader of a file needs of a line; the line has all columns of all rows of the payment. */
const documentSchema = z.looseObject({
  format: z.literal(1),
  payment: z.looseObject({
    id: z.string(),
    reference_id: z.string(),
    merchant_id: z.string(),
    status: z.string(),
    total_rupiah: z.number(),
    created_at: z.string(),
  }),
  transitions: z.array(
    z.looseObject({ version: z.number(), name: z.string(), occurred_at: z.string(), actor: z.string() }),
  ),
});

export type ArchivedDocument = z.output<typeof documentSchema>;

/**
 * The payments of a file, after its checksum was compared.
 * @throws UserError if the file or its checksum cannot be read, or if the file was changed
 */
export async function* readArchiveFile(file: string): AsyncGenerator<ArchivedDocument> {
  await requireUnchanged(file);
  const content = createGunzip();
  const reading = pipeline(createReadStream(file), content).catch((error: unknown) => {
    content.destroy(error instanceof Error ? error : new Error(messageOf(error)));
  });
  for await (const line of createInterface({ input: content, crlfDelay: Number.POSITIVE_INFINITY })) {
    yield parseDocument(file, line);
  }
  await reading;
}

async function requireUnchanged(file: string): Promise<void> {
  const expected = await readFile(file + CHECKSUM_SUFFIX, 'utf8').catch((error: unknown) => {
    throw new UserError(`The checksum of ${file} cannot be read (${messageOf(error)}).`);
  });
  const found = await sha256Of(file).catch((error: unknown) => {
    throw new UserError(`${file} cannot be read (${messageOf(error)}).`);
  });
  if (!expected.startsWith(`${found.toString('hex')} `)) {
    throw new UserError(`${file} was changed: its SHA-256 is not that of ${file}${CHECKSUM_SUFFIX}.`);
  }
}

function parseDocument(file: string, line: string): ArchivedDocument {
  const document = documentSchema.safeParse(JSON.parse(line));
  if (document.success) return document.data;
  throw new UserError(`${file} is not a file of lunas archive, or one of a newer version.`);
}
