import type { ExpiringData, RetentionPosition, RetentionSlice } from '../../domain/retention';
import type { Queryable } from '../connection/pool';
import { SUBJECT_TABLES, type SubjectTables } from '../transitions/subjects';

/** Rows that one statement examines. It takes milliseconds and locks few rows, so it does not slow the service down. */
const BATCH = 250;

interface Column {
  readonly name: string;
  readonly type: string;
  /** A value that is not greater than any other. */
  readonly least: string;
}

/** How the expired rows of a table are found, in the order of one index. */
interface Expiry {
  readonly table: string;
  /** The columns of the index: the time of the row, then its key. */
  readonly order: readonly [Column, ...Column[]];
  /** A row that is old enough and does not match is kept. */
  readonly condition: string;
  /** A kept row will never match, so no later run examines it. */
  readonly isKeptForGood?: true;
  /** Rows of other tables that are deleted with a row. `expired` has the keys. */
  readonly dependents?: string;
}

const time = (name: string): Column => ({ name, type: 'timestamptz', least: '-infinity' });
const uuid = (name: string): Column => ({ name, type: 'uuid', least: '00000000-0000-0000-0000-000000000000' });
const number = (name: string, type: 'bigint' | 'integer'): Column => ({ name, type, least: '0' });
const text = (name: string): Column => ({ name, type: 'text', least: '' });

const DETAILS_ORDER = [time('created_at'), uuid('payment_id'), text('fingerprint')] as const;

const EXPIRIES: Readonly<Record<ExpiringData, Expiry>> = {
  webhook_deliveries: {
    table: 'webhook_deliveries',
    order: [time('created_at'), uuid('id')],
    condition: "status <> 'pending'",
    dependents: 'delete from webhook_attempts attempt using expired where attempt.delivery_id = expired.id',
  },
  webhook_events: expiryOfEvents(SUBJECT_TABLES.payment),
  provider_notifications: {
    table: 'provider_notifications',
    order: [time('received_at'), number('id', 'bigint')],
    condition: 'closed_at is not null',
  },
  payment_details: { table: 'payment_details', order: DETAILS_ORDER, condition: 'true' },
  unused_payment_details: {
    table: 'payment_details',
    order: DETAILS_ORDER,
    condition: `not exists (
      select from payments
      where payments.id = payment_details.payment_id and payments.fingerprint = payment_details.fingerprint
    )`,
    isKeptForGood: true,
  },
  sessions: { table: 'sessions', order: [time('expires_at'), uuid('id')], condition: 'true' },
  sign_in_links: { table: 'sign_in_links', order: [time('expires_at'), uuid('id')], condition: 'true' },
};

/** An event is kept as long as it has a delivery. */
function expiryOfEvents({ events, idColumn, versionColumn }: SubjectTables): Expiry {
  return {
    table: events,
    order: [time('occurred_at'), uuid(idColumn), number(versionColumn, 'integer')],
    condition: `not exists (
      select from webhook_deliveries delivery
      where delivery.${idColumn} = ${events}.${idColumn} and delivery.${versionColumn} = ${events}.${versionColumn}
    )`,
  };
}

/** Examines the next rows that are older than $1, from a position on, and deletes those that match the condition. */
function batchStatement({ table, order, condition, dependents }: Expiry): string {
  const [at, ...key] = order;
  const columns = order.map(({ name }) => name).join(', ');
  const position = order.map(({ type }, index) => `$${index + 2}::${type}`).join(', ');
  const asTexts = `array[${order.map(({ name }) => `${name}::text`).join(', ')}]`;
  const descending = order.map(({ name }) => `${name} desc`).join(', ');
  const isSameRow = key.map(({ name }) => `${table}.${name} = expired.${name}`).join(' and ');
  return `
    with examined as materialized (
      select ${columns}, ${condition} as is_expired from ${table}
      where ${at.name} < $1 and (${columns}) >= (${position})
      order by ${columns} limit ${BATCH}
    ),
    expired as materialized (select * from examined where is_expired),
    ${dependents === undefined ? '' : `dependents as (${dependents}),`}
    deleted as (delete from ${table} using expired where ${isSameRow} and ${condition} returning 1)
    select
      (select count(*)::integer from deleted) as deleted,
      (select count(*)::integer from examined) as examined,
      (select ${asTexts} from examined order by ${descending} limit 1) as reached,
      (select ${asTexts} from examined where not is_expired order by ${columns} limit 1) as "firstKept"`;
}

interface Batch extends Omit<RetentionSlice, 'isDone'> {
  readonly examined: number;
}

export interface RetentionLimits {
  /** Undefined: from the oldest row on. */
  readonly from: RetentionPosition | undefined;
  readonly before: Date;
  readonly durationMs: number;
}

/** Deletes batches of what is older than `before`, until nothing is left or the time is over. */
export async function deleteExpiredRows(
  db: Queryable,
  data: ExpiringData,
  { from, before, durationMs }: RetentionLimits,
): Promise<RetentionSlice> {
  const expiry = EXPIRIES[data];
  const statement = batchStatement(expiry);
  const untilMs = performance.now() + durationMs;
  let position = from ?? expiry.order.map(({ least }) => least);
  let slice: RetentionSlice = { deleted: 0, isDone: false, reached: from ?? null, firstKept: null };
  do {
    const { rows } = await db.query<Batch>(statement, [before, ...position]);
    const [batch] = rows;
    if (!batch) throw new Error('An aggregate has one row');
    position = batch.reached ?? position;
    slice = {
      deleted: slice.deleted + batch.deleted,
      isDone: batch.examined < BATCH,
      reached: batch.reached ?? slice.reached,
      firstKept: slice.firstKept ?? (expiry.isKeptForGood ? null : batch.firstKept),
    };
  } while (!slice.isDone && performance.now() < untilMs);
  return slice;
}
