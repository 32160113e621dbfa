CREATE OR REPLACE FUNCTION public.append_to_audit_chain(kind text, action_id bigint, content text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
begin
  perform pg_advisory_xact_lock(hashtext('audit_chain'));
  insert into audit_chain (position, kind, action_id, hash)
  select coalesce(max(position), 0) + 1, $1, $2, sha256(
    coalesce((select hash from audit_chain order by position desc limit 1), '') || convert_to($1 || $3, 'utf8'))
  from audit_chain;
end $function$
;
CREATE OR REPLACE FUNCTION public.archive_payments(ids uuid[], batch bigint)
 RETURNS void
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  archived integer;
begin
  insert into archived_payments (payment_id, reference_id, merchant_id, batch_id)
  select id, reference_id, merchant_id, batch from archivable_payments where id = any (ids);
  get diagnostics archived = row_count;
  if archived <> cardinality(ids) then
    raise exception '% of % payments cannot be archived', cardinality(ids) - archived, cardinality(ids)
      using errcode = 'restrict_violation';
  end if;

  insert into ledger_closings as closing (day, merchant_id, account, debit_rupiah, credit_rupiah)
  select (payments.created_at at time zone 'utc')::date, payments.merchant_id, entry.account,
    coalesce(sum(entry.amount_rupiah) filter (where entry.side = 'debit'), 0),
    coalesce(sum(entry.amount_rupiah) filter (where entry.side = 'credit'), 0)
  from payments
  join ledger_postings posting on posting.payment_id = payments.id
  join ledger_entries entry on entry.posting_id = posting.id
  where payments.id = any (ids)
  group by 1, 2, 3
  on conflict (day, merchant_id, account) do update
    set debit_rupiah = closing.debit_rupiah + excluded.debit_rupiah,
      credit_rupiah = closing.credit_rupiah + excluded.credit_rupiah;

  delete from webhook_attempts attempt using webhook_deliveries delivery
  where attempt.delivery_id = delivery.id and delivery.payment_id = any (ids);
  delete from webhook_deliveries where payment_id = any (ids);
  delete from webhook_events where payment_id = any (ids);
  delete from payment_details where payment_id = any (ids);
  delete from refunds where payment_id = any (ids);
  delete from late_payments where payment_id = any (ids);
  delete from ledger_entries entry using ledger_postings posting
  where entry.posting_id = posting.id and posting.payment_id = any (ids);
  delete from ledger_postings where payment_id = any (ids);
  delete from payment_transitions where payment_id = any (ids);
  -- An exception stays, by its reference.
  update exceptions set payment_id = null where payment_id = any (ids);
  delete from payments where id = any (ids);
end $function$
;
CREATE OR REPLACE FUNCTION public.audit_content(action operator_actions)
 RETURNS text
 LANGUAGE sql
 STABLE
RETURN (jsonb_build_array((action).id, (action).actor, (action).via, (action).operator_id, (action).action, (action).target, (action).note, (action).detail, iso_utc((action).requested_at)))::text
;
CREATE OR REPLACE FUNCTION public.audit_content(outcome operator_action_outcomes)
 RETURNS text
 LANGUAGE sql
 STABLE
RETURN (jsonb_build_array((outcome).action_id, (outcome).outcome, (outcome).detail, iso_utc((outcome).finished_at)))::text
;
CREATE OR REPLACE FUNCTION public.chain_action()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  perform append_to_audit_chain('action', new.id, audit_content(new));
  return null;
end $function$
;
CREATE OR REPLACE FUNCTION public.chain_outcome()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
begin
  perform append_to_audit_chain('outcome', new.action_id, audit_content(new));
  return null;
end $function$
;
CREATE OR REPLACE FUNCTION public.forbid_deletion_unless_archived()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  payment uuid;
begin
  if tg_table_name = 'ledger_entries' then
    select payment_id into payment from ledger_postings where id = old.posting_id;
  else
    payment := old.payment_id;
  end if;
  if exists (select from archived_payments where payment_id = payment) then return old; end if;
  raise exception '% is append-only: delete rejected', tg_table_name using errcode = 'restrict_violation';
end $function$
;
CREATE OR REPLACE FUNCTION public.forbid_mutation()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  raise exception '% is append-only: % rejected', tg_table_name, lower(tg_op) using errcode = 'restrict_violation';
end $function$
;
CREATE OR REPLACE FUNCTION public.iso_utc(at timestamp with time zone)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE STRICT
RETURN to_char((at AT TIME ZONE 'utc'::text), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'::text)
;
CREATE OR REPLACE FUNCTION public.require_balanced_posting()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'public', 'pg_temp'
AS $function$
declare
  posting bigint;
  balance bigint;
begin
  if tg_table_name = 'ledger_postings' then posting := new.id; else posting := new.posting_id; end if;
  select sum(case side when 'debit' then amount_rupiah else -amount_rupiah end) into balance
    from ledger_entries where posting_id = posting;
  if balance is null then
    raise exception 'ledger posting % has no entries', posting using errcode = 'check_violation';
  elsif balance <> 0 then
    raise exception 'ledger posting % is off by % rupiah', posting, balance using errcode = 'check_violation';
  end if;
  return null;
end $function$
;

create table api_keys (
  id uuid not null,
  merchant_id uuid not null,
  secret_sha256 bytea not null,
  prefix text not null,
  last_four text not null,
  allowed_networks cidr[] not null default '{}'::cidr[],
  created_at timestamp(3) with time zone not null default now(),
  revoked_at timestamp(3) with time zone,
  scopes text[],
  expires_at timestamp(3) with time zone,
  last_used_at timestamp(3) with time zone
);
create table api_requests (
  id bigint not null generated always as identity,
  request_id text not null,
  started_at timestamp with time zone not null,
  key_id uuid,
  method text not null,
  path text not null,
  status smallint,
  duration_ms integer not null,
  error_code text,
  payment_ids uuid[] not null default '{}'::uuid[],
  recorded_xid xid8 not null default pg_current_xact_id()
);
create table approval_limits (
  id bigint not null generated always as identity,
  limit_rupiah bigint not null,
  created_at timestamp(3) with time zone not null default now()
);
create table approvals (
  id bigint not null generated always as identity,
  action text not null,
  target text not null,
  parameters jsonb not null,
  note text not null,
  requested_by uuid not null,
  requested_at timestamp(3) with time zone not null default now(),
  expires_at timestamp(3) with time zone not null default (now() + '24:00:00'::interval),
  status text not null default 'pending'::text,
  decided_by uuid,
  decided_at timestamp(3) with time zone,
  leased_until timestamp(3) with time zone,
  failure_reason text
);
create table archive_batches (
  id bigint not null generated always as identity,
  file_id bigint not null,
  end_byte bigint not null,
  payment_count integer not null,
  archived_at timestamp(3) with time zone not null default now()
);
create table archive_files (
  id bigint not null generated always as identity,
  day date not null,
  completed_at timestamp(3) with time zone,
  sha256 bytea
);
create table archived_payments (
  payment_id uuid not null,
  reference_id text not null,
  merchant_id uuid not null,
  batch_id bigint not null
);
create table audit_chain (
  position bigint not null,
  kind text not null,
  action_id bigint not null,
  hash bytea not null
);
create table exceptions (
  id uuid not null default gen_random_uuid(),
  kind text not null,
  provider_account_id uuid,
  reference_id text not null,
  payment_id uuid,
  amount_rupiah bigint,
  detail text not null,
  opened_at timestamp(3) with time zone not null default now(),
  resolved_at timestamp(3) with time zone,
  resolved_by text,
  note text
);
create table installation (
  is_only boolean not null default true,
  environment text not null,
  recorded_at timestamp(3) with time zone not null default now()
);
create table late_payments (
  payment_id uuid not null,
  merchant_id uuid not null,
  total_rupiah bigint not null,
  provider_transaction_id text not null,
  paid_at timestamp(3) with time zone not null,
  status text not null,
  received_at timestamp(3) with time zone not null,
  submitted_at timestamp(3) with time zone,
  finished_at timestamp(3) with time zone,
  refund_key text not null,
  provider_reference text,
  failure_reason text,
  is_manual boolean not null default false
);
create table ledger_closings (
  day date not null,
  merchant_id uuid not null,
  account text not null,
  debit_rupiah bigint not null,
  credit_rupiah bigint not null
);
create table ledger_entries (
  posting_id bigint not null,
  line smallint not null,
  account text not null,
  side text not null,
  amount_rupiah bigint not null
);
create table ledger_postings (
  id bigint not null generated always as identity,
  payment_id uuid not null,
  payment_version integer,
  merchant_id uuid not null,
  occurred_at timestamp(3) with time zone not null,
  late_payment_step text
);
create table ledger_verification_results (
  id bigint not null generated always as identity,
  verified_at timestamp(3) with time zone not null default now(),
  is_full boolean not null,
  break_count bigint not null
);
create table ledger_verifications (
  id bigint not null generated always as identity,
  verified_at timestamp(3) with time zone not null default now(),
  is_full boolean not null,
  recorded_until timestamp(3) with time zone not null,
  posting_id bigint not null,
  balances jsonb not null
);
create table merchants (
  id uuid not null,
  name text not null,
  status text not null default 'pending'::text,
  fee_payer text not null default 'merchant'::text,
  providers text[] not null default '{gopay}'::text[],
  payment_method_active boolean not null default true,
  created_at timestamp(3) with time zone not null default now(),
  held_at timestamp(3) with time zone,
  return_url text,
  checkout_origins text[] not null default '{}'::text[]
);
create table operator_action_outcomes (
  action_id bigint not null,
  outcome text not null,
  detail text,
  finished_at timestamp(3) with time zone not null default clock_timestamp()
);
create table operator_actions (
  id bigint not null generated always as identity,
  actor text not null,
  via text not null,
  operator_id uuid,
  action text not null,
  target text not null,
  note text,
  requested_at timestamp(3) with time zone not null default clock_timestamp(),
  detail text
);
create table operators (
  id uuid not null,
  name text not null,
  secret_sha256 bytea not null,
  prefix text not null,
  last_four text not null,
  created_at timestamp(3) with time zone not null default now(),
  revoked_at timestamp(3) with time zone,
  allowed_networks cidr[] not null default '{}'::cidr[],
  scopes text[],
  expires_at timestamp(3) with time zone,
  is_approved boolean not null default true
);
create table payment_details (
  payment_id uuid not null,
  fingerprint text not null,
  sealed text not null,
  created_at timestamp(3) with time zone not null default now()
);
create table payment_transitions (
  payment_id uuid not null,
  version integer not null,
  name text not null,
  from_status text,
  to_status text not null,
  occurred_at timestamp(3) with time zone not null,
  actor text not null,
  note text,
  recorded_at timestamp(3) with time zone not null default now(),
  request_id text,
  traceparent text
);
create table payments (
  id uuid not null,
  reference_id text not null,
  merchant_id uuid not null,
  merchant_reference_id text,
  idempotency_key text,
  fingerprint text not null,
  payment_method text not null,
  provider text not null,
  provider_account_id uuid not null,
  currency text not null default 'IDR'::text,
  amount_rupiah bigint not null,
  fee_rupiah bigint not null,
  total_rupiah bigint not null,
  net_rupiah bigint not null,
  fee_payer text not null,
  policy_id uuid not null,
  settlement_kind text not null,
  settlement_delay_seconds integer not null,
  status text not null,
  version integer not null,
  expires_at timestamp(3) with time zone not null,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  paid_at timestamp(3) with time zone,
  cancelled_at timestamp(3) with time zone,
  settlement_due_at timestamp(3) with time zone,
  qris_payload text,
  provider_transaction_id text,
  failure_reason text
);
create table policies (
  id uuid not null,
  provider text not null,
  channel text not null,
  version integer not null,
  fee_basis_points integer not null,
  fee_flat_rupiah bigint not null,
  settlement_kind text not null,
  settlement_delay_seconds integer not null,
  expires_in_seconds integer not null,
  created_at timestamp(3) with time zone not null default now()
);
create table provider_accounts (
  id uuid not null,
  provider text not null,
  adapter text not null,
  base_url text not null,
  sealed_server_key text not null,
  weight integer not null default 1,
  status text not null default 'enabled'::text,
  created_at timestamp(3) with time zone not null default now(),
  calls_per_second integer
);
create table provider_call_schedules (
  provider_account_id uuid not null,
  next_call_at timestamp with time zone not null
);
create table provider_notifications (
  id bigint not null generated always as identity,
  provider_account_id uuid not null,
  reference_id text not null,
  body_sha256 bytea not null,
  body text not null,
  received_at timestamp(3) with time zone not null default now(),
  closed_at timestamp(3) with time zone,
  notify_attempts integer not null default 0,
  next_notify_at timestamp(3) with time zone not null default (now() + '00:00:05'::interval),
  reported_status text,
  meaning_sha256 bytea
);
create table rate_limits (
  key text not null,
  points integer not null,
  expire bigint not null
);
create table reconciliation_runs (
  id bigint not null generated always as identity,
  started_at timestamp(3) with time zone not null,
  ended_at timestamp(3) with time zone not null default now(),
  changed_since timestamp(3) with time zone not null,
  is_complete boolean not null,
  coverage jsonb not null
);
create table refunds (
  payment_id uuid not null,
  number smallint not null,
  refund_key text not null,
  amount_rupiah bigint not null,
  status text not null,
  requested_at timestamp(3) with time zone not null,
  submit_at timestamp(3) with time zone not null,
  submitted_at timestamp(3) with time zone,
  finished_at timestamp(3) with time zone,
  provider_reference text,
  failure_reason text,
  is_manual boolean not null default false
);
create table retired_keys (
  key_id text not null,
  label text not null,
  sealed text not null,
  retired_at timestamp(3) with time zone not null default now()
);
create table webhook_attempts (
  delivery_id uuid not null,
  number integer not null,
  started_at timestamp(3) with time zone not null,
  duration_ms integer not null,
  status_code integer,
  failure text,
  response_excerpt text
);
create table webhook_deliveries (
  id uuid not null,
  payment_id uuid not null,
  payment_version integer not null,
  endpoint_id uuid not null,
  merchant_id uuid not null,
  status text not null,
  dead_reason text,
  attempts_total integer not null default 0,
  leased_until timestamp(3) with time zone not null default '-infinity'::timestamp with time zone,
  retry_workflow_started_at timestamp(3) with time zone,
  created_at timestamp(3) with time zone not null default now(),
  finished_at timestamp(3) with time zone,
  attempts_in_cycle integer not null default 0,
  queued_at timestamp(3) with time zone not null default now(),
  redelivered_xid xid8
);
create table webhook_endpoints (
  id uuid not null,
  merchant_id uuid not null,
  url text not null,
  events text[],
  status text not null default 'enabled'::text,
  disabled_reason text,
  created_at timestamp(3) with time zone not null default now(),
  consecutive_failures integer not null default 0,
  failing_since timestamp(3) with time zone,
  next_probe_at timestamp(3) with time zone,
  claim_number bigint not null default 0
);
create table webhook_events (
  payment_id uuid not null,
  payment_version integer not null,
  event text not null,
  body text not null,
  occurred_at timestamp(3) with time zone not null,
  recorded_xid xid8 default pg_current_xact_id()
);
create table webhook_secrets (
  id uuid not null,
  endpoint_id uuid not null,
  sealed_secret text not null,
  created_at timestamp(3) with time zone not null default now(),
  expires_at timestamp(3) with time zone
);

alter table api_keys add constraint api_keys_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id);
alter table api_keys add constraint api_keys_pkey PRIMARY KEY (id);
alter table api_keys add constraint api_keys_scopes_check CHECK (((scopes <> '{}'::text[]) AND (scopes <@ ARRAY['read'::text, 'create'::text, 'cancel'::text, 'refund'::text])));
alter table api_keys add constraint api_keys_secret_sha256_check CHECK ((octet_length(secret_sha256) = 32));
alter table api_keys add constraint api_keys_secret_sha256_key UNIQUE (secret_sha256);
alter table api_requests add constraint api_requests_pkey PRIMARY KEY (id);
alter table approval_limits add constraint approval_limits_limit_rupiah_check CHECK ((limit_rupiah >= 0));
alter table approval_limits add constraint approval_limits_pkey PRIMARY KEY (id);
alter table approvals add constraint approvals_decided CHECK ((((status = 'pending'::text) = (decided_by IS NULL)) AND ((decided_by IS NULL) = (decided_at IS NULL))));
alter table approvals add constraint approvals_decided_by_fkey FOREIGN KEY (decided_by) REFERENCES operators(id);
alter table approvals add constraint approvals_pkey PRIMARY KEY (id);
alter table approvals add constraint approvals_requested_by_fkey FOREIGN KEY (requested_by) REFERENCES operators(id);
alter table approvals add constraint approvals_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'approved'::text, 'executed'::text, 'failed'::text, 'rejected'::text])));
alter table approvals add constraint approvals_two_operators CHECK ((decided_by <> requested_by));
alter table archive_batches add constraint archive_batches_end_byte_check CHECK ((end_byte > 0));
alter table archive_batches add constraint archive_batches_file_id_fkey FOREIGN KEY (file_id) REFERENCES archive_files(id);
alter table archive_batches add constraint archive_batches_payment_count_check CHECK ((payment_count > 0));
alter table archive_batches add constraint archive_batches_pkey PRIMARY KEY (id);
alter table archive_files add constraint archive_files_checksum_if_completed CHECK (((completed_at IS NULL) = (sha256 IS NULL)));
alter table archive_files add constraint archive_files_pkey PRIMARY KEY (id);
alter table archive_files add constraint archive_files_sha256_check CHECK ((octet_length(sha256) = 32));
alter table archived_payments add constraint archived_payments_batch_id_fkey FOREIGN KEY (batch_id) REFERENCES archive_batches(id);
alter table archived_payments add constraint archived_payments_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id);
alter table archived_payments add constraint archived_payments_pkey PRIMARY KEY (payment_id);
alter table archived_payments add constraint archived_payments_reference_id_key UNIQUE (reference_id);
alter table audit_chain add constraint audit_chain_hash_check CHECK ((octet_length(hash) = 32));
alter table audit_chain add constraint audit_chain_kind_action_id_key UNIQUE (kind, action_id);
alter table audit_chain add constraint audit_chain_kind_check CHECK ((kind = ANY (ARRAY['action'::text, 'outcome'::text])));
alter table audit_chain add constraint audit_chain_pkey PRIMARY KEY ("position");
alter table audit_chain add constraint audit_chain_position_check CHECK (("position" > 0));
alter table exceptions add constraint exceptions_kind_check CHECK ((kind = ANY (ARRAY['late_payment'::text, 'wrong_amount'::text, 'unknown_order'::text, 'paid_twice'::text, 'refunded_after_settlement'::text, 'reconciliation'::text])));
alter table exceptions add constraint exceptions_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES payments(id);
alter table exceptions add constraint exceptions_pkey PRIMARY KEY (id);
alter table exceptions add constraint exceptions_provider_account_id_fkey FOREIGN KEY (provider_account_id) REFERENCES provider_accounts(id);
alter table exceptions add constraint exceptions_resolved_by_if_resolved CHECK (((resolved_at IS NULL) = (resolved_by IS NULL)));
alter table installation add constraint installation_environment_check CHECK ((environment = ANY (ARRAY['sandbox'::text, 'production'::text])));
alter table installation add constraint installation_is_only_check CHECK (is_only);
alter table installation add constraint installation_pkey PRIMARY KEY (is_only);
alter table late_payments add constraint late_payments_failure_reason_if_manual_review CHECK (((status <> 'manual_review'::text) OR (failure_reason IS NOT NULL)));
alter table late_payments add constraint late_payments_finished_if_final CHECK (((status = ANY (ARRAY['refunded'::text, 'manual_review'::text])) = (finished_at IS NOT NULL)));
alter table late_payments add constraint late_payments_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id);
alter table late_payments add constraint late_payments_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES payments(id);
alter table late_payments add constraint late_payments_pkey PRIMARY KEY (payment_id);
alter table late_payments add constraint late_payments_refund_key_key UNIQUE (refund_key);
alter table late_payments add constraint late_payments_status_check CHECK ((status = ANY (ARRAY['received'::text, 'submitted'::text, 'refunded'::text, 'manual_review'::text])));
alter table late_payments add constraint late_payments_total_rupiah_check CHECK ((total_rupiah > 0));
alter table ledger_closings add constraint ledger_closings_credit_rupiah_check CHECK ((credit_rupiah >= 0));
alter table ledger_closings add constraint ledger_closings_debit_rupiah_check CHECK ((debit_rupiah >= 0));
alter table ledger_closings add constraint ledger_closings_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id);
alter table ledger_closings add constraint ledger_closings_pkey PRIMARY KEY (day, merchant_id, account);
alter table ledger_entries add constraint ledger_entries_account_check CHECK ((account = ANY (ARRAY['provider_receivable'::text, 'merchant_pending'::text, 'merchant_available'::text, 'fee_revenue'::text, 'suspense'::text, 'cash'::text])));
alter table ledger_entries add constraint ledger_entries_amount_rupiah_check CHECK ((amount_rupiah > 0));
alter table ledger_entries add constraint ledger_entries_pkey PRIMARY KEY (posting_id, line);
alter table ledger_entries add constraint ledger_entries_posting_id_fkey FOREIGN KEY (posting_id) REFERENCES ledger_postings(id);
alter table ledger_entries add constraint ledger_entries_side_check CHECK ((side = ANY (ARRAY['debit'::text, 'credit'::text])));
alter table ledger_postings add constraint ledger_postings_has_one_source CHECK ((num_nonnulls(payment_version, late_payment_step) = 1));
alter table ledger_postings add constraint ledger_postings_late_payment_step_check CHECK ((late_payment_step = ANY (ARRAY['receive'::text, 'refund'::text, 'refund_manually'::text])));
alter table ledger_postings add constraint ledger_postings_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id);
alter table ledger_postings add constraint ledger_postings_payment_id_late_payment_step_key UNIQUE (payment_id, late_payment_step);
alter table ledger_postings add constraint ledger_postings_payment_id_payment_version_fkey FOREIGN KEY (payment_id, payment_version) REFERENCES payment_transitions(payment_id, version);
alter table ledger_postings add constraint ledger_postings_payment_id_payment_version_key UNIQUE (payment_id, payment_version);
alter table ledger_postings add constraint ledger_postings_pkey PRIMARY KEY (id);
alter table ledger_verification_results add constraint ledger_verification_results_break_count_check CHECK ((break_count >= 0));
alter table ledger_verification_results add constraint ledger_verification_results_pkey PRIMARY KEY (id);
alter table ledger_verifications add constraint ledger_verifications_pkey PRIMARY KEY (id);
alter table merchants add constraint merchants_fee_payer_check CHECK ((fee_payer = ANY (ARRAY['buyer'::text, 'merchant'::text])));
alter table merchants add constraint merchants_name_check CHECK ((name <> ''::text));
alter table merchants add constraint merchants_pkey PRIMARY KEY (id);
alter table merchants add constraint merchants_providers_check CHECK ((providers <@ '{gopay,shopeepay}'::text[]));
alter table merchants add constraint merchants_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'approved'::text, 'suspended'::text])));
alter table operator_action_outcomes add constraint operator_action_outcomes_action_id_fkey FOREIGN KEY (action_id) REFERENCES operator_actions(id);
alter table operator_action_outcomes add constraint operator_action_outcomes_outcome_check CHECK ((outcome = ANY (ARRAY['succeeded'::text, 'rejected'::text, 'indeterminate'::text])));
alter table operator_action_outcomes add constraint operator_action_outcomes_pkey PRIMARY KEY (action_id);
alter table operator_actions add constraint operator_actions_operator_id_fkey FOREIGN KEY (operator_id) REFERENCES operators(id);
alter table operator_actions add constraint operator_actions_operator_id_if_api CHECK (((via = 'cli'::text) OR (operator_id IS NOT NULL)));
alter table operator_actions add constraint operator_actions_pkey PRIMARY KEY (id);
alter table operator_actions add constraint operator_actions_via_check CHECK ((via = ANY (ARRAY['api'::text, 'cli'::text])));
alter table operators add constraint operators_name_check CHECK ((name <> ''::text));
alter table operators add constraint operators_pkey PRIMARY KEY (id);
alter table operators add constraint operators_scopes_check CHECK (((scopes <> '{}'::text[]) AND (scopes <@ ARRAY['read'::text, 'settle'::text, 'fail'::text, 'refund'::text, 'resolve'::text, 'redeliver'::text])));
alter table operators add constraint operators_secret_sha256_check CHECK ((octet_length(secret_sha256) = 32));
alter table operators add constraint operators_secret_sha256_key UNIQUE (secret_sha256);
alter table payment_details add constraint payment_details_pkey PRIMARY KEY (payment_id, fingerprint);
alter table payment_transitions add constraint payment_transitions_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES payments(id);
alter table payment_transitions add constraint payment_transitions_pkey PRIMARY KEY (payment_id, version);
alter table payment_transitions add constraint payment_transitions_version_check CHECK ((version > 0));
alter table payments add constraint payments_amount_rupiah_check CHECK ((amount_rupiah > 0));
alter table payments add constraint payments_currency_check CHECK ((currency = 'IDR'::text));
alter table payments add constraint payments_fee_payer_check CHECK ((fee_payer = ANY (ARRAY['buyer'::text, 'merchant'::text])));
alter table payments add constraint payments_fee_rupiah_check CHECK ((fee_rupiah >= 0));
alter table payments add constraint payments_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id);
alter table payments add constraint payments_net_rupiah_check CHECK ((net_rupiah > 0));
alter table payments add constraint payments_payment_method_check CHECK ((payment_method = 'qris'::text));
alter table payments add constraint payments_pkey PRIMARY KEY (id);
alter table payments add constraint payments_policy_id_fkey FOREIGN KEY (policy_id) REFERENCES policies(id);
alter table payments add constraint payments_provider_account_id_fkey FOREIGN KEY (provider_account_id) REFERENCES provider_accounts(id);
alter table payments add constraint payments_provider_check CHECK ((provider = ANY (ARRAY['gopay'::text, 'shopeepay'::text])));
alter table payments add constraint payments_reference_id_key UNIQUE (reference_id);
alter table payments add constraint payments_settlement_delay_seconds_check CHECK ((settlement_delay_seconds >= 0));
alter table payments add constraint payments_settlement_kind_check CHECK ((settlement_kind = ANY (ARRAY['automatic'::text, 'manual'::text])));
alter table payments add constraint payments_status_check CHECK ((status = ANY (ARRAY['created'::text, 'pending'::text, 'paid'::text, 'expired'::text, 'settled'::text, 'failed'::text, 'cancelled'::text, 'refund_processing'::text, 'refund_failed'::text, 'refunded'::text])));
alter table payments add constraint payments_total_is_net_plus_fee CHECK ((total_rupiah = (net_rupiah + fee_rupiah)));
alter table payments add constraint payments_total_matches_fee_payer CHECK ((total_rupiah =
CASE fee_payer
    WHEN 'buyer'::text THEN (amount_rupiah + fee_rupiah)
    ELSE amount_rupiah
END));
alter table payments add constraint payments_total_rupiah_check CHECK (((total_rupiah >= 1) AND (total_rupiah <= 10000000)));
alter table payments add constraint payments_version_check CHECK ((version > 0));
alter table policies add constraint policies_channel_check CHECK ((channel = 'qris'::text));
alter table policies add constraint policies_expires_in_seconds_check CHECK ((expires_in_seconds > 0));
alter table policies add constraint policies_fee_basis_points_check CHECK (((fee_basis_points >= 0) AND (fee_basis_points <= 10000)));
alter table policies add constraint policies_fee_flat_rupiah_check CHECK (((fee_flat_rupiah >= 0) AND (fee_flat_rupiah <= 10000000)));
alter table policies add constraint policies_pkey PRIMARY KEY (id);
alter table policies add constraint policies_provider_channel_version_key UNIQUE (provider, channel, version);
alter table policies add constraint policies_provider_check CHECK ((provider = ANY (ARRAY['gopay'::text, 'shopeepay'::text])));
alter table policies add constraint policies_settlement_delay_seconds_check CHECK ((settlement_delay_seconds >= 0));
alter table policies add constraint policies_settlement_kind_check CHECK ((settlement_kind = ANY (ARRAY['automatic'::text, 'manual'::text])));
alter table policies add constraint policies_version_check CHECK ((version > 0));
alter table provider_accounts add constraint provider_accounts_adapter_check CHECK ((adapter = 'midtrans'::text));
alter table provider_accounts add constraint provider_accounts_calls_per_second_check CHECK ((calls_per_second > 0));
alter table provider_accounts add constraint provider_accounts_pkey PRIMARY KEY (id);
alter table provider_accounts add constraint provider_accounts_provider_check CHECK ((provider = ANY (ARRAY['gopay'::text, 'shopeepay'::text])));
alter table provider_accounts add constraint provider_accounts_status_check CHECK ((status = ANY (ARRAY['proposed'::text, 'enabled'::text, 'disabled'::text])));
alter table provider_accounts add constraint provider_accounts_weight_check CHECK ((weight > 0));
alter table provider_call_schedules add constraint provider_call_schedules_pkey PRIMARY KEY (provider_account_id);
alter table provider_call_schedules add constraint provider_call_schedules_provider_account_id_fkey FOREIGN KEY (provider_account_id) REFERENCES provider_accounts(id);
alter table provider_notifications add constraint provider_notifications_body_sha256_check CHECK ((octet_length(body_sha256) = 32));
alter table provider_notifications add constraint provider_notifications_meaning_sha256_check CHECK ((octet_length(meaning_sha256) = 32));
alter table provider_notifications add constraint provider_notifications_pkey PRIMARY KEY (id);
alter table provider_notifications add constraint provider_notifications_provider_account_id_body_sha256_key UNIQUE (provider_account_id, body_sha256);
alter table provider_notifications add constraint provider_notifications_provider_account_id_fkey FOREIGN KEY (provider_account_id) REFERENCES provider_accounts(id);
alter table provider_notifications add constraint provider_notifications_reported_status_check CHECK ((reported_status = ANY (ARRAY['pending'::text, 'paid'::text, 'expired'::text, 'cancelled'::text, 'denied'::text, 'refunded'::text])));
alter table rate_limits add constraint rate_limits_pkey PRIMARY KEY (key);
alter table reconciliation_runs add constraint reconciliation_runs_pkey PRIMARY KEY (id);
alter table reconciliation_runs add constraint reconciliation_runs_started_at_key UNIQUE (started_at);
alter table refunds add constraint refunds_amount_rupiah_check CHECK ((amount_rupiah > 0));
alter table refunds add constraint refunds_failure_reason_if_rejected CHECK (((status <> 'rejected'::text) OR (failure_reason IS NOT NULL)));
alter table refunds add constraint refunds_finished_if_final CHECK (((status = ANY (ARRAY['confirmed'::text, 'rejected'::text, 'cancelled'::text])) = (finished_at IS NOT NULL)));
alter table refunds add constraint refunds_number_check CHECK ((number >= 1));
alter table refunds add constraint refunds_payment_id_fkey FOREIGN KEY (payment_id) REFERENCES payments(id);
alter table refunds add constraint refunds_pkey PRIMARY KEY (payment_id, number);
alter table refunds add constraint refunds_refund_key_key UNIQUE (refund_key);
alter table refunds add constraint refunds_status_check CHECK ((status = ANY (ARRAY['held'::text, 'submitted'::text, 'confirmed'::text, 'rejected'::text, 'cancelled'::text])));
alter table refunds add constraint refunds_submitted_at_if_submitted CHECK (((status = ANY (ARRAY['held'::text, 'cancelled'::text])) = (submitted_at IS NULL)));
alter table retired_keys add constraint retired_keys_pkey PRIMARY KEY (key_id, label);
alter table webhook_attempts add constraint webhook_attempts_delivery_id_fkey FOREIGN KEY (delivery_id) REFERENCES webhook_deliveries(id);
alter table webhook_attempts add constraint webhook_attempts_number_check CHECK ((number > 0));
alter table webhook_attempts add constraint webhook_attempts_pkey PRIMARY KEY (delivery_id, number);
alter table webhook_deliveries add constraint webhook_deliveries_dead_reason_if_dead CHECK (((status = 'dead'::text) = (dead_reason IS NOT NULL)));
alter table webhook_deliveries add constraint webhook_deliveries_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES webhook_endpoints(id);
alter table webhook_deliveries add constraint webhook_deliveries_finished_unless_pending CHECK (((status = 'pending'::text) = (finished_at IS NULL)));
alter table webhook_deliveries add constraint webhook_deliveries_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id);
alter table webhook_deliveries add constraint webhook_deliveries_payment_id_payment_version_endpoint_id_key UNIQUE (payment_id, payment_version, endpoint_id);
alter table webhook_deliveries add constraint webhook_deliveries_payment_id_payment_version_fkey FOREIGN KEY (payment_id, payment_version) REFERENCES webhook_events(payment_id, payment_version);
alter table webhook_deliveries add constraint webhook_deliveries_pkey PRIMARY KEY (id);
alter table webhook_deliveries add constraint webhook_deliveries_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'delivered'::text, 'dead'::text])));
alter table webhook_endpoints add constraint webhook_endpoints_consecutive_failures_check CHECK ((consecutive_failures >= 0));
alter table webhook_endpoints add constraint webhook_endpoints_failing_since_if_failing CHECK (((consecutive_failures > 0) = (failing_since IS NOT NULL)));
alter table webhook_endpoints add constraint webhook_endpoints_merchant_id_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id);
alter table webhook_endpoints add constraint webhook_endpoints_next_probe_if_failing CHECK (((next_probe_at IS NULL) OR (consecutive_failures > 0)));
alter table webhook_endpoints add constraint webhook_endpoints_pkey PRIMARY KEY (id);
alter table webhook_endpoints add constraint webhook_endpoints_status_check CHECK ((status = ANY (ARRAY['enabled'::text, 'disabled'::text])));
alter table webhook_events add constraint webhook_events_payment_id_payment_version_fkey FOREIGN KEY (payment_id, payment_version) REFERENCES payment_transitions(payment_id, version);
alter table webhook_events add constraint webhook_events_pkey PRIMARY KEY (payment_id, payment_version);
alter table webhook_secrets add constraint webhook_secrets_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES webhook_endpoints(id);
alter table webhook_secrets add constraint webhook_secrets_pkey PRIMARY KEY (id);

