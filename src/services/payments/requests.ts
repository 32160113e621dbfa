import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { maskSecretKey } from '../../crypto/secret-key';
import type { Queryable } from '../../db/connection/pool';
import { requireRow } from '../../db/connection/require-row';
import type { CompletedRequest } from '../../db/operations/recorded-requests';
import type { PaymentRow } from '../../db/payments/payment-row';
import { listPaymentsOfRequest } from './find-payment';

/** A request to the API as operators see it. */
export interface RequestRecord extends Omit<CompletedRequest, 'requestId' | 'merchantId' | 'paymentIds'> {
  /** `X-Request-Id` */
  readonly id: string;
  /** Masked; null: no key was accepted. */
  readonly key: string | null;
}

export interface RequestDetails {
  readonly request: RequestRecord;
  /** Older ones with the same id, which callers choose. */
  readonly earlierRequests: readonly RequestRecord[];
  readonly payments: readonly PaymentRow[];
  /** PostgreSQL may have no row of such a payment. */
  readonly paymentIds: readonly string[];
}

export interface RequestFilter {
  /** From and to. */
  readonly statuses?: readonly [number, number] | undefined;
  readonly keyId?: string | undefined;
  readonly method?: string | undefined;
  /** The beginning of the path, of any request. */
  readonly path?: string | undefined;
  /** Whether pages and files, notifications of providers, and health checks are listed too. */
  readonly all?: boolean | undefined;
}

/** What browsers, providers and load balancers request. */
const NO_API = '^/(pay|checkout|qris|docs|llms.txt|openapi.json|provider-notifications|favicon.ico)(/|$)|^/$';

const POLL_INTERVAL_MS = 500;
const MAX_WITH_SAME_ID = 20;

const rowSchema = z.object({
  id: z.string(),
  startedAt: z.coerce.date(),
  keyId: z.string().nullable(),
  prefix: z.string().nullable(),
  lastFour: z.string().nullable(),
  method: z.string(),
  path: z.string(),
  status: z.number().nullable(),
  durationMs: z.number(),
  errorCode: z.string().nullable(),
  errorReason: z.string().nullable(),
  errorDetail: z.string().nullable(),
  ignoredFields: z.array(z.string()),
  ignoredParameters: z.array(z.string()),
});

type RequestRow = z.infer<typeof rowSchema>;

const SELECT_REQUESTS = `
  select request.request_id as id, request.started_at as "startedAt", request.key_id as "keyId",
    coalesce(api_key.prefix, operator.prefix) as prefix, coalesce(api_key.last_four, operator.last_four) as "lastFour",
    request.method, request.path, request.status, request.duration_ms as "durationMs",
    request.error_code as "errorCode", request.error_reason as "errorReason",
    request.error_detail as "errorDetail", request.ignored_fields as "ignoredFields",
    request.ignored_parameters as "ignoredParameters", request.payment_ids as "paymentIds"
  from api_requests request
    left join api_keys api_key on api_key.id = request.key_id
    left join operators operator on operator.id = request.key_id`;

/** $1 to $6: the filter. */
const MATCHES = `($1::integer is null or request.status between $1 and $2)
  and ($3::uuid is null or request.key_id = $3)
  and ($4::text is null or request.method = $4)
  and ($5::text is null or starts_with(request.path, $5))
  and ($6::boolean or request.path !~ '${NO_API}')`;

function filterValues({ statuses, keyId, method, path, all }: RequestFilter) {
  const everything = all === true || path !== undefined;
  return [statuses?.[0] ?? null, statuses?.[1] ?? null, keyId ?? null, method ?? null, path ?? null, everything];
}

/** The newest requests first. @throws NotFoundError if there is no such key */
export async function listRequests(db: Queryable, filter: RequestFilter, limit: number): Promise<RequestRecord[]> {
  await requireKey(db, filter);
  const { rows } = await db.query<RequestRow>(`${SELECT_REQUESTS} where ${MATCHES} order by request.id desc limit $7`, [
    ...filterValues(filter),
    limit,
  ]);
  return rows.map(describe);
}

/**
 * Requests that become visible from now on, each once, until the signal. A snapshot of PostgreSQL separates two reads
 * exactly, in whatever order the API processes commit. A snapshot stays valid over a restart, so a read that failed is
 * repeated from there.
 * @param onInterruption called with the first error of reads that fail one after another
 * @throws NotFoundError if there is no such key
 */
export async function* followRequests(
  db: Queryable,
  filter: RequestFilter,
  signal: AbortSignal,
  onInterruption: (error: unknown) => void,
): AsyncGenerator<RequestRecord> {
  await requireKey(db, filter);
  let { snapshot } = await readSince(db, filter, null);
  let isInterrupted = false;
  while (!signal.aborted) {
    await sleep(POLL_INTERVAL_MS, undefined, { signal }).catch(() => undefined);
    const next = await readSince(db, filter, snapshot).catch((error: unknown) => {
      if (!isInterrupted) onInterruption(error);
      return undefined;
    });
    isInterrupted = next === undefined;
    if (!next) continue;
    snapshot = next.snapshot;
    yield* next.requests.map(describe);
  }
}

const pageSchema = z.object({ snapshot: z.string(), requests: z.array(rowSchema) });

/** Rows of a restored backup can have transactions that this server has not reached: the last condition. */
const SINCE = `
  select pg_current_snapshot()::text as snapshot, (
    select coalesce(json_agg(found), '[]') from (
      ${SELECT_REQUESTS}
      where request.recorded_xid >= pg_snapshot_xmin($7::pg_snapshot)
        and not pg_visible_in_snapshot(request.recorded_xid, $7::pg_snapshot)
        and request.recorded_xid < pg_snapshot_xmax(pg_current_snapshot())
        and ${MATCHES}
      order by request.id
    ) found
  ) as requests`;

/** What has become visible since the snapshot; nothing without one. */
async function readSince(db: Queryable, filter: RequestFilter, snapshot: string | null) {
  const { rows } = await db.query(SINCE, [...filterValues(filter), snapshot]);
  return pageSchema.parse(rows[0]);
}

/** @throws NotFoundError if the request is not recorded */
export async function showRequest(db: Queryable, requestId: string): Promise<RequestDetails> {
  const { rows } = await db.query<RequestRow & Pick<CompletedRequest, 'paymentIds'>>(
    `${SELECT_REQUESTS} where request.request_id = $1 order by request.id desc limit ${MAX_WITH_SAME_ID}`,
    [requestId],
  );
  const newest = requireRow(rows, 'recordedRequest', requestId);
  const { paymentIds } = newest;
  const payments = await listPaymentsOfRequest(db, { requestId, paymentIds });
  return { request: describe(newest), earlierRequests: rows.slice(1).map(describe), payments, paymentIds };
}

async function requireKey(db: Queryable, { keyId }: RequestFilter): Promise<void> {
  if (keyId === undefined) return;
  const { rows } = await db.query('select from api_keys where id = $1 union all select from operators where id = $1', [
    keyId,
  ]);
  requireRow(rows, 'key', keyId);
}

function describe(row: RequestRow): RequestRecord {
  const { id, startedAt, keyId, prefix, lastFour, method, path, status, durationMs } = row;
  const { errorCode, errorReason, errorDetail, ignoredFields, ignoredParameters } = row;
  const key = prefix === null || lastFour === null ? null : maskSecretKey({ prefix, lastFour });
  const line = { id, startedAt, keyId, key, method, path, status, durationMs };
  return { ...line, errorCode, errorReason, errorDetail, ignoredFields, ignoredParameters };
}
