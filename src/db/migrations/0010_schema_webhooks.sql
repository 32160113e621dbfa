-- Up Migration

set local role lunas_owner;

-- Webhooks ------------------------------------------------------------------------------------------------------------

create table webhook_endpoints (
  id uuid primary key,
  merchant_id uuid not null references merchants,
  url text not null,
  events text[], -- null: every event of payments
  -- What it adds to the bodies of payments and late payments, as `?expand=` does.
  expand text[] not null default '{}' check (expand <@ array['metadata', 'customer', 'checkout_url', 'qris',
    'expires_at', 'refund', 'late_payment', 'failure_reason', 'settlement', 'description', 'return_url', 'fee']),
  status text not null default 'enabled' check (status in ('enabled', 'disabled')),
  disabled_reason text,
  created_at timestamptz(3) not null default now(),
  -- After too many failures in a row its deliveries wait for it, and one of them is sent as a probe from time to time.
  consecutive_failures integer not null default 0 check (consecutive_failures >= 0),
  failing_since timestamptz(3), -- of the first failure after the last success
  next_probe_at timestamptz(3), -- set: its deliveries wait, and no probe is sent before then
  -- Grows with each claim of its deliveries, so that a claim notices another one that ended meanwhile.
  claim_number bigint not null default 0,
  -- The last lease of the newest claim, in the order of the outbox. Transactions that commit late come before it.
  last_leased_at timestamptz(3), -- its queued_at
  last_leased_id uuid,
  deleted_at timestamptz(3), -- permanent: only its events and deliveries stay, as history
  constraint webhook_endpoints_disabled_if_deleted check (deleted_at is null or status = 'disabled'),
  constraint webhook_endpoints_failing_since_if_failing
    check ((consecutive_failures > 0) = (failing_since is not null)),
  constraint webhook_endpoints_next_probe_if_failing check (next_probe_at is null or consecutive_failures > 0)
);
create index webhook_endpoints_merchant_id_idx on webhook_endpoints (merchant_id);

create table webhook_secrets (
  id uuid primary key,
  endpoint_id uuid not null references webhook_endpoints,
  sealed_secret text not null,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) -- set when a newer one replaces it; '-infinity': two operators have not approved it
);
create index webhook_secrets_endpoint_id_idx on webhook_secrets (endpoint_id);
create trigger only_resealed before update of sealed_secret on webhook_secrets for each row
  when (not is_resealed(old.sealed_secret, new.sealed_secret)) execute function forbid_mutation();

create table webhook_events (
  payment_id uuid not null,
  payment_version integer not null,
  event text not null,
  body text not null, -- the very bytes that are signed and sent
  occurred_at timestamptz(3) not null,
  -- The order in which `lunas listen` reads. Transactions do not commit in the order of any number that they take. So a
  -- reader takes only what is older than every transaction in progress, and a cursor passes no event that comes later.
  recorded_xid xid8 not null default pg_current_xact_id(),
  primary key (payment_id, payment_version),
  foreign key (payment_id, payment_version) references payment_transitions
) with (
  autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 1000
);
create index webhook_events_recorded_xid_idx on webhook_events (recorded_xid);
create index webhook_events_retention_idx on webhook_events (occurred_at, payment_id, payment_version);

-- Retention deletes old events. Young ones stay, since deliveries need their bytes.
create trigger append_only_delete before delete on webhook_events for each row
  when (old.occurred_at > now() - interval '7 days') execute function forbid_mutation();

-- The events of late payments. An endpoint receives them only if it lists them. They have versions of their own, above
-- any version of the payment: an event is identified by the id of its payment and its version.
create table late_payment_events (
  payment_id uuid not null references late_payments,
  late_payment_version integer not null check (late_payment_version > 1000000),
  event text not null,
  body text not null, -- the very bytes that are signed and sent
  occurred_at timestamptz(3) not null,
  recorded_xid xid8 not null default pg_current_xact_id(), -- as that of `webhook_events`
  primary key (payment_id, late_payment_version)
);
create index late_payment_events_recorded_xid_idx on late_payment_events (recorded_xid);

