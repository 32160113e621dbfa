import { FINAL_STATUSES, OPEN_STATUSES } from '../../domain/payment-transitions';
import { ConflictError } from '../../errors';
import type { Queryable } from '../connection/pool';
import type { AccountSums } from '../ledger/ledger-verifications';
import { CREATED_AT, STATUS } from '../payments/payment-indexes';

/* What `lunas archive` reads and writes. The view `archivable_payments` has the rules of what may be removed. */

/** The position of a payment among all of a day, oldest first. */
export interface PaymentPosition {
  /** The time of creation in UTC, as PostgreSQL writes it, with its microseconds. */
  readonly createdAt: string;
  readonly id: string;
}

export interface ArchiveCandidate extends PaymentPosition {
  readonly referenceId: string;
  /** Nothing will change the payment any more, and its ledger was verified. */
  readonly isArchivable: boolean;
}

/**
 * The first day from this one on, and before the other, on which a final payment was created, or whose file a stopped
 * run has not completed; `YYYY-MM-DD`, UTC.
 */
export async function findDayToArchive(db: Queryable, from: string | null, before: string): Promise<string | null> {
  const { rows } = await db.query<{ day: string | null }>(
    `select min(day)::text as day from (
       select oldest.created_at::date as day
       from unnest($1::text[]) as wanted (status) cross join lateral (
         select ${CREATED_AT} as created_at from payments
         where ${STATUS} = wanted.status and ${CREATED_AT} >= $2::date and ${CREATED_AT} < $3::date
         order by ${CREATED_AT}, payments.id limit 1
       ) oldest
       union all
       select day from archive_files where completed_at is null and day >= $2::date and day < $3::date
     ) days`,
    [FINAL_STATUSES, from ?? '-infinity', before],
  );
  return rows[0]?.day ?? null;
}

/** The next final payments of a day, oldest first. */
export async function listArchiveCandidates(
  db: Queryable,
  day: string,
  after: PaymentPosition | null,
  limit: number,
): Promise<ArchiveCandidate[]> {
  const { rows } = await db.query<ArchiveCandidate>(
    `select candidate.id, candidate.created_at::text as "createdAt", candidate.reference_id as "referenceId",
       exists (select from archivable_payments archivable where archivable.id = candidate.id) as "isArchivable"
     from (
       select page.* from unnest($1::text[]) as wanted (status) cross join lateral (
         select payments.id, payments.reference_id, ${CREATED_AT} as created_at from payments
         where ${STATUS} = wanted.status and (${CREATED_AT}, payments.id) > ($3::timestamp, $4::uuid)
           and ${CREATED_AT} < $2::date + 1
         order by ${CREATED_AT}, payments.id limit $5
       ) page
       order by page.created_at, page.id limit $5
     ) candidate
     order by candidate.created_at, candidate.id`,
    [FINAL_STATUSES, day, after?.createdAt ?? day, after?.id ?? BEFORE_ALL, limit],
  );
  return rows;
}

const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

