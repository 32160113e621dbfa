-- Up Migration

set local role lunas_owner;

-- Of the request to the API that the transition belongs to. Null in the rows before, and without a request.
alter table payment_transitions
  add column if not exists request_id text,
  add column if not exists traceparent text;

-- For `lunas payments show REQUEST_ID`: only the transitions that a request caused itself.
create index if not exists payment_transitions_request_id_idx on payment_transitions (request_id)
  where request_id is not null and (version = 1 or actor <> 'workflow');

-- Down Migration

-- There is none: see 0001_payments.sql.
