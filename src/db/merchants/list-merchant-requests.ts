import { z } from 'zod';
import { cutPage } from '../../lib/cut-page';
import type { Queryable } from '../connection/pool';
import { onlyRow } from '../connection/require-row';

const rowSchema = z.object({
  id: z.number(),
  requestId: z.string(),
  startedAt: z.coerce.date(),
  keyId: z.string(),
  keyName: z.string().nullable(),
  keyPrefix: z.string().nullable(),
  keyLastFour: z.string().nullable(),
  method: z.string(),
  path: z.string(),
  status: z.number().nullable(),
  durationMs: z.number(),
  errorCode: z.string().nullable(),
  errorReason: z.string().nullable(),
  ignoredFields: z.array(z.string()),
  ignoredParameters: z.array(z.string()),
  paymentIds: z.array(z.string()),
});

/**
 * A request with one of a merchant's keys. Bodies are not stored. `id` is for positions; `requestId` is `X-Request-Id`.
 * A null status: the connection was closed before the response was complete.
 */
export type MerchantRequestRow = z.infer<typeof rowSchema>;

const positionSchema = rowSchema.pick({ startedAt: true, id: true });

export type RequestPosition = z.infer<typeof positionSchema>;

export interface MerchantRequestFilter {
  readonly merchantId: string;
  /** From and to; null: every status. */
  readonly statuses: readonly [number, number] | null;
  readonly keyId: string | null;
  /** Inclusive, as is `to`; null: not limited. */
  readonly from: Date | null;
  readonly to: Date | null;
  /** Exclusive: where the page begins; null: with the newest request. */
  readonly olderThan: RequestPosition | null;
}

export interface MerchantRequestPage {
  /** The newest first. */
  readonly requests: readonly MerchantRequestRow[];
  /** Where the next page begins; null: there is none. */
  readonly next: RequestPosition | null;
  /** Older requests were not searched: the next page does. */
  readonly isLimited: boolean;
}

/** How many requests a page reads at most, if a filter has no index. */
const MAX_SEARCHED = 2_000;

const COLUMNS = `request.id, request.request_id as "requestId", request.started_at as "startedAt",
  request.key_id as "keyId", api_keys.name as "keyName", api_keys.prefix as "keyPrefix",
  api_keys.last_four as "keyLastFour", request.method, request.path, request.status,
  request.duration_ms as "durationMs", request.error_code as "errorCode", request.error_reason as "errorReason",
  request.ignored_fields as "ignoredFields", request.ignored_parameters as "ignoredParameters",
  request.payment_ids as "paymentIds"`;

/**
 * Limits that are absent are infinite, so that each plan reads a range of the index. There is one upper limit: of two,
 * the scan would begin at the one and skip rows until the other.
 */
const LIST = `
  with searched as (
    select id, request_id, started_at, key_id, method, path, status, duration_ms, error_code, error_reason,
      ignored_fields, ignored_parameters, payment_ids
    from api_requests
    where merchant_id = $1
      and started_at >= coalesce($2::timestamptz, '-infinity')
      and (started_at, id) < (coalesce($3::timestamptz, 'infinity'), $4::bigint)
    order by started_at desc, id desc limit $8
  ), found as (
    select ${COLUMNS} from searched request left join api_keys on api_keys.id = request.key_id
    where ($5::integer is null or request.status between $5 and $6) and ($7::uuid is null or request.key_id = $7)
    order by request.started_at desc, request.id desc limit $9
  )
  select (select count(*)::integer from searched) as count,
    (select json_build_object('startedAt', started_at, 'id', id) from searched order by started_at, id limit 1) as last,
    (select coalesce(json_agg(found order by "startedAt" desc, id desc), '[]') from found) as requests`;

const pageSchema = z.object({ count: z.number(), last: positionSchema.nullable(), requests: z.array(rowSchema) });

/**
 * A page of a merchant's requests. The index has merchant and time: status and key are searched in the newest 2,000 of
 * the range, and the next page continues with the requests before them.
 */
export async function listMerchantRequests(
  db: Queryable,
  filter: MerchantRequestFilter,
  limit: number,
): Promise<MerchantRequestPage> {
  const { merchantId, statuses, keyId, from, to, olderThan } = filter;
  const isFiltered = statuses !== null || keyId !== null;
  // One more than the page shows: if it exists, there is a next page.
  const maxRead = isFiltered ? MAX_SEARCHED : limit + 1;
  const isWithin = olderThan !== null && (to === null || olderThan.startedAt <= to);
  const before = isWithin ? olderThan : { startedAt: to, id: Number.MAX_SAFE_INTEGER };
  const { rows } = await db.query({
    name: 'list_merchant_requests',
    text: LIST,
    values: [merchantId, from, before.startedAt, before.id, statuses?.[0], statuses?.[1], keyId, maxRead, limit + 1],
  });
  const { count, last, requests } = pageSchema.parse(onlyRow(rows));
  const page = cutPage(requests, limit);
  if (page.last) return { requests: page.shown, next: page.last, isLimited: false };
  const isLimited = isFiltered && count === MAX_SEARCHED;
  return { requests, next: isLimited ? last : null, isLimited };
}

const MAX_WITH_SAME_ID = 20;

/** The merchant's requests with this id, the newest first; at most 20, because callers choose the ids. */
export async function findMerchantRequests(
  db: Queryable,
  merchantId: string,
  requestId: string,
): Promise<MerchantRequestRow[]> {
  const { rows } = await db.query({
    name: 'find_merchant_requests',
    text: `select ${COLUMNS} from api_requests request left join api_keys on api_keys.id = request.key_id
      where request.merchant_id = $1 and request.request_id = $2 order by request.id desc limit ${MAX_WITH_SAME_ID}`,
    values: [merchantId, requestId],
  });
  return z.array(rowSchema).parse(rows);
}

/** The references of those of the payments that are the merchant's, in the order of their creation; at most 50. */
export async function listReferences(
  db: Queryable,
  merchantId: string,
  paymentIds: readonly string[],
): Promise<string[]> {
  const { rows } = await db.query<{ referenceId: string }>({
    name: 'list_references',
    text: `select reference_id as "referenceId" from payments where merchant_id = $1 and id = any($2::uuid[])
      order by created_at, id limit 50`,
    values: [merchantId, paymentIds.slice(0, 50)],
  });
  return rows.map(({ referenceId }) => referenceId);
}
