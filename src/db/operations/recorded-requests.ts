import { maskSecrets } from '../../observability/logger';
import type { Queryable } from '../connection/pool';

/** A request to the API that is complete. */
export interface CompletedRequest {
  /** `X-Request-Id`: of the caller, else a new one. */
  readonly requestId: string;
  readonly startedAt: Date;
  /** The key of a merchant or an operator; null: no key was accepted. */
  readonly keyId: string | null;
  /** The merchant of the key; null: the key of an operator, or none. */
  readonly merchantId: string | null;
  readonly method: string;
  /** Without the query, and without the secret token of a public page. */
  readonly path: string;
  /** Null: the connection was closed before the response was complete. */
  readonly status: number | null;
  readonly durationMs: number;
  /** A code of docs/contract.md#errors; null: the request was successful. */
  readonly errorCode: string | null;
  /** `X-Error-Reason`; null: the code has none. */
  readonly errorReason: string | null;
  /** For operators, with nothing of a body or a key; null: the request was successful. */
  readonly errorDetail: string | null;
  /** Names that the request had and Lunas did not read (`X-Ignored-Fields`, `X-Ignored-Parameters`). */
  readonly ignoredFields: readonly string[];
  readonly ignoredParameters: readonly string[];
  readonly paymentIds: readonly string[];
}

const MAX_PATH_CHARACTERS = 200;
const MAX_DETAIL_CHARACTERS = 300;
const DELETE_BATCH = 10_000;

const INSERT = `
  insert into api_requests
    (request_id, started_at, key_id, merchant_id, method, path, status, duration_ms, error_code, error_reason,
      error_detail, ignored_fields, ignored_parameters, payment_ids)
  select "requestId", "startedAt", "keyId", "merchantId", method, left(path, ${MAX_PATH_CHARACTERS}), status,
    "durationMs", "errorCode", "errorReason", left("errorDetail", ${MAX_DETAIL_CHARACTERS}), "ignoredFields",
    "ignoredParameters", "paymentIds"
  from json_to_recordset($1) as request ("requestId" text, "startedAt" timestamptz, "keyId" uuid, "merchantId" uuid,
    method text, path text, status smallint, "durationMs" integer, "errorCode" text, "errorReason" text,
    "errorDetail" text, "ignoredFields" text[], "ignoredParameters" text[], "paymentIds" uuid[])`;

/** Writes completed requests, by one statement. A path, id or detail can have a secret by mistake: it is masked. */
export async function recordRequests(db: Queryable, requests: readonly CompletedRequest[]): Promise<void> {
  await db.query({ name: 'record_requests', text: INSERT, values: [maskSecrets(JSON.stringify(requests))] });
}

/** Deletes all but the newest requests, in batches. */
export async function deleteOldRequests(db: Queryable, kept: number): Promise<void> {
  for (let deleted = DELETE_BATCH; deleted === DELETE_BATCH;) {
    const { rowCount } = await db.query({
      name: 'delete_old_requests',
      text: `
        delete from api_requests where id in (
          select id from api_requests where id <= (select max(id) from api_requests) - $1
          order by id limit ${DELETE_BATCH}
        )`,
      values: [kept],
    });
    deleted = rowCount ?? 0;
  }
}
