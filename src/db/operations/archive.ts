import { FINAL_STATUSES, OPEN_STATUSES } from '../../domain/payment-transitions';
import type { Queryable } from '../connection/pool';
import { onlyRow } from '../connection/require-row';
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

/** The first day from this one on, and before the other, on which a final payment was created; `YYYY-MM-DD`, UTC. */
export async function findDayToArchive(db: Queryable, from: string | null, before: string): Promise<string | null> {
  const { rows } = await db.query<{ day: string | null }>(
    `select min(oldest.created_at)::date::text as day
     from unnest($1::text[]) as wanted (status) cross join lateral (
       select ${CREATED_AT} as created_at from payments
       where ${STATUS} = wanted.status and ${CREATED_AT} >= $2::date and ${CREATED_AT} < $3::date
       order by ${CREATED_AT}, payments.id limit 1
     ) oldest`,
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

/** Locks payments against every change until the transaction ends. */
export async function lockPayments(db: Queryable, ids: readonly string[]): Promise<void> {
  await db.query('select from payments where id = any ($1::uuid[]) order by id for update', [ids]);
}

/**
 * A payment with all its rows, as one line of JSON: the format of an archive file (docs/archive.md). What others wrote
 * about a customer is not in it: an erasure could not reach it there.
 */
export interface PaymentDocument {
  readonly id: string;
  readonly createdAt: Date;
  readonly line: string;
}

/** The payments among these that may be archived, oldest first. */
export async function readPaymentDocuments(db: Queryable, ids: readonly string[]): Promise<PaymentDocument[]> {
  const { rows } = await db.query<PaymentDocument>(
    `select payments.id, payments.created_at as "createdAt", payment_document(payments)::text as line
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

/** A file that nothing can be removed by until it is complete. */
export async function beginArchiveFile(db: Queryable, day: string): Promise<ArchiveFile> {
  const { rows } = await db.query<{ id: number }>('insert into archive_files (day) values ($1) returning id', [day]);
  return { id: onlyRow(rows).id, day };
}

/** Payments of a file, in its order, that one transaction removes. */
export interface ArchiveBatch {
  readonly payments: number;
  readonly createdFrom: Date;
  readonly createdTo: Date;
  /** The SHA-256 of their lines. */
  readonly sha256: Buffer;
}

export interface CompletedFile extends ArchiveFile {
  readonly sha256: Buffer;
  readonly path: string;
  readonly batches: readonly ArchiveBatch[];
}

/** Records a file with its batches. From now on its payments can be removed. */
export async function completeArchiveFile(db: Queryable, { id, sha256, path, batches }: CompletedFile): Promise<void> {
  await db.query(
    `with file as (
       update archive_files set completed_at = now(), sha256 = $2, path = $3 where id = $1 returning id
     )
     insert into archive_batches (file_id, number, payment_count, created_from, created_to, sha256)
     select file.id, number, payment_count, created_from, created_to, batch.sha256
     from file, unnest($4::integer[], $5::timestamptz[], $6::timestamptz[], $7::bytea[])
       with ordinality as batch (payment_count, created_from, created_to, sha256, number)`,
    [
      id,
      sha256,
      path,
      batches.map(({ payments }) => payments),
      batches.map(({ createdFrom }) => createdFrom),
      batches.map(({ createdTo }) => createdTo),
      batches.map((batch) => batch.sha256),
    ],
  );
}

export interface RecordedBatch {
  readonly id: number;
  readonly payments: number;
  readonly isRemoved: boolean;
}

/** The batches of a file, in its order. */
export async function listArchiveBatches(db: Queryable, fileId: number): Promise<RecordedBatch[]> {
  const { rows } = await db.query<RecordedBatch>(
    `select id, payment_count as payments, removed_at is not null as "isRemoved" from archive_batches
     where file_id = $1 order by number`,
    [fileId],
  );
  return rows;
}

/**
 * Lets one transaction at a time remove payments of a file.
 * @returns whether an earlier one has removed the batch
 */
export async function lockArchiveBatch(db: Queryable, fileId: number, batchId: number): Promise<boolean> {
  await db.query('select from archive_files where id = $1 for update', [fileId]);
  const { rows } = await db.query('select from archive_batches where id = $1 and removed_at is not null', [batchId]);
  return rows.length > 0;
}

/**
 * Removes the payments of a batch, with all their rows. The sums of their entries are carried over.
 * @throws Error with the code of `restrict_violation` if one of them has changed since it was written
 */
export async function removeArchivedPayments(db: Queryable, batchId: number, ids: readonly string[]): Promise<void> {
  await db.query('select archive_payments($1::uuid[], $2)', [ids, batchId]);
}

export interface WrittenFile extends ArchiveFile {
  /** Where it was written. */
  readonly path: string;
}

/** The complete files with this checksum. */
export async function findFilesWithChecksum(db: Queryable, sha256: Buffer): Promise<WrittenFile[]> {
  const { rows } = await db.query<WrittenFile>('select id, day::text, path from archive_files where sha256 = $1', [
    sha256,
  ]);
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
    `select payment_id as id, reference_id as "referenceId", merchant_id as "merchantId", removed_at as "archivedAt",
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