CREATE INDEX api_keys_merchant_id_idx ON public.api_keys USING btree (merchant_id);
CREATE INDEX api_requests_recorded_xid_idx ON public.api_requests USING btree (recorded_xid);
CREATE INDEX api_requests_request_id_idx ON public.api_requests USING btree (request_id);
CREATE INDEX approvals_pending ON public.approvals USING btree (expires_at) WHERE (status = 'pending'::text);
CREATE INDEX archive_batches_file_id_idx ON public.archive_batches USING btree (file_id, end_byte);
CREATE UNIQUE INDEX archive_files_incomplete_key ON public.archive_files USING btree (day) WHERE (completed_at IS NULL);
CREATE UNIQUE INDEX exceptions_open_key ON public.exceptions USING btree (kind, reference_id) WHERE (resolved_at IS NULL);
CREATE INDEX exceptions_open_opened_at_idx ON public.exceptions USING btree (opened_at DESC, id) WHERE (resolved_at IS NULL);
CREATE INDEX exceptions_opened_at_idx ON public.exceptions USING btree (opened_at DESC);
CREATE INDEX exceptions_payment_id_idx ON public.exceptions USING btree (payment_id) WHERE (payment_id IS NOT NULL);
CREATE INDEX exceptions_reference_id_idx ON public.exceptions USING btree (reference_id);
CREATE INDEX late_payments_open_idx ON public.late_payments USING btree (payment_id) WHERE (status = ANY (ARRAY['received'::text, 'submitted'::text]));
CREATE INDEX ledger_verification_results_full_idx ON public.ledger_verification_results USING btree (id) WHERE is_full;
CREATE INDEX operator_actions_target_idx ON public.operator_actions USING btree (target, id DESC);
CREATE UNIQUE INDEX operators_active_name_key ON public.operators USING btree (name) WHERE (revoked_at IS NULL);
CREATE INDEX payment_details_created_at_idx ON public.payment_details USING btree (created_at);
CREATE INDEX payment_details_key_id_idx ON public.payment_details USING btree (split_part(sealed, '.'::text, 2));
CREATE INDEX payment_transitions_recorded_at_idx ON public.payment_transitions USING btree (recorded_at, payment_id);
CREATE INDEX payment_transitions_request_id_idx ON public.payment_transitions USING btree (request_id) WHERE ((request_id IS NOT NULL) AND ((version = 1) OR (actor <> 'workflow'::text)));
CREATE INDEX payments_due_settlement_idx ON public.payments USING btree (merchant_id, settlement_due_at) WHERE ((status = 'paid'::text) AND (settlement_kind = 'manual'::text));
CREATE INDEX payments_final_idx ON public.payments USING btree (provider_account_id, updated_at, id) WHERE ((status || ''::text) = ANY (ARRAY['expired'::text, 'settled'::text, 'failed'::text, 'cancelled'::text, 'refunded'::text]));
CREATE INDEX payments_merchant_created_at_idx ON public.payments USING btree (merchant_id, created_at DESC, id DESC);
CREATE INDEX payments_merchant_provider_idx ON public.payments USING btree (merchant_id, provider, created_at DESC, id DESC);
CREATE INDEX payments_merchant_reference_id_idx ON public.payments USING btree (merchant_id, merchant_reference_id, created_at DESC, id DESC) WHERE (merchant_reference_id IS NOT NULL);
CREATE INDEX payments_merchant_status_idx ON public.payments USING btree (merchant_id, status, created_at DESC, id DESC);
CREATE INDEX payments_open_idx ON public.payments USING btree (provider_account_id, id) WHERE ((status || ''::text) = ANY (ARRAY['created'::text, 'pending'::text, 'paid'::text, 'refund_processing'::text, 'refund_failed'::text]));
CREATE INDEX payments_status_idx ON public.payments USING btree (((status || ''::text)), (created_at AT TIME ZONE 'utc'::text) DESC, id DESC);
CREATE INDEX provider_accounts_provider_idx ON public.provider_accounts USING btree (provider) WHERE (status = 'enabled'::text);
CREATE INDEX provider_notifications_due_idx ON public.provider_notifications USING btree (next_notify_at) WHERE (closed_at IS NULL);
CREATE UNIQUE INDEX provider_notifications_meaning_key ON public.provider_notifications USING btree (provider_account_id, reference_id, meaning_sha256) WHERE (meaning_sha256 IS NOT NULL);
CREATE INDEX provider_notifications_open_idx ON public.provider_notifications USING btree (reference_id) WHERE (closed_at IS NULL);
CREATE INDEX provider_notifications_received_at_idx ON public.provider_notifications USING brin (received_at);
CREATE INDEX reconciliation_runs_complete_idx ON public.reconciliation_runs USING btree (id) WHERE is_complete;
CREATE UNIQUE INDEX refunds_open_key ON public.refunds USING btree (payment_id) WHERE (status = ANY (ARRAY['held'::text, 'submitted'::text]));
CREATE INDEX refunds_submitted_at_idx ON public.refunds USING btree (submitted_at) WHERE (status = 'submitted'::text);
CREATE INDEX webhook_deliveries_created_at_idx ON public.webhook_deliveries USING btree (created_at DESC, id DESC);
CREATE INDEX webhook_deliveries_dead_idx ON public.webhook_deliveries USING btree (created_at, id) WHERE (status = 'dead'::text);
CREATE INDEX webhook_deliveries_merchant_created_at_idx ON public.webhook_deliveries USING btree (merchant_id, created_at DESC);
CREATE INDEX webhook_deliveries_outbox_idx ON public.webhook_deliveries USING btree (endpoint_id, queued_at) WHERE ((status = 'pending'::text) AND (retry_workflow_started_at IS NULL));
CREATE INDEX webhook_deliveries_redelivered_xid_idx ON public.webhook_deliveries USING btree (redelivered_xid) WHERE (redelivered_xid IS NOT NULL);
CREATE INDEX webhook_deliveries_retry_workflow_idx ON public.webhook_deliveries USING btree (endpoint_id, id) WHERE ((status = 'pending'::text) AND (retry_workflow_started_at IS NOT NULL));
CREATE INDEX webhook_endpoints_merchant_id_idx ON public.webhook_endpoints USING btree (merchant_id);
CREATE INDEX webhook_events_occurred_at_idx ON public.webhook_events USING brin (occurred_at);
CREATE INDEX webhook_events_recorded_xid_idx ON public.webhook_events USING btree (recorded_xid) WHERE (recorded_xid IS NOT NULL);
CREATE INDEX webhook_secrets_endpoint_id_idx ON public.webhook_secrets USING btree (endpoint_id);