-- The foreign keys to `payout_events` and `invoice_events` are where those tables are.
create table webhook_deliveries (
  id uuid primary key,
  payment_id uuid,
  payment_version integer,
  late_payment_version integer,
  payout_id uuid,
  payout_version integer,
  invoice_id uuid,
  invoice_version integer,
  endpoint_id uuid not null references webhook_endpoints,
  merchant_id uuid not null references merchants,
  -- That of the event, so that a list with this filter does not read 2,000 events. An index would add 17 % of WAL to a
  -- claim.
  event text not null,
  status text not null check (status in ('pending', 'delivered', 'dead')),
  dead_reason text,
  attempts_total integer not null default 0,
  leased_until timestamptz(3) not null default '-infinity', -- a relay has it in hand until then
  retry_workflow_started_at timestamptz(3), -- its retries are a workflow's from then on
  created_at timestamptz(3) not null default now(),
  finished_at timestamptz(3),
  attempts_in_cycle integer not null default 0, -- of the twelve; a redelivery begins anew
  queued_at timestamptz(3) not null default now(), -- when it became pending, for the first time or again
  redelivered_xid xid8, -- of the last redelivery that an operator requested, as recorded_xid of an event
  unique (payment_id, payment_version, endpoint_id),
  foreign key (payment_id, payment_version) references webhook_events,
  foreign key (payment_id, late_payment_version) references late_payment_events,
  constraint webhook_deliveries_has_one_subject check (
    num_nonnulls(payment_version, late_payment_version, payout_version, invoice_version) = 1
    and num_nonnulls(payment_id, payout_id, invoice_id) = 1 and (payout_id is null) = (payout_version is null)
    and (invoice_id is null) = (invoice_version is null)
  ),
  constraint webhook_deliveries_finished_unless_pending check ((status = 'pending') = (finished_at is null)),
  constraint webhook_deliveries_dead_reason_if_dead check ((status = 'dead') = (dead_reason is not null))
) with (
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
  autovacuum_analyze_scale_factor = 0.02, autovacuum_analyze_threshold = 1000
);
create unique index webhook_deliveries_late_payment_key
  on webhook_deliveries (payment_id, late_payment_version, endpoint_id) where late_payment_version is not null;
create unique index webhook_deliveries_payout_key on webhook_deliveries (payout_id, payout_version, endpoint_id)
  where payout_id is not null;
create unique index webhook_deliveries_invoice_key on webhook_deliveries (invoice_id, invoice_version, endpoint_id)
  where invoice_id is not null;
-- What the relay has to send, endpoint by endpoint; and what retry workflows have to send. Two indexes instead of one,
-- so that a claim does not read endpoints for which only retries are pending. Each pending delivery is in one of both.
-- The id orders deliveries with the same queued_at. Without it they are in the order of their rows on disk, which a
-- lease can change: a claim would not see all leases, and take more than the limit.
create index webhook_deliveries_outbox_order_idx on webhook_deliveries (endpoint_id, queued_at, id)
  where status = 'pending' and retry_workflow_started_at is null;
create index webhook_deliveries_retry_workflow_idx on webhook_deliveries (endpoint_id, id)
  where status = 'pending' and retry_workflow_started_at is not null;
-- Dead deliveries, to be redelivered by a range of time.
create index webhook_deliveries_dead_idx on webhook_deliveries (created_at, id) where status = 'dead';
create index webhook_deliveries_merchant_dead_idx on webhook_deliveries (merchant_id, created_at desc, id desc)
  where status = 'dead';
-- As for payments, only deliveries of one millisecond are sorted by id.
create index webhook_deliveries_created_at_idx on webhook_deliveries (created_at desc);
create index webhook_deliveries_merchant_created_at_idx on webhook_deliveries (merchant_id, created_at desc);
create index webhook_deliveries_redelivered_xid_idx on webhook_deliveries (redelivered_xid)
  where redelivered_xid is not null;

-- The sealed details of a payment, for a delivery to an endpoint of the same merchant that adds them; else null. It is
-- all that the worker can read of them.
create function webhook_details(id_of_delivery uuid) returns text
language sql stable security definer set search_path = public, pg_temp as $$
  select details.sealed
  from webhook_deliveries delivery
  join payments on payments.id = delivery.payment_id
  join webhook_endpoints endpoint on endpoint.id = delivery.endpoint_id
    and endpoint.merchant_id = payments.merchant_id and endpoint.expand && array['metadata', 'customer']
  join payment_details details on details.payment_id = payments.id and details.fingerprint = payments.fingerprint
  where delivery.id = id_of_delivery
$$;

-- The deliveries of an event of a merchant as they begin, one for each endpoint that receives it. An endpoint without a
-- list receives the events of payments. PostgreSQL inlines the function: a statement has the plan of its query.
create function deliveries_of_event(of_merchant uuid, of_event text)
  returns table (endpoint_id uuid, merchant_id uuid, event text, status text, dead_reason text, finished_at timestamptz)
language sql stable
begin atomic
  select endpoint.id, endpoint.merchant_id, of_event,
    case endpoint.status when 'enabled' then 'pending' else 'dead' end,
    case endpoint.status when 'disabled' then 'endpoint_disabled' end,
    case endpoint.status when 'disabled' then now() end
  from webhook_endpoints endpoint
  where endpoint.merchant_id = of_merchant and endpoint.deleted_at is null
    and ((endpoint.events is null and of_event like 'payment.%') or of_event = any (endpoint.events));
end;

-- The statement that receives or refunds a late payment writes its event and deliveries by this trigger. An operator's
-- API books manual refunds, and has no right to write deliveries.
create function record_late_payment_event() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  name text := 'late_payment.' || new.status;
  number integer := case new.status when 'received' then 1000001 else 1000002 end;
  at timestamptz(3) := coalesce(new.finished_at, new.received_at);
