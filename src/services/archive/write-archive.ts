import { z } from 'zod';
import type { Pool, Queryable } from '../../db/connection/pool';
import { findLedgerCheckpoint } from '../../db/ledger/ledger-verifications';
import {
  countOpenPayments,
  findDayToArchive,
  listArchiveCandidates,
  type ArchiveCandidate,
  type PaymentPosition,
} from '../../db/operations/archive';
import { ConflictError, InvalidError } from '../../errors';
import type { AuditDependencies } from '../audit/audit';
import { ofInstallation } from '../operations/of-installation';
import { Operation } from '../operations/operation';
import { done } from '../operations/rejections';
import { createArchiveDirectory } from './archive-file';
import { DayFile } from './day-file';
import { pauseAfter } from './pause';

/** A batch takes about 50 ms. Larger ones delay the creates beside them (docs/decisions/0013-growth.md). */
const BATCH_SIZE = 50;
const DAY_MS = 86_400_000;

/** The age from which `archivable_payments` moves a payment: one that ended later stays. */
export const MIN_AGE_DAYS = 7;

/** The payments that were created on one day, in UTC. */
export interface WrittenDay {
  /** `YYYY-MM-DD` */
  readonly day: string;
  readonly written: number;
  /** Final payments that still have open work: a late payment, a delivery, a notification or an exception. */
  readonly kept: number;
  /** Some of the payments that were kept. */
  readonly keptReferences: readonly string[];
  /** Payments that are not final. They stay. */
  readonly open: number;
  /** The path of the file; null if no payment was written. */
  readonly file: string | null;
}

export interface WriteOptions {
  /** Days before this one, `YYYY-MM-DD` in UTC. */
  readonly before: string;
  readonly directory: string;
  /** Counts, and changes nothing. */
  readonly isDryRun: boolean;
  readonly onDay: (day: WrittenDay) => void;
}

const MAX_REFERENCES = 5;

interface WriteNeeds extends AuditDependencies, Pick<WriteOptions, 'onDay'> {
  readonly db: Pool;
}

export const writeToArchive = new Operation({
  name: 'archive.write',
  ...ofInstallation,
  input: z.object({ before: z.iso.date(), directory: z.string() }),
  load: (_needs: WriteNeeds) => Promise.resolve(null),
  target: ({ input }) => input.before,
  perform: async ({ needs: { db, onDay }, input }) =>
    done(await writeArchive(db, { ...input, isDryRun: false, onDay })),
});

/**
 * Writes final payments to files, a file for each day of creation. It changes no payment: `removeArchived` does, after
 * it has compared a copy. A run that was stopped leaves a file that is not recorded, and the next one writes its own.
 * @throws UserError if the days are too young, or their ledger is not verified or has breaks
 */
export async function writeArchive(db: Pool, options: WriteOptions): Promise<WrittenDay[]> {
  requireAge(options.before);
  await requireVerifiedLedger(db, options.before);
  if (!options.isDryRun) await createArchiveDirectory(options.directory);
  const days: WrittenDay[] = [];
  for (let from: string | null = null; ;) {
    const day = await findDayToArchive(db, from, options.before);
    if (day === null) return days;
    const written = await writeDay(db, day, options);
    days.push(written);
    options.onDay(written);
    from = dayAfter(day);
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

async function writeDay(db: Pool, day: string, { directory, isDryRun }: WriteOptions): Promise<WrittenDay> {
  const keptReferences: string[] = [];
  let [written, kept] = [0, 0];
  const dayFile = new DayFile(db, directory, day);
  try {
    for await (const page of listPages(db, day)) {
      const archivable = page.filter(({ isArchivable }) => isArchivable).map(({ id }) => id);
      const taken = new Set(isDryRun ? archivable : await pauseAfter(() => dayFile.append(archivable)));
      written += taken.size;
      const others = page.filter(({ id }) => !taken.has(id)).map(({ referenceId }) => referenceId);
      kept += others.length;
      keptReferences.push(...others.slice(0, MAX_REFERENCES - keptReferences.length));
    }
    const file = await dayFile.complete();
    return { day, written, kept, keptReferences, open: await countOpenPayments(db, day), file };
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