alter table ledger_entries set (autovacuum_vacuum_insert_scale_factor=0.02, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=1000);
alter table ledger_postings set (autovacuum_vacuum_insert_scale_factor=0.02, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=1000);
alter table payment_transitions set (autovacuum_vacuum_insert_scale_factor=0.02, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=1000);
alter table payments set (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=1000, autovacuum_analyze_scale_factor=0.02, autovacuum_analyze_threshold=1000);
alter table provider_notifications set (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=1000, autovacuum_analyze_scale_factor=0.02, autovacuum_analyze_threshold=1000);
alter table rate_limits set (fillfactor=50);
alter table webhook_attempts set (autovacuum_vacuum_insert_scale_factor=0.02, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=1000);
alter table webhook_deliveries set (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=1000, autovacuum_analyze_scale_factor=0.02, autovacuum_analyze_threshold=1000);
alter table webhook_events set (autovacuum_vacuum_insert_scale_factor=0.02, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=1000);

CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON public.approval_limits FOR EACH ROW EXECUTE FUNCTION forbid_mutation();
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON public.approval_limits FOR EACH STATEMENT EXECUTE FUNCTION forbid_mutation();
CREATE TRIGGER append_only BEFORE DELETE ON public.approvals FOR EACH ROW EXECUTE FUNCTION forbid_mutation();
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON public.approvals FOR EACH STATEMENT EXECUTE FUNCTION forbid_mutation();
CREATE TRIGGER request_is_final BEFORE UPDATE OF id, action, target, parameters, note, requested_by, requested_at, expires_at ON public.approvals FOR EACH ROW EXECUTE FUNCTION forbid_mutation();
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON public.archive_batches FOR EACH ROW EXECUTE FUNCTION forbid_mutation();
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON public.archive_batches FOR EACH STATEMENT EXECUTE FUNCTION forbid_mutation();
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON public.archived_payments FOR EACH ROW EXECUTE FUNCTION forbid_mutation();
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON public.archived_payments FOR EACH STATEMENT EXECUTE FUNCTION forbid_mutation();
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON public.audit_chain FOR EACH ROW EXECUTE FUNCTION forbid_mutation();
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON public.audit_chain FOR EACH STATEMENT EXECUTE FUNCTION forbid_mutation();
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON public.installation FOR EACH ROW EXECUTE FUNCTION forbid_mutation();
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON public.installation FOR EACH STATEMENT EXECUTE FUNCTION forbid_mutation();
CREATE TRIGGER append_only BEFORE DELETE ON public.ledger_closings FOR EACH ROW EXECUTE FUNCTION forbid_mutation();
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON public.ledger_closings FOR EACH STATEMENT EXECUTE FUNCTION forbid_mutation();
CREATE TRIGGER append_only BEFORE UPDATE ON public.ledger_entries FOR EACH ROW EXECUTE FUNCTION forbid_mutation();
CREATE TRIGGER append_only_delete BEFORE DELETE ON public.ledger_entries FOR EACH ROW EXECUTE FUNCTION forbid_deletion_unless_archived();
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON public.ledger_entries FOR EACH STATEMENT EXECUTE FUNCTION forbid_mutation();
CREATE CONSTRAINT TRIGGER balanced AFTER INSERT ON public.ledger_entries NOT DEFERRABLE INITIALLY IMMEDIATE FOR EACH ROW EXECUTE FUNCTION require_balanced_posting();
CREATE TRIGGER append_only BEFORE UPDATE ON public.ledger_postings FOR EACH ROW EXECUTE FUNCTION forbid_mutation();
CREATE TRIGGER append_only_delete BEFORE DELETE ON public.ledger_postings FOR EACH ROW EXECUTE FUNCTION forbid_deletion_unless_archived();
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON public.ledger_postings FOR EACH STATEMENT EXECUTE FUNCTION forbid_mutation();
CREATE CONSTRAINT TRIGGER balanced AFTER INSERT ON public.ledger_postings NOT DEFERRABLE INITIALLY IMMEDIATE FOR EACH ROW EXECUTE FUNCTION require_balanced_posting();
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON public.ledger_verification_results FOR EACH ROW EXECUTE FUNCTION forbid_mutation();
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON public.ledger_verification_results FOR EACH STATEMENT EXECUTE FUNCTION forbid_mutation();
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON public.ledger_verifications FOR EACH ROW EXECUTE FUNCTION forbid_mutation();
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON public.ledger_verifications FOR EACH STATEMENT EXECUTE FUNCTION forbid_mutation();
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON public.operator_action_outcomes FOR EACH ROW EXECUTE FUNCTION forbid_mutation();
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON public.operator_action_outcomes FOR EACH STATEMENT EXECUTE FUNCTION forbid_mutation();
CREATE TRIGGER audit_chain AFTER INSERT ON public.operator_action_outcomes FOR EACH ROW EXECUTE FUNCTION chain_outcome();
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON public.operator_actions FOR EACH ROW EXECUTE FUNCTION forbid_mutation();
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON public.operator_actions FOR EACH STATEMENT EXECUTE FUNCTION forbid_mutation();
CREATE TRIGGER audit_chain AFTER INSERT ON public.operator_actions FOR EACH ROW EXECUTE FUNCTION chain_action();
CREATE TRIGGER append_only BEFORE UPDATE ON public.payment_transitions FOR EACH ROW EXECUTE FUNCTION forbid_mutation();
CREATE TRIGGER append_only_delete BEFORE DELETE ON public.payment_transitions FOR EACH ROW EXECUTE FUNCTION forbid_deletion_unless_archived();
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON public.payment_transitions FOR EACH STATEMENT EXECUTE FUNCTION forbid_mutation();
CREATE TRIGGER append_only BEFORE DELETE OR UPDATE ON public.reconciliation_runs FOR EACH ROW EXECUTE FUNCTION forbid_mutation();
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON public.reconciliation_runs FOR EACH STATEMENT EXECUTE FUNCTION forbid_mutation();
CREATE TRIGGER append_only BEFORE UPDATE ON public.webhook_events FOR EACH ROW EXECUTE FUNCTION forbid_mutation();
CREATE TRIGGER append_only_delete BEFORE DELETE ON public.webhook_events FOR EACH ROW WHEN ((old.occurred_at > (now() - '7 days'::interval))) EXECUTE FUNCTION forbid_mutation();
CREATE TRIGGER append_only_truncate BEFORE TRUNCATE ON public.webhook_events FOR EACH STATEMENT EXECUTE FUNCTION forbid_mutation();