begin
  insert into late_payment_events (payment_id, late_payment_version, event, body, occurred_at)
  select payment_id, number, name, row_to_json(body)::text, at
  from (
    select name as event, new.payment_id, reference_id, merchant_reference_id, new.status,
      (select environment from installation) as environment, new.total_rupiah as amount, currency, payment_method,
      provider, iso_utc(new.paid_at) as paid_at, iso_utc(new.received_at) as created_at, iso_utc(at) as updated_at
    from payments where id = new.payment_id
  ) body;
  insert into webhook_deliveries
    (id, payment_id, late_payment_version, endpoint_id, merchant_id, event, status, dead_reason, finished_at)
  select gen_random_uuid(), new.payment_id, number, delivery.*
  from deliveries_of_event(new.merchant_id, name) delivery;
  return null;
end $$;
create trigger event_of_receipt after insert on late_payments
  for each row when (new.status = 'received') execute function record_late_payment_event();
create trigger event_of_refund after update of status on late_payments
  for each row when (new.status = 'refunded' and old.status <> 'refunded') execute function record_late_payment_event();

create table webhook_attempts (
  delivery_id uuid not null references webhook_deliveries,
  number integer not null check (number > 0),
  started_at timestamptz(3) not null,
  duration_ms integer not null,
  status_code integer,
  failure text,
  response_excerpt text,
  primary key (delivery_id, number)
) with (
  autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 1000
);

-- Rights --------------------------------------------------------------------------------------------------------------

revoke execute on function webhook_details from public;
grant execute on function webhook_details to lunas_worker;
-- A redelivery locks the endpoints, which needs the right to change a column: so the API has `claim_number`.
grant select on webhook_endpoints, webhook_deliveries to lunas_api, lunas_worker, lunas_operator;
grant select on webhook_events, webhook_secrets to lunas_worker, lunas_operator;
grant select on late_payment_events to lunas_api, lunas_dashboard, lunas_worker, lunas_operator;
grant select (payment_id, late_payment_version, event, occurred_at) on late_payment_events to lunas_reader;
grant select (payment_id, payment_version, event, body, occurred_at, recorded_xid) on webhook_events to lunas_api;
grant select (delivery_id, number, started_at, duration_ms, status_code, failure) on webhook_attempts to lunas_api;
grant insert on webhook_events, webhook_deliveries to lunas_worker, lunas_operator;
grant update (status, dead_reason, finished_at, retry_workflow_started_at, leased_until, attempts_in_cycle, queued_at)
  on webhook_deliveries to lunas_api, lunas_worker, lunas_operator;
grant update (redelivered_xid) on webhook_deliveries to lunas_api, lunas_operator;
grant update (attempts_total) on webhook_deliveries to lunas_worker;
grant delete on webhook_events, webhook_deliveries, webhook_attempts to lunas_worker;
grant select (delivery_id), insert on webhook_attempts to lunas_worker;
grant select, update (response_excerpt) on webhook_attempts to lunas_operator;
grant update (claim_number) on webhook_endpoints to lunas_api, lunas_worker, lunas_operator;
grant update (last_leased_at, last_leased_id) on webhook_endpoints to lunas_worker;
grant update (status, disabled_reason, consecutive_failures, failing_since, next_probe_at) on webhook_endpoints
  to lunas_worker, lunas_operator;
grant update (url, events, expand, deleted_at) on webhook_endpoints to lunas_operator;
grant insert on webhook_endpoints, webhook_secrets to lunas_operator;
grant update (sealed_secret, expires_at) on webhook_secrets to lunas_operator;
grant select on webhook_deliveries to lunas_dashboard;
grant select (id, merchant_id, url, events, expand, status, disabled_reason, created_at, consecutive_failures,
  failing_since, next_probe_at, deleted_at), insert, update (url, events, expand, status, disabled_reason,
  consecutive_failures, failing_since, next_probe_at, deleted_at) on webhook_endpoints to lunas_dashboard;
grant select (id, endpoint_id, created_at, expires_at), insert, update (expires_at) on webhook_secrets
  to lunas_dashboard;
grant select (payment_id, payment_version, event, body, occurred_at) on webhook_events to lunas_dashboard;
grant update (status, dead_reason, finished_at, retry_workflow_started_at, leased_until, attempts_in_cycle, queued_at,
  redelivered_xid) on webhook_deliveries to lunas_dashboard;
grant select (delivery_id, number, started_at, duration_ms, status_code, failure, response_excerpt) on webhook_attempts
  to lunas_dashboard;
grant select on webhook_endpoints, webhook_deliveries to lunas_payouts;
grant insert on webhook_deliveries to lunas_payouts;
grant select on webhook_deliveries to lunas_reader;
grant select (id, merchant_id, events, expand, status, disabled_reason, created_at, consecutive_failures, failing_since,
  next_probe_at, deleted_at) on webhook_endpoints to lunas_reader;
grant select (delivery_id, number, started_at, duration_ms, status_code, failure) on webhook_attempts to lunas_reader;
grant select (payment_id, payment_version, event, occurred_at) on webhook_events to lunas_reader;
grant select (id, endpoint_id, created_at, expires_at) on webhook_secrets to lunas_reader;

-- Down Migration

-- There is none: the ledger is append-only. Restore a backup.
