import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool, Queryable } from '../../db/connection/pool';
import { findLedgerCheckpoint } from '../../db/ledger/ledger-verifications';
import {
  countOpenPayments,
  findCompletedChecksum,
  findDayToArchive,
  hasIncompleteFile,
  listArchiveCandidates,
  type ArchiveCandidate,
  type PaymentPosition,
} from '../../db/operations/archive';
import { DeclaredAction } from '../../domain/declared-action';
import { codeOf, ConflictError, InvalidError } from '../../errors';
import { createArchiveDirectory } from './archive-file';
import { DayFile } from './day-file';
import { listWorkingFiles, publishFile } from './working-file';

/** A batch takes about 50 ms. Larger ones delay the creates beside them (docs/decisions/0013-growth.md). */
const BATCH_SIZE = 50;
/** The time between two batches, in durations of a batch. */
const PAUSES = 2;

const DAY_MS = 86_400_000;

/** SQLSTATE: `archive_payments` found a payment that cannot be archived any more. */
const RESTRICT_VIOLATION = '23001';

/** Each attempt at a batch fails only if a payment of it changes at that moment. */
const MAX_ATTEMPTS = 10;

/** The age from which `archivable_payments` moves a payment: one that ended later stays. */
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

export const ARCHIVE = new DeclaredAction('archive.run');

/** The function `archive_payments` records each batch itself, with the SHA-256 of its lines. */
export const REMOVE_ARCHIVED = new DeclaredAction('archive.remove');

/**
 * Moves final payments to files, a file for each day of creation, and removes them from PostgreSQL in batches. A batch
 * is on the disk before it is removed, by one transaction. So a run can be stopped at any time, and the next one takes
 * its file over. A run whose file was taken over ends. After each batch it waits twice as long as the batch took, so
 * that creates beside it stay fast.
 * @throws UserError if the days are too young, or their ledger is not verified or has breaks
 */
export async function archivePayments(db: Pool, options: ArchiveOptions): Promise<ArchivedDay[]> {
  requireAge(options.before);
  await requireVerifiedLedger(db, options.before);
  if (!options.isDryRun) {
    await createArchiveDirectory(options.directory);
    await publishCompleted(db, options.directory);
  }
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

/** Publishes the files of runs that were stopped between the completion of a file and its publication. */
async function publishCompleted(db: Queryable, directory: string): Promise<void> {
  for (const run of await listWorkingFiles(directory)) {
    const sha256 = await findCompletedChecksum(db, run);
    if (sha256 !== null) await publishFile(directory, run, sha256);
  }
}

function requireAge(before: string): void {
  const newest = new Date(Date.now() - MIN_AGE_DAYS * DAY_MS).toISOString().slice(0, 10);
  if (before <= newest) return;
  throw new InvalidError('before', `Payments of the last ${MIN_AGE_DAYS} days stay: give ${newest} or an earlier day.`);
}

async function requireVerifiedLedger(db: Queryable, before: string): Promise<void> {
  const checkpoint = await findLedgerCheckpoint(db);
  if (checkpoint && checkpoint.recordedUntil >= new Date(before)) return;
  const until = checkpoint ? `only until ${checkpoint.recordedUntil.toISOString()}` : 'not yet';
  throw new ConflictError('ledger_not_verified', `The ledger is verified ${until}.`);
}

function dayAfter(day: string): string {
  return new Date(Date.parse(day) + DAY_MS).toISOString().slice(0, 10);
}

async function archiveDay(db: Pool, day: string, { directory, isDryRun }: ArchiveOptions): Promise<ArchivedDay> {
  const keptReferences: string[] = [];
  let [archived, kept] = [0, 0];
  const dayFile = new DayFile(db, directory, day);
  try {
    if (!isDryRun && (await hasIncompleteFile(db, day))) await dayFile.open();
    for await (const page of listPages(db, day)) {
      const archivable = page.filter(({ isArchivable }) => isArchivable).map(({ id }) => id);
      const moved = new Set(isDryRun || archivable.length === 0 ? archivable : await archiveBatch(dayFile, archivable));
      archived += moved.size;
      const others = page.filter(({ id }) => !moved.has(id)).map(({ referenceId }) => referenceId);
      kept += others.length;
      keptReferences.push(...others.slice(0, MAX_REFERENCES - keptReferences.length));
    }
    const file = await dayFile.complete();
    return { day, archived, kept, keptReferences, open: await countOpenPayments(db, day), file };
  } finally {
    await dayFile.close();
  }
}

async function* listPages(db: Queryable, day: string): AsyncGenerator<ArchiveCandidate[]> {
  for (let after: PaymentPosition | null = null; ;) {
    const page: ArchiveCandidate[] = await listArchiveCandidates(db, day, after, BATCH_SIZE);
    yield page;
    after = page.at(-1) ?? null;
    if (page.length < BATCH_SIZE) return;
  }
}

/** @returns the payments that were archived */
async function archiveBatch(dayFile: DayFile, ids: readonly string[]): Promise<readonly string[]> {
  const startedAtMs = performance.now();
  try {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await dayFile.move(ids);
      } catch (error) {
        // Something has changed one of the payments since the file was written: the next attempt skips it.
        if (codeOf(error) !== RESTRICT_VIOLATION || attempt === MAX_ATTEMPTS) throw error;
      }
    }
  } finally {
    await sleep(PAUSES * (performance.now() - startedAtMs));
  }
}
