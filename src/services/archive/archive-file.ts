import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline/promises';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { constants, createGunzip, gunzip, gzip, type InputType, type ZlibOptions } from 'node:zlib';
import { z } from 'zod';
import type { ArchiveFile, RecordedBatch } from '../../db/operations/archive';
import { codeOf, ConflictError, InvalidError, messageOf } from '../../errors';
import { parseJson } from '../../lib/parse-json';

/*
 * A file of the archive: JSON lines, a payment each, compressed by gzip. Beside it is a file with its SHA-256, in the
 * format of `sha256sum --check`.
 */

const compress = promisify(gzip);
const decompress = promisify<InputType, ZlibOptions, Buffer>(gunzip);

/** Does not fail if the end is missing. */
const AS_FAR_AS_POSSIBLE: ZlibOptions = { finishFlush: constants.Z_SYNC_FLUSH };

const CHECKSUM_SUFFIX = '.sha256';

export function archiveFileName({ day, id }: ArchiveFile): string {
  return `lunas-payments-${day}-${id}.jsonl.gz`;
}

/** @throws UserError if the directory cannot be created */
export async function createArchiveDirectory(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    throw new InvalidError('directory', `${directory} cannot be written (${messageOf(error)}).`);
  });
}

/** Compresses the lines of a batch. */
export function compressLines(lines: readonly string[]): Promise<Buffer> {
  return compress(lines.map((line) => `${line}\n`).join(''));
}

/**
 * The payments after the recorded batches of a file: a run wrote them and ended before it recorded them. A line that
 * is cut off, because the run was killed, is not among them.
 */
export async function readUnrecordedIds(file: string, recordedBytes: number): Promise<string[]> {
  if ((await sizeOf(file)) <= recordedBytes) return [];
  const compressed = await buffer(createReadStream(file, { start: recordedBytes }));
  const content = await decompress(compressed, AS_FAR_AS_POSSIBLE).catch(() => Buffer.alloc(0));
  return content
    .toString('utf8')
    .split('\n')
    .flatMap((line) => documentSchema.safeParse(parseJson(line)).data?.payment.id ?? []);
}

/**
 * The bytes of the recorded batches of a file, in their order.
 * @throws UserError if the file does not have what PostgreSQL has recorded
 */
export async function* readBatches(file: string, batches: readonly RecordedBatch[]): AsyncGenerator<Buffer> {
  if (batches.length === 0) return;
  await requireSize(file, batches.at(-1)?.endByte ?? 0);
  const handle = await open(file, 'r');
  try {
    let startByte = 0;
    for (const { endByte, payments, sha256 } of batches) {
      const bytes = Buffer.alloc(endByte - startByte);
      await handle.read(bytes, 0, bytes.length, startByte);
      const isRecorded = createHash('sha256').update(bytes).digest().equals(sha256);
      if (!isRecorded || (await countLines(bytes)) !== payments) {
        throw new ConflictError(
          'archive_file',
          `${file} does not have what was written: the ${payments} payments of the bytes ${startByte} to ${endByte}. ` +
            'The disk or another process has changed it. Only a backup of the database has these payments.',
        );
      }
      yield bytes;
      startByte = endByte;
    }
  } finally {
    await handle.close();
  }
}

async function requireSize(file: string, recordedBytes: number): Promise<void> {
  const size = await sizeOf(file);
  if (size >= recordedBytes) return;
  throw new ConflictError(
    'archive_file_incomplete',
    `${file} has ${size} of the ${recordedBytes} bytes that a stopped run wrote.`,
  );
}

async function countLines(compressed: Buffer): Promise<number> {
  const content = await decompress(compressed, {}).catch(() => Buffer.alloc(0));
  return content.toString('latin1').split('\n').length - 1;
}

/** The size of a file in bytes; 0 if there is none. */
export async function sizeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return 0;
    throw error;
  }
}

/** A new name is on the disk only when its directory is. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Writes the checksum that `sha256sum --check` reads beside a file. */
export async function writeChecksum(file: string, sha256: Buffer): Promise<void> {
  await writeFile(file + CHECKSUM_SUFFIX, `${sha256.toString('hex')}  ${path.basename(file)}\n`, { flush: true });
}

/** @throws UserError if the file cannot be read */
export async function sha256Of(file: string): Promise<Buffer> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash).catch((error: unknown) => {
    throw new ConflictError('archive_file', `${file} cannot be read (${messageOf(error)}).`);
  });
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

/** @throws UserError if the file is no file of the archive */
export async function* readArchiveFile(file: string): AsyncGenerator<ArchivedDocument> {
  const content = createGunzip();
  const reading = pipeline(createReadStream(file), content).catch((error: unknown) => {
    content.destroy(error instanceof Error ? error : new Error(messageOf(error)));
  });
  for await (const line of createInterface({ input: content, crlfDelay: Number.POSITIVE_INFINITY })) {
    yield parseDocument(file, line);
  }
  await reading;
}

/**
 * Compares a file with the checksum beside it, which who can write the one can write too.
 * @throws UserError if they differ
 */
export async function requireChecksum(file: string): Promise<void> {
  const expected = await readFile(file + CHECKSUM_SUFFIX, 'utf8').catch((error: unknown) => {
    throw new ConflictError('archive_file', `The checksum of ${file} cannot be read (${messageOf(error)}).`);
  });
  if (!expected.startsWith(`${(await sha256Of(file)).toString('hex')} `)) {
    const text = `${file} was changed: its SHA-256 is not that of ${file}${CHECKSUM_SUFFIX}.`;
    throw new ConflictError('archive_file', text);
  }
}

function parseDocument(file: string, line: string): ArchivedDocument {
  const document = documentSchema.safeParse(parseJson(line));
  if (document.success) return document.data;
  throw new ConflictError('archive_file', `${file} is not a file of the archive, or one of a newer version.`);
}
