import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline/promises';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createGunzip, gzip } from 'node:zlib';
import { z } from 'zod';
import type { ArchiveFile } from '../../db/operations/archive';
import { codeOf, ConflictError, InvalidError, messageOf } from '../../errors';
import { parseJson } from '../../lib/parse-json';

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
    throw new InvalidError('directory', `${directory} cannot be written (${messageOf(error)}).`);
  });
}

/** Compresses the lines of a batch. */
export function compressLines(lines: readonly string[]): Promise<Buffer> {
  return compress(lines.map((line) => `${line}\n`).join(''));
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

/** The documents of a file. @throws UserError if it is no file of the archive */
export async function* readArchiveFile(file: string): AsyncGenerator<ArchivedDocument> {
  for await (const line of readArchiveLines(file)) yield parseDocument(file, line);
}

/** The lines of a file. @throws UserError if it cannot be unpacked */
export async function* readArchiveLines(file: string): AsyncGenerator<string> {
  const content = createGunzip();
  const reading = pipeline(createReadStream(file), content).catch((error: unknown) => {
    content.destroy(error instanceof Error ? error : new Error(messageOf(error)));
  });
  for await (const line of createInterface({ input: content, crlfDelay: Number.POSITIVE_INFINITY })) yield line;
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

/** @throws UserError if the line is no payment */
export function parseDocument(file: string, line: string): ArchivedDocument {
  const document = documentSchema.safeParse(parseJson(line));
  if (document.success) return document.data;
  throw new ConflictError('archive_file', `${file} is not a file of the archive, or one of a newer version.`);
}