/** How many payments of a day are open. */
export async function countOpenPayments(db: Queryable, day: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*) from unnest($1::text[]) as wanted (status) cross join lateral (
       select from payments
       where ${STATUS} = wanted.status and ${CREATED_AT} >= $2::date and ${CREATED_AT} < $2::date + 1
     ) open`,
    [OPEN_STATUSES, day],
  );
  return rows[0]?.count ?? 0;
}

/**
 * Locks payments against every change until the transaction ends.
 * @returns those that no other transaction has locked
 */
export async function lockPayments(db: Queryable, ids: readonly string[]): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    'select id from payments where id = any ($1::uuid[]) order by id for update skip locked',
    [ids],
  );
  return rows.map(({ id }) => id);
}

/**
 * A payment with all its rows, as one line of JSON: the format of an archive file (docs/archive.md). What others wrote
 * about a customer is not in it: an erasure could not reach it there.
 */
export interface PaymentDocument {
  readonly id: string;
  readonly line: string;
}

/** The payments among these that may be archived, oldest first. */
export async function readPaymentDocuments(db: Queryable, ids: readonly string[]): Promise<PaymentDocument[]> {
  const { rows } = await db.query<PaymentDocument>(
    `select payments.id, payment_document(payments)::text as line
     from payments
     where payments.id = any ($1::uuid[]) and exists (
       select from archivable_payments archivable where archivable.id = payments.id
     )
     order by payments.created_at, payments.id`,
    [ids],
  );
  return rows;
}

export interface ArchiveFile {
  readonly id: number;
  /** `YYYY-MM-DD`, in UTC. */
  readonly day: string;
}

/** Whether a run has begun a file of the day and not completed it. */
export async function hasIncompleteFile(db: Queryable, day: string): Promise<boolean> {
  const { rows } = await db.query('select from archive_files where day = $1 and completed_at is null', [day]);
  return rows.length > 0;
}

/** A file, and the run that may write it. */
export interface ArchiveRun extends ArchiveFile {
  readonly runId: string;
}

/** A file that is not complete. */
export interface IncompleteFile extends ArchiveFile {
  /** The run that wrote it until now; null for a new file. */
  readonly lastRunId: string | null;
}

/**
 * The file of the day that is not complete, or a new one, locked until the transaction ends.
 * @throws ConflictError if another run completes it at this moment
 */
export async function lockIncompleteFile(db: Queryable, day: string): Promise<IncompleteFile> {
  await db.query(
    'insert into archive_files (day) values ($1) on conflict (day) where completed_at is null do nothing',
    [day],
  );
  const { rows } = await db.query<IncompleteFile>(
    `select id, day::text, run_id as "lastRunId" from archive_files where day = $1 and completed_at is null for update`,
    [day],
  );
  if (!rows[0]) throw anotherRun(day);
  return rows[0];
}

/** Makes a run the only one that may write a file. The caller has locked it. */
export async function assignArchiveFile(db: Queryable, { id, runId }: ArchiveRun): Promise<void> {
  await db.query('update archive_files set run_id = $2 where id = $1', [id, runId]);
}

/**
 * Locks a file until the transaction ends.
 * @throws ConflictError if it is complete, or another run has taken it over
 */
export async function lockArchiveFile(db: Queryable, { id, day, runId }: ArchiveRun): Promise<void> {
  const { rows } = await db.query(
    'select from archive_files where id = $1 and run_id = $2 and completed_at is null for update',
    [id, runId],
  );
  if (rows.length === 0) throw anotherRun(day);
}

function anotherRun(day: string): ConflictError {
  const text = `Another run archives ${day} now, and this one ends. Wait until the other has ended.`;
  return new ConflictError('not_allowed', text);
}

/** What one transaction added to a file. */
export interface RecordedBatch {
  /** The size of the file with this batch. */
  readonly endByte: number;
  readonly payments: number;
  readonly sha256: Buffer;
}

/** The batches of a file, in its order. */
export async function listArchiveBatches(db: Queryable, fileId: number): Promise<RecordedBatch[]> {
  const { rows } = await db.query<RecordedBatch>(
    `select end_byte as "endByte", payment_count as payments, sha256 from archive_batches
     where file_id = $1 order by end_byte`,
    [fileId],
  );
  return rows;
}

/** The size in bytes of a file after its last recorded batch. */
export async function findRecordedBytes(db: Queryable, fileId: number): Promise<number> {
  const { rows } = await db.query<{ bytes: number }>(
    'select coalesce(max(end_byte), 0)::bigint as bytes from archive_batches where file_id = $1',
    [fileId],
  );
  return rows[0]?.bytes ?? 0;
}

/** How many of these payments are in PostgreSQL. */
export async function countPayments(db: Queryable, ids: readonly string[]): Promise<number> {
  const { rows } = await db.query<{ count: number }>('select count(*) from payments where id = any ($1::uuid[])', [
    ids,
  ]);
  return rows[0]?.count ?? 0;
}

export interface ArchiveBatch {
  readonly fileId: number;
  /** The size of the file with this batch. */
  readonly endByte: number;
  /** The hash of the bytes of this batch. */
  readonly sha256: Buffer;
  readonly paymentIds: readonly string[];
}

/**
 * Removes payments that are in the file now, with all their rows. The sums of their entries are carried over.
 * @throws Error with the code of `restrict_violation` if one of them cannot be archived any more
 */
export async function removeArchivedPayments(
  db: Queryable,
  { fileId, endByte, sha256, paymentIds }: ArchiveBatch,
): Promise<void> {
  await db.query(
    `with batch as (
       insert into archive_batches (file_id, end_byte, payment_count, sha256) values ($1, $2, $3, $4) returning id
     )
     select archive_payments($5::uuid[], batch.id) from batch`,
    [fileId, endByte, paymentIds.length, sha256, paymentIds],
  );
}

/** The caller has locked the file. */
export async function completeArchiveFile(db: Queryable, fileId: number, sha256: Buffer): Promise<void> {
  await db.query('update archive_files set completed_at = now(), sha256 = $2 where id = $1', [fileId, sha256]);
}

/** The checksum of a file that this run has completed. */
export async function findCompletedChecksum(db: Queryable, { id, day, runId }: ArchiveRun): Promise<Buffer | null> {
  const { rows } = await db.query<{ sha256: Buffer | null }>(
    'select sha256 from archive_files where id = $1 and day = $2 and run_id = $3 and completed_at is not null',
    [id, day, runId],
  );
  return rows[0]?.sha256 ?? null;
}

/** The complete files with this checksum. */
export async function findFilesWithChecksum(db: Queryable, sha256: Buffer): Promise<ArchiveFile[]> {
  const { rows } = await db.query<ArchiveFile>('select id, day::text from archive_files where sha256 = $1', [sha256]);
  return rows;
}

/** The sums of all entries of archived payments. */
export async function readLedgerClosings(db: Queryable): Promise<AccountSums[]> {
  const { rows } = await db.query<AccountSums>(
    `select account, sum(debit_rupiah)::bigint as "debitRupiah", sum(credit_rupiah)::bigint as "creditRupiah"
     from ledger_closings group by account order by account`,
  );
  return rows;
}

export interface ArchivedPayment {
  readonly id: string;
  readonly referenceId: string;
  readonly merchantId: string;
  readonly archivedAt: Date;
  readonly file: ArchiveFile;
}

/** An archived payment of any merchant. */
export async function findArchivedPayment(
  db: Queryable,
  key: { readonly id: string } | { readonly referenceId: string },
): Promise<ArchivedPayment | undefined> {
  const [column, value] = 'id' in key ? ['payment_id', key.id] : ['reference_id', key.referenceId];
  const { rows } = await db.query<ArchivedPayment>(
    `select payment_id as id, reference_id as "referenceId", merchant_id as "merchantId", archived_at as "archivedAt",
       jsonb_build_object('id', file.id, 'day', file.day) as file
     from archived_payments
     join archive_batches batch on batch.id = batch_id join archive_files file on file.id = file_id
     where ${column} = $1`,
    [value],
  );
  return rows[0];
}

/** The payments among these that are archived. */
export async function findArchivedIds(db: Queryable, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ id: string }>(
    'select payment_id as id from archived_payments where payment_id = any ($1::uuid[])',
    [ids],
  );
  return new Set(rows.map(({ id }) => id));
}
