import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ArchiveCandidate,
  type ArchiveFile,
  completeArchiveFile,
  countOpenPayments,
  createArchiveFile,
  findDayToArchive,
  findIncompleteFile,
  findRecordedBytes,
  listArchiveCandidates,
  lockArchiveFile,
  lockPayments,
  type PaymentPosition,
  readPaymentDocuments,
  removeArchivedPayments,
} from '../../db/records/archive';
import { findLedgerCheckpoint } from '../../db/records/ledger-verifications';
import type { Pool, Queryable } from '../../db/connection/pool';
import { UserError } from '../../errors';
import { findLedgerBreaks } from '../ledger/find-ledger-breaks';
import { readLedgersOf } from '../ledger/read-payment-ledgers';
import { archiveFileName, createArchiveDirectory, writeBatch, writeChecksum } from './archive-file';

/** A batch takes about 50 ms. Larger ones delay the creates beside them (docs/decisions/0013-growth.md). */
const BATCH_SIZE = 50;
/** The time between two batches, in durations of a batch. */
const PAUSES = 2;

const DAY_MS = 86_400_000;

/** As `archivable_payments`: a payment that ended later stays. */
export const MIN_AGE_DAYS = 7;

/** The payments that were created on one day, in UTC. */
export interface ArchivedDay {
  /** `YYYY-MM-DD` */
  readonly day: string;
  readonly archived: number;
  /** Final payments that still have open work: a late payment, a delivery, a notification or an exception. */
  readonly kept: number;
  /** Some of the payments that were kept. */
  readonly keptReferences: readonly string[];
  /** Payments that are not final. They stay. */
  readonly open: number;
  /** The path of the file; null if no payment was archived. */
  readonly file: string | null;
}

export interface ArchiveOptions {
  /** Days before this one, `YYYY-MM-DD` in UTC. */
  readonly before: string;
  readonly directory: string;
  /** Counts, and changes nothing. */
  readonly isDryRun: boolean;
  readonly onDay: (day: ArchivedDay) => void;
}

const MAX_REFERENCES = 5;

/**
 * Moves final payments to files, a file for each day of creation, and removes them from PostgreSQL in batches. A batch
 * is on the disk before it is removed, by one transaction. So a run can be stopped at any time, and the next one
 * continues its file. After each batch it waits twice as long as the batch took, so that creates beside it stay fast.
 * @throws UserError if the days are too young, or their ledger is not verified or has breaks
 */
export async function archivePayments(db: Pool, options: ArchiveOptions): Promise<ArchivedDay[]> {
  requireAge(options.before);
  await requireVerifiedLedger(db, options.before);
  if (!options.isDryRun) await createArchiveDirectory(options.directory);
  const days: ArchivedDay[] = [];
  for (let from: string | null = null; ;) {
    const day = await findDayToArchive(db, from, options.before);
    if (day === null) return days;
    const archived = await archiveDay(db, day, options);
    days.push(archived);
    options.onDay(archived);
    from = dayAfter(day);
  }
}

function requireAge(before: string): void {
  const newest = new Date(Date.now() - MIN_AGE_DAYS * DAY_MS).toISOString().slice(0, 10);
  if (before <= newest) return;
  throw new UserError(`Payments of the last ${MIN_AGE_DAYS} days stay: give --before ${newest} or an earlier day.`);
}

async function requireVerifiedLedger(db: Queryable, before: string): Promise<void> {
  const checkpoint = await findLedgerCheckpoint(db);
  if (checkpoint && checkpoint.recordedUntil >= new Date(before)) return;
  const until = checkpoint ? `only until ${checkpoint.recordedUntil.toISOString()}` : 'not yet';
  throw new UserError(`The ledger is verified ${until}. Run lunas ledger verify first; it must find no breaks.`);
}

function dayAfter(day: string): string {
  return new Date(Date.parse(day) + DAY_MS).toISOString().slice(0, 10);
}

async function archiveDay(db: Pool, day: string, { directory, isDryRun }: ArchiveOptions): Promise<ArchivedDay> {
  const keptReferences: string[] = [];
  let [archived, kept] = [0, 0];
  let file = isDryRun ? undefined : await findIncompleteFile(db, day);
  for await (const page of listPages(db, day)) {
    const archivable = page.filter(({ isArchivable }) => isArchivable);
    if (isDryRun) archived += archivable.length;
    else if (archivable.length > 0) {
      file ??= await createArchiveFile(db, day);
      archived += await archiveBatch(db, { file, path: pathOf(directory, file) }, archivable);
    }
    const others = page.filter(({ isArchivable }) => !isArchivable).map(({ referenceId }) => referenceId);
    kept += others.length;
    keptReferences.push(...others.slice(0, MAX_REFERENCES - keptReferences.length));
  }
  const path = file && (await completeFile(db, { file, path: pathOf(directory, file) }));
  return { day, archived, kept, keptReferences, open: await countOpenPayments(db, day), file: path ?? null };
}

async function* listPages(db: Queryable, day: string): AsyncGenerator<ArchiveCandidate[]> {
  for (let after: PaymentPosition | null = null; ;) {
    const page: ArchiveCandidate[] = await listArchiveCandidates(db, day, after, BATCH_SIZE);
    yield page;
    after = page.at(-1) ?? null;
    if (page.length < BATCH_SIZE) return;
  }
}

interface DayFile {
  readonly file: ArchiveFile;
  readonly path: string;
}

function pathOf(directory: string, file: ArchiveFile): string {
  return path.join(directory, archiveFileName(file));
}

/** @returns the path; undefined if the file has no payment yet */
async function completeFile(db: Queryable, { file, path }: DayFile): Promise<string | undefined> {
  const recordedBytes = await findRecordedBytes(db, file.id);
  if (recordedBytes === 0) return undefined;
  await completeArchiveFile(db, file.id, await writeChecksum(path, recordedBytes));
  return path;
}

/** @returns how many payments were archived */
async function archiveBatch(db: Pool, dayFile: DayFile, candidates: readonly ArchiveCandidate[]): Promise<number> {
  const startedAtMs = performance.now();
  const client = await db.connect();
  let failure: unknown;
  try {
    await client.query('begin');
    const archived = await moveBatch(
      client,
      dayFile,
      candidates.map(({ id }) => id),
    );
    await client.query('commit');
    return archived;
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    // A connection that is closed rolls its transaction back.
    client.release(failure !== undefined);
    await sleep(PAUSES * (performance.now() - startedAtMs));
  }
}

async function moveBatch(client: Queryable, { file, path }: DayFile, ids: readonly string[]): Promise<number> {
  await lockArchiveFile(client, file.id);
  const recordedBytes = await findRecordedBytes(client, file.id);
  const documents = await readPaymentDocuments(client, await lockPayments(client, ids));
  if (documents.length === 0) return 0;
  const paymentIds = documents.map(({ id }) => id);
  await requireNoBreaks(client, paymentIds);
  const endByte = await writeBatch(
    path,
    recordedBytes,
    documents.map(({ line }) => line),
  );
  await removeArchivedPayments(client, { fileId: file.id, endByte, paymentIds });
  return documents.length;
}

/** The rows may have been changed since their verification. */
async function requireNoBreaks(client: Queryable, paymentIds: readonly string[]): Promise<void> {
  for (const ledger of await readLedgersOf(client, paymentIds)) {
    for (const { paymentId, detail } of findLedgerBreaks(ledger)) {
      throw new UserError(
        `The ledger of payment ${paymentId} has a break: ${detail} It stays, with the payments after it. ` +
          'Run lunas ledger verify --all, and repair it first.',
      );
    }
  }
}
