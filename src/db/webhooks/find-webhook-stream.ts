import { z } from 'zod';
import { SUBJECT_KINDS, type Subject } from '../../domain/subject';
import type { Queryable } from '../connection/pool';
import { ALL_SUBJECT_TABLES, type SubjectTables } from '../transitions/subjects';

/**
 * A position in the stream: everything up to this event was read. A transaction has one number, and can have many
 * redeliveries.
 */
export interface StreamCursor {
  /** A transaction id of PostgreSQL, 64 bits in decimal. */
  readonly xid: string;
  readonly subjectId: string;
  /** The version of the subject. */
  readonly version: number;
  /** What happened before this time was read. */
  readonly atMs: number;
}

/** An event of a merchant, whether the merchant has an endpoint or not. */
export interface StreamedEvent {
  readonly cursor: StreamCursor;
  readonly subject: Subject;
  readonly event: string;
  /** What is signed and sent. */
  readonly body: string;
  readonly isRedelivery: boolean;
}

export interface StreamPage {
  readonly events: readonly StreamedEvent[];
  /** Where the next page begins. */
  readonly cursor: StreamCursor;
  /** Whether the next page may have events already. */
  readonly isFull: boolean;
}

/** The events of all merchants are in one order. A page reads so many of them, and returns those of one merchant. */
const PAGE_SIZE = 500;

const NIL_ID = '00000000-0000-0000-0000-000000000000';

const rowSchema = z.tuple([z.string(), z.enum(SUBJECT_KINDS), z.uuid(), z.int(), z.boolean(), z.string(), z.string()]);
const pageSchema = z.object({
  scanned: z.int(),
  last: z.tuple([z.string(), z.uuid(), z.int()]).nullable(),
  lastAtMs: z.number().nullable(),
  events: z.array(rowSchema),
});

/** The position after everything that is committed now. */
export async function findStreamEnd(db: Queryable): Promise<StreamCursor> {
  const atMs = Date.now();
  const { rows } = await db.query<{ xid: string }>({
    name: 'find_stream_end',
    text: 'select pg_snapshot_xmin(pg_current_snapshot())::text as xid',
  });
  return { xid: rows[0]?.xid ?? '0', subjectId: NIL_ID, version: 0, atMs };
}

/** The events and redeliveries of a kind after the cursor, of all merchants. */
function scanSql({ events, idColumn, versionColumn }: SubjectTables): string {
  const key = `${idColumn}, ${versionColumn}`;
  return `
      (
        select recorded_xid as xid, ${idColumn} as id, ${versionColumn} as version, false as is_redelivery, occurred_at
        from ${events}
        where recorded_xid >= $1::xid8 and recorded_xid < pg_snapshot_xmin(pg_current_snapshot())
          and (recorded_xid, ${key}) > ($1::xid8, $2::uuid, $3::integer)
        order by recorded_xid, ${key} limit ${PAGE_SIZE}
      )
      union all
      (
        select redelivered_xid, ${key}, true, null::timestamptz from webhook_deliveries
        where redelivered_xid >= $1::xid8 and redelivered_xid < pg_snapshot_xmin(pg_current_snapshot())
          and (redelivered_xid, ${key}) > ($1::xid8, $2::uuid, $3::integer) and ${versionColumn} is not null
        order by redelivered_xid, ${key} limit ${PAGE_SIZE}
      )`;
}

/** The events of one kind that are the merchant's. */
function ownSql({ kind, table, events, idColumn, versionColumn }: SubjectTables): string {
  return `
    select scanned.*, '${kind}' as kind, event.event, event.body from scanned
    join ${table} subject on subject.id = scanned.id and subject.merchant_id = $4
    join ${events} event on event.${idColumn} = scanned.id and event.${versionColumn} = scanned.version`;
}

/**
 * A page of the stream of these kinds. $1 to $3: the cursor; $4: the merchant. It ends before the oldest transaction
 * in progress.
 */
export const streamPageStatement = (kinds: readonly SubjectTables[]): string => `
  with scanned as materialized (
    select distinct * from (${kinds.map(scanSql).join('\n      union all')}
    ) found
    order by xid, id, version limit ${PAGE_SIZE}
  ),
  own as (${kinds.map(ownSql).join('\n    union all')}
  )
  select json_build_object(
    'scanned', (select count(*) from scanned),
    'last', (
      select json_build_array(xid::text, id, version) from scanned order by xid desc, id desc, version desc limit 1
    ),
    'lastAtMs', (select 1000 * extract(epoch from max(occurred_at)) from scanned),
    'events', coalesce((
      select json_agg(
        json_build_array(xid::text, kind, id, version, is_redelivery, event, body) order by xid, id, version
      ) from own
    ), '[]')
  ) as page`;

const PAGE = streamPageStatement(ALL_SUBJECT_TABLES);

/** The events of a merchant after the cursor, in the order of their transactions: that of each subject. */
export async function findStreamPage(db: Queryable, merchantId: string, cursor: StreamCursor): Promise<StreamPage> {
  const readAtMs = Date.now();
  const { rows } = await db.query<{ page: unknown }>({
    name: 'find_stream_page',
    text: PAGE,
    values: [cursor.xid, cursor.subjectId, cursor.version, merchantId],
  });
  const { scanned, last, lastAtMs, events } = pageSchema.parse(rows[0]?.page);
  const isFull = scanned >= PAGE_SIZE;
  const atMs = isFull ? Math.max(lastAtMs ?? 0, cursor.atMs) : readAtMs;
  return {
    events: events.map(([xid, kind, id, version, isRedelivery, event, body]) => ({
      cursor: { xid, subjectId: id, version, atMs },
      subject: { kind, id },
      event,
      body,
      isRedelivery,
    })),
    cursor: last ? { xid: last[0], subjectId: last[1], version: last[2], atMs } : { ...cursor, atMs },
    isFull,
  };
}

/** A database that was restored from a dump counts its transactions anew. */
export async function isOfThisDatabase(db: Queryable, { xid }: StreamCursor): Promise<boolean> {
  const { rows } = await db.query<{ isKnown: boolean }>({
    name: 'is_known_xid',
    text: 'select $1::xid8 <= pg_snapshot_xmax(pg_current_snapshot()) as "isKnown"',
    values: [xid],
  });
  return rows[0]?.isKnown === true;
}