create view archivable_payments as
 SELECT id,
    reference_id,
    merchant_id,
    created_at
   FROM payments
  WHERE (((status || ''::text) = ANY (ARRAY['expired'::text, 'settled'::text, 'failed'::text, 'cancelled'::text, 'refunded'::text])) AND (updated_at < (now() - '7 days'::interval)) AND (NOT (EXISTS ( SELECT
           FROM late_payments late
          WHERE ((late.payment_id = payments.id) AND (late.status = ANY (ARRAY['received'::text, 'submitted'::text])))))) AND (NOT (EXISTS ( SELECT
           FROM webhook_deliveries delivery
          WHERE ((delivery.payment_id = payments.id) AND ((delivery.status = 'pending'::text) OR (delivery.leased_until > now())))))) AND (NOT (EXISTS ( SELECT
           FROM provider_notifications notification
          WHERE ((notification.reference_id = payments.reference_id) AND (notification.closed_at IS NULL))))) AND (NOT (EXISTS ( SELECT
           FROM exceptions
          WHERE ((exceptions.payment_id = payments.id) AND (exceptions.resolved_at IS NULL))))) AND (NOT (EXISTS ( SELECT
           FROM payment_transitions transition
          WHERE ((transition.payment_id = payments.id) AND (transition.recorded_at >= ( SELECT ledger_verifications.recorded_until
                   FROM ledger_verifications
                  ORDER BY ledger_verifications.id DESC
                 LIMIT 1)))))) AND (NOT (EXISTS ( SELECT
           FROM ledger_postings posting
          WHERE ((posting.payment_id = payments.id) AND (posting.id > ( SELECT ledger_verifications.posting_id
                   FROM ledger_verifications
                  ORDER BY ledger_verifications.id DESC
                 LIMIT 1)))))) AND (EXISTS ( SELECT
           FROM ledger_verifications)));
