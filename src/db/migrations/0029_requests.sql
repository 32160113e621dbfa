-- Up Migration

set local role lunas_owner;

-- The newest requests to the API, for `lunas logs`: no body, no header, no query, no secret.
create table api_requests (
  id bigint generated always as identity primary key,
  -- `X-Request-Id`. Callers choose it, so that several requests can have the same.
  request_id text not null,
  started_at timestamptz not null,
  -- The key of a merchant or of an operator. Null: none was accepted.
  key_id uuid,
  method text not null,
  path text not null,
  -- Null: the connection was closed before the response was complete.
  status smallint,
  duration_ms integer not null,
  error_code text,
  payment_ids uuid[] not null default '{}',
  -- For readers that follow: rows do not become visible in the order of their ids.
  recorded_xid xid8 not null default pg_current_xact_id()
);

create index api_requests_request_id_idx on api_requests (request_id);
create index api_requests_recorded_xid_idx on api_requests (recorded_xid);

grant insert, select (id), delete on api_requests to lunas_api;
grant select on api_requests to lunas_operator;
grant select (id, started_at, key_id, method, status, duration_ms, error_code) on api_requests to lunas_reader;

-- Down Migration

-- There is none: see 0001_payments.sql.