create view sealing_key_ids as
 WITH RECURSIVE of_details AS (
         SELECT min(split_part(payment_details.sealed, '.'::text, 2)) AS key_id
           FROM payment_details
        UNION ALL
         SELECT ( SELECT min(split_part(payment_details.sealed, '.'::text, 2)) AS min
                   FROM payment_details
                  WHERE (split_part(payment_details.sealed, '.'::text, 2) > of_details.key_id)) AS min
           FROM of_details
          WHERE (of_details.key_id IS NOT NULL)
        )
 SELECT key_id
   FROM ( SELECT of_details.key_id
           FROM of_details
        UNION
         SELECT split_part(provider_accounts.sealed_server_key, '.'::text, 2) AS split_part
           FROM provider_accounts
        UNION
         SELECT split_part(webhook_secrets.sealed_secret, '.'::text, 2) AS split_part
           FROM webhook_secrets
        UNION
         SELECT split_part(retired_keys.sealed, '.'::text, 2) AS split_part
           FROM retired_keys) in_use
  WHERE (key_id <> ''::text);

grant select, update (last_used_at) on api_keys to lunas_api;
grant insert, select, update (revoked_at) on api_keys to lunas_operator;
grant select (id, merchant_id, prefix, last_four, allowed_networks, created_at, revoked_at, scopes, expires_at, last_used_at) on api_keys to lunas_reader;
grant delete, insert, select (id) on api_requests to lunas_api;
grant select on api_requests to lunas_operator;
grant select (id, started_at, key_id, method, status, duration_ms, error_code) on api_requests to lunas_reader;
grant select on approval_limits to lunas_api;
grant insert, select on approval_limits to lunas_operator;
grant select on approval_limits to lunas_reader;
grant insert (action, target, parameters, note, requested_by), select on approvals to lunas_api;
grant insert (action, target, parameters, note, requested_by), select, update (status, decided_by, decided_at, leased_until, failure_reason) on approvals to lunas_operator;
grant select (id, action, target, note, requested_by, requested_at, expires_at, status, decided_by, decided_at) on approvals to lunas_reader;
grant select on archivable_payments to lunas_operator;
grant select on archive_batches to lunas_api;
grant insert, select on archive_batches to lunas_operator;
grant select on archive_batches to lunas_reader;
grant select on archive_batches to lunas_worker;
grant select on archive_files to lunas_api;
grant insert, select, update (completed_at, sha256) on archive_files to lunas_operator;
grant select on archive_files to lunas_reader;
grant select on archive_files to lunas_worker;
grant select on archived_payments to lunas_api;
grant select on archived_payments to lunas_operator;
grant select on archived_payments to lunas_reader;
grant select on archived_payments to lunas_worker;
grant select on audit_chain to lunas_operator;
grant select on audit_chain to lunas_reader;
grant select, update (resolved_at, resolved_by, note) on exceptions to lunas_api;
grant insert, select, update (resolved_at, resolved_by, note) on exceptions to lunas_operator;
grant select on exceptions to lunas_reader;
grant insert, select on exceptions to lunas_worker;
grant select on installation to lunas_api;
grant select on installation to lunas_operator;
grant select on installation to lunas_reader;
grant select on installation to lunas_worker;
grant select, update (status, finished_at, provider_reference, is_manual) on late_payments to lunas_api;
grant select, update (status, finished_at, provider_reference, is_manual) on late_payments to lunas_operator;
grant select on late_payments to lunas_reader;
grant insert, select, update (status, submitted_at, finished_at, provider_reference, failure_reason, is_manual) on late_payments to lunas_worker;
grant select on ledger_closings to lunas_operator;
grant select on ledger_closings to lunas_reader;
grant insert, select on ledger_entries to lunas_api;
grant insert, select on ledger_entries to lunas_operator;
grant select on ledger_entries to lunas_reader;
grant insert, select on ledger_entries to lunas_worker;
grant insert, select on ledger_postings to lunas_api;
grant insert, select on ledger_postings to lunas_operator;
grant select on ledger_postings to lunas_reader;
grant insert, select on ledger_postings to lunas_worker;
grant insert, select on ledger_verification_results to lunas_operator;
grant select on ledger_verification_results to lunas_reader;
grant select on ledger_verification_results to lunas_worker;
grant insert, select on ledger_verifications to lunas_operator;
grant select on ledger_verifications to lunas_reader;
grant select, update (held_at) on merchants to lunas_api;
grant insert, select, update (status, fee_payer, providers, payment_method_active, held_at, return_url, checkout_origins) on merchants to lunas_operator;
grant select on merchants to lunas_reader;
grant select on merchants to lunas_worker;
grant insert, select on operator_action_outcomes to lunas_api;
grant insert, select on operator_action_outcomes to lunas_operator;
grant select on operator_action_outcomes to lunas_reader;
grant insert, select on operator_actions to lunas_api;
grant insert, select on operator_actions to lunas_operator;
grant select (id, actor, via, operator_id, action, target, note, requested_at) on operator_actions to lunas_reader;
grant select on operators to lunas_api;
grant insert, select, update (revoked_at, is_approved) on operators to lunas_operator;
grant select (id, name, prefix, last_four, created_at, revoked_at, allowed_networks, scopes, expires_at, is_approved) on operators to lunas_reader;
grant insert, select (payment_id, fingerprint) on payment_details to lunas_api;
grant delete, select, update (fingerprint, sealed) on payment_details to lunas_operator;
grant delete, select (payment_id, fingerprint, created_at) on payment_details to lunas_worker;
grant select on payment_transitions to lunas_api;
grant insert, select on payment_transitions to lunas_operator;
grant select on payment_transitions to lunas_reader;
grant insert, select on payment_transitions to lunas_worker;
grant select on payments to lunas_api;
grant insert, select, update (fingerprint, status, version, updated_at, qris_payload, provider_transaction_id, failure_reason) on payments to lunas_operator;
grant select (id, reference_id, merchant_id, payment_method, provider, provider_account_id, currency, amount_rupiah, fee_rupiah, total_rupiah, net_rupiah, fee_payer, policy_id, settlement_kind, settlement_delay_seconds, status, version, expires_at, created_at, updated_at, paid_at, cancelled_at, settlement_due_at, provider_transaction_id, failure_reason) on payments to lunas_reader;
grant insert, select, update (status, version, updated_at, paid_at, cancelled_at, settlement_due_at, qris_payload, provider_transaction_id, failure_reason) on payments to lunas_worker;
grant select on policies to lunas_api;
grant insert, select on policies to lunas_operator;
grant select on policies to lunas_reader;
grant select on policies to lunas_worker;
grant select on provider_accounts to lunas_api;
grant insert, select, update (sealed_server_key, status, calls_per_second) on provider_accounts to lunas_operator;
grant select (id, provider, adapter, base_url, weight, status, created_at) on provider_accounts to lunas_reader;
grant select on provider_accounts to lunas_worker;
grant insert, select, update on provider_call_schedules to lunas_api;
grant insert, select, update on provider_call_schedules to lunas_operator;
grant insert, select, update on provider_call_schedules to lunas_worker;
grant insert, select (id, provider_account_id, reference_id, body_sha256, received_at, closed_at, notify_attempts, next_notify_at, reported_status, meaning_sha256), update (closed_at, next_notify_at) on provider_notifications to lunas_api;
grant insert, select (id, provider_account_id, reference_id, body_sha256, received_at, closed_at, notify_attempts, next_notify_at, reported_status, meaning_sha256), update (body, closed_at, next_notify_at) on provider_notifications to lunas_operator;
grant select (id, provider_account_id, reference_id, received_at, closed_at, notify_attempts, next_notify_at, reported_status) on provider_notifications to lunas_reader;
grant delete, insert, select (id, provider_account_id, reference_id, body_sha256, received_at, closed_at, notify_attempts, next_notify_at, reported_status, meaning_sha256), update (closed_at, notify_attempts, next_notify_at) on provider_notifications to lunas_worker;
grant delete, insert, select, update on rate_limits to lunas_api;
grant insert, select on reconciliation_runs to lunas_operator;
grant select on reconciliation_runs to lunas_reader;
grant insert, select on reconciliation_runs to lunas_worker;
grant select on refunds to lunas_api;
grant select on refunds to lunas_operator;
grant select on refunds to lunas_reader;
grant insert, select, update (status, submitted_at, finished_at, provider_reference, failure_reason, is_manual) on refunds to lunas_worker;
grant select on retired_keys to lunas_api;
grant insert, select, update (sealed) on retired_keys to lunas_operator;
grant select on retired_keys to lunas_worker;
grant select on schema_migrations to lunas_api;
grant select on schema_migrations to lunas_operator;
grant select on schema_migrations to lunas_reader;
grant select on schema_migrations to lunas_worker;
grant select on sealing_key_ids to lunas_api;
grant select on sealing_key_ids to lunas_operator;
grant select on sealing_key_ids to lunas_worker;
grant select (delivery_id, number, started_at, duration_ms, status_code, failure) on webhook_attempts to lunas_api;
grant select, update (response_excerpt) on webhook_attempts to lunas_operator;
grant select (delivery_id, number, started_at, duration_ms, status_code, failure) on webhook_attempts to lunas_reader;
grant delete, insert, select (delivery_id) on webhook_attempts to lunas_worker;
grant select, update (status, dead_reason, leased_until, retry_workflow_started_at, finished_at, attempts_in_cycle, queued_at, redelivered_xid) on webhook_deliveries to lunas_api;
grant insert, select, update (status, dead_reason, leased_until, retry_workflow_started_at, finished_at, attempts_in_cycle, queued_at, redelivered_xid) on webhook_deliveries to lunas_operator;
grant select on webhook_deliveries to lunas_reader;
grant delete, insert, select, update (status, dead_reason, attempts_total, leased_until, retry_workflow_started_at, finished_at, attempts_in_cycle, queued_at) on webhook_deliveries to lunas_worker;
grant select, update (claim_number) on webhook_endpoints to lunas_api;
grant insert, select, update (status, disabled_reason, consecutive_failures, failing_since, next_probe_at, claim_number) on webhook_endpoints to lunas_operator;
grant select (id, merchant_id, events, status, disabled_reason, created_at, consecutive_failures, failing_since, next_probe_at) on webhook_endpoints to lunas_reader;
grant select, update (status, disabled_reason, consecutive_failures, failing_since, next_probe_at, claim_number) on webhook_endpoints to lunas_worker;
grant select (payment_id, payment_version, event, body, occurred_at, recorded_xid) on webhook_events to lunas_api;
grant insert, select on webhook_events to lunas_operator;
grant select (payment_id, payment_version, event, occurred_at) on webhook_events to lunas_reader;
grant delete, insert, select on webhook_events to lunas_worker;
grant insert, select, update (sealed_secret, expires_at) on webhook_secrets to lunas_operator;
grant select (id, endpoint_id, created_at, expires_at) on webhook_secrets to lunas_reader;
grant select on webhook_secrets to lunas_worker;
