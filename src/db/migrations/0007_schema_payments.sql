-- Up Migration

set local role lunas_owner;

-- Payments ------------------------------------------------------------------------------------------------------------

-- The fee by the terms that were captured: the catalog rounds up, a rate of a class and an agreed price round down.
create function fee_of(amount bigint, terms jsonb) returns bigint language sql immutable
  return (amount * (terms ->> 'basisPoints')::bigint + case terms ->> 'source' when 'catalog' then 9999 else 0 end)
    / 10000 + (terms ->> 'flatRupiah')::bigint;

-- The VAT that a fee includes, by the terms that were captured; before VAT they have none.
create function vat_of(fee bigint, terms jsonb) returns bigint language sql immutable
  return coalesce(fee * (terms ->> 'vatBasisPoints')::bigint / (10000 + (terms ->> 'vatBasisPoints')::bigint), 0);

create table payments (
  id uuid primary key,
  reference_id text not null unique,
  merchant_id uuid not null references merchants,
  merchant_reference_id text,
  idempotency_key text,
  fingerprint text not null,
  payment_method text not null check (payment_method in ('qris')),
  provider text not null check (provider in ('gopay', 'shopeepay')),
  provider_account_id uuid not null references provider_accounts,
  currency text not null default 'IDR' check (currency = 'IDR'),
  amount_rupiah bigint not null check (amount_rupiah > 0),
  fee_rupiah bigint not null check (fee_rupiah >= 0),
  total_rupiah bigint not null check (total_rupiah between 1 and 10000000),
  net_rupiah bigint not null check (net_rupiah > 0),
  fee_payer text not null check (fee_payer in ('buyer', 'merchant')),
  fee_terms jsonb, -- `FeeTerms`: the rate, and where it comes from; null: it was not captured yet
  vat_rupiah bigint not null default 0, -- included in `fee_rupiah`
  policy_id uuid not null references policies,
  settlement_kind text not null check (settlement_kind in ('automatic', 'manual')),
  settlement_delay_seconds integer not null check (settlement_delay_seconds >= 0),
  status text not null check (status in ('created', 'pending', 'paid', 'expired', 'settled', 'failed', 'cancelled',
    'refund_processing', 'refund_failed', 'refunded')),
  version integer not null check (version > 0), -- counts the transitions
  expires_at timestamptz(3) not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  paid_at timestamptz(3), -- the provider's time of payment
  cancelled_at timestamptz(3),
  settlement_due_at timestamptz(3), -- from the first time that it was recorded as paid
  qris_payload text,
  provider_transaction_id text,
  failure_reason text,
  constraint payments_total_is_net_plus_fee check (total_rupiah = net_rupiah + fee_rupiah),
  constraint payments_total_matches_fee_payer
    check (total_rupiah = case fee_payer when 'buyer' then amount_rupiah + fee_rupiah else amount_rupiah end),
  constraint payments_fee_is_of_terms
    check (fee_terms is null or (fee_rupiah = fee_of(amount_rupiah, fee_terms)) is true),
  constraint payments_vat_is_of_terms
    check (vat_rupiah between 0 and fee_rupiah and vat_rupiah = vat_of(fee_rupiah, fee_terms))
) with (
  -- By default autovacuum waits until a fifth of a table has changed: a million rows of five million. In the tables
  -- that grow it waits for a fiftieth and 1,000 rows. Rows of this one, of `webhook_deliveries` and of
  -- `provider_notifications` are updated three or four times within a day.
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000,
  autovacuum_analyze_scale_factor = 0.02, autovacuum_analyze_threshold = 1000
);

-- The QR is the provider's answer to the creation: nobody replaces it by another one.
create trigger issued_once before update of qris_payload, provider_transaction_id on payments for each row
  when ((old.qris_payload is not null and new.qris_payload is distinct from old.qris_payload)
    or (old.provider_transaction_id is not null
      and new.provider_transaction_id is distinct from old.provider_transaction_id))
  execute function forbid_mutation();
-- Later rates and agreements, and another identity, change no payment.
create trigger fee_terms_are_final before update of fee_terms, vat_rupiah on payments for each row
  when ((new.fee_terms, new.vat_rupiah) is distinct from (old.fee_terms, old.vat_rupiah))
  execute function forbid_mutation();
-- Operators write a payment only for `lunas recover`, which restores one as its creation began. So none of them invents
-- money or a QR: what the provider returned, and what follows, only the workers write.
create function require_restorable() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if (new.status, new.version) <> ('created', 1) or num_nonnulls(new.paid_at, new.cancelled_at, new.settlement_due_at,
    new.qris_payload, new.provider_transaction_id) > 0 then
    raise exception 'an operator writes a payment only as created' using errcode = 'restrict_violation';
  end if;
  if exists (select from archived_payments where payment_id = new.id or reference_id = new.reference_id) then
    raise exception 'payment % is archived', new.reference_id using errcode = 'restrict_violation';
  end if;
  if exists (select from provider_accounts where id = new.provider_account_id and status = 'proposed') then
    raise exception 'provider account % is not approved', new.provider_account_id using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger restored_as_created before insert on payments for each row
  when (acts_as_operator()) execute function require_restorable();

-- Whichever process writes the payment, and whatever started its workflow.
create function require_own_account() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if exists (select from provider_accounts where id = new.provider_account_id and merchant_id <> new.merchant_id) then
    raise exception 'provider account % is of another merchant', new.provider_account_id using errcode = 'LN002';
  end if;
  return new;
end $$;
create trigger own_account before insert on payments for each row execute function require_own_account();

-- Lists are newest first, by (created_at, id). Each filter that few payments may match has an index in the same order,
-- so that a page is read off an index: it is neither sorted, nor searched for among all payments of a merchant.
create index payments_merchant_created_at_idx on payments (merchant_id, created_at desc, id desc);
create index payments_merchant_status_idx on payments (merchant_id, status, created_at desc, id desc);
create index payments_merchant_provider_idx on payments (merchant_id, provider, created_at desc, id desc);
-- Order numbers and their beginnings, in any case. `text_pattern_ops` finds beginnings in each collation.
create index payments_merchant_reference_id_idx
  on payments (merchant_id, lower(merchant_reference_id) text_pattern_ops, created_at desc, id desc)
  where merchant_reference_id is not null;
-- No id here, nor in those by status and by time below: only payments of one millisecond are sorted by id. The indexes
-- of the lists above have it, since a page of the API reads no row more than it shows.
create index payments_merchant_total_idx on payments (merchant_id, total_rupiah, created_at desc);

-- What recovery, reconciliation and the operators' lists read, among any number of rows that are final.
-- `(status || '')` is the status as an expression: a statement about one status is not planned with these indexes by
-- chance.

-- Payments that are open, by provider account: read by `lunas recover` and by reconciliation, page by page.
create index payments_open_idx on payments (provider_account_id, id)
  where (status || '') in ('created', 'pending', 'paid', 'refund_processing', 'refund_failed');
-- Payments that became final, by provider account and time. An index entry is written once for each payment.
create index payments_final_idx on payments (provider_account_id, updated_at)
  where (status || '') in ('expired', 'settled', 'failed', 'cancelled', 'refunded');
-- The operators' list, of all merchants, by status. The list of all statuses merges the heads of ten ranges. The time
-- is an expression, so that the planner does not search it for the list of one merchant, who may have nothing new in
-- years.
create index payments_status_idx on payments ((status || ''), (created_at at time zone 'utc') desc);
-- Payments by the time at which a timer should move them on: the overdue ones come first, however many there are.
create index payments_expiring_idx on payments (expires_at) where (status || '') = 'pending';
create index payments_settling_idx on payments (settlement_due_at)
  where (status || '') = 'paid' and settlement_kind = 'automatic';
-- What waits for an operator, among millions that do not.
create index payments_due_settlement_idx on payments (merchant_id, settlement_due_at)
  where status = 'paid' and settlement_kind = 'manual';

-- `customer` and `metadata` of a request, sealed. The API writes them before it starts the workflow, so that no
-- Temporal history has them: `lunas customers erase` deletes the row, and nothing is left. The fingerprint is part of
-- the key because two requests with one idempotency key may compete; the payment keeps the fingerprint of one of them.
create table payment_details (
  payment_id uuid not null,
  fingerprint text not null,
  sealed text not null,
  created_at timestamptz(3) not null default now(),
  primary key (payment_id, fingerprint)
);
-- The ids of the master keys in use, for the check at the start of every process.
create index payment_details_key_id_idx on payment_details (split_part(sealed, '.', 2));
create trigger only_resealed before update of sealed on payment_details for each row
  when (not is_resealed(old.sealed, new.sealed)) execute function forbid_mutation();
-- Retention reads the oldest rows of a table in the order of such an index. A BRIN index is useless after the first
-- deletion: new rows use the freed pages, and a page range never shrinks by itself.
create index payment_details_retention_idx on payment_details (created_at, payment_id, fingerprint);

create table payment_transitions (
  payment_id uuid not null references payments,
  version integer not null check (version > 0),
  name text not null,
  from_status text,
  to_status text not null,
  occurred_at timestamptz(3) not null,
  actor text not null,
  note text,
  -- When PostgreSQL recorded it, by its own clock. `occurred_at` is the business timestamp of the step and may be hours
  -- older, so it cannot show what is new.
  recorded_at timestamptz(3) not null default now(),
  -- Of the request to the API that the transition belongs to. Null: there was none.
  request_id text,
  traceparent text,
  -- The order in which PostgreSQL recorded it, among those of all payments. A clock may go back; this does not. Totals
  -- count by it (payment-totals.ts).
  number bigint generated always as identity,
  primary key (payment_id, version)
) with (
  -- Rows are only added, and deleted by retention or the archive. Vacuum freezes the new pages and marks them as all
  -- visible soon after they are written, while they are in memory, and not all together years later.
  autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 1000
);
create trigger restored_as_created before insert on payment_transitions for each row
  when ((new.version, new.to_status) <> (1, 'created') and acts_as_operator()) execute function forbid_mutation();
create index payment_transitions_recorded_at_idx on payment_transitions (recorded_at, payment_id);
create index payment_transitions_number_idx on payment_transitions (number);
-- For `lunas payments show REQUEST_ID`: only the transitions that a request caused itself.
create index payment_transitions_request_id_idx on payment_transitions (request_id)
  where request_id is not null and (version = 1 or actor <> 'workflow');

-- The refunds of a payment, one at a time. A refund that was rejected or cancelled is followed by one with a new key.
-- However often a refund is tried, its key is the same. Twenty are the limit for what merchants and operators request;
-- one that the provider has made counts on, because the row has to be written, whatever its number.
create table refunds (
  payment_id uuid not null references payments,
  number smallint not null check (number >= 1),
  refund_key text not null unique, -- what the provider knows it by
  amount_rupiah bigint not null check (amount_rupiah > 0),
  status text not null check (status in ('held', 'submitted', 'confirmed', 'rejected', 'cancelled')),
  requested_at timestamptz(3) not null,
  submit_at timestamptz(3) not null, -- until then it can be cancelled
  submitted_at timestamptz(3), -- committed before the provider is asked for the first time; from then on it cannot
  finished_at timestamptz(3),
  provider_reference text,
  failure_reason text,
  -- An operator recorded that the customer has the money back by another way than the provider's refund.
  is_manual boolean not null default false,
  -- `provider`: Lunas has only seen the refund at the provider, and never requests it.
  requested_by text not null default 'lunas' check (requested_by in ('lunas', 'provider')),
  primary key (payment_id, number),
  constraint refunds_finished_if_final
    check ((status in ('confirmed', 'rejected', 'cancelled')) = (finished_at is not null)),
  constraint refunds_submitted_at_if_submitted check ((status in ('held', 'cancelled')) = (submitted_at is null)),
  constraint refunds_failure_reason_if_rejected check (status <> 'rejected' or failure_reason is not null)
);
create unique index refunds_open_key on refunds (payment_id) where status in ('held', 'submitted');
-- Refunds that the provider has not confirmed. One that it rejected is found by the payment, which is `refund_failed`.
create index refunds_submitted_at_idx on refunds (submitted_at) where status = 'submitted';

-- Money that came for a payment after its end (`expired`, `cancelled`, `failed`). It is in suspense until the customer
-- has it back. If the provider cannot give it back, an operator does (`manual_review`, with an exception).
create table late_payments (
  payment_id uuid primary key references payments,
  merchant_id uuid not null references merchants,
  total_rupiah bigint not null check (total_rupiah > 0), -- what the provider has received
  provider_transaction_id text not null,
  paid_at timestamptz(3) not null,
  status text not null check (status in ('received', 'submitted', 'refunded', 'manual_review')),
  received_at timestamptz(3) not null,
  submitted_at timestamptz(3), -- committed before the provider is asked for the first time
  finished_at timestamptz(3),
  refund_key text not null unique,
  provider_reference text,
  failure_reason text,
  is_manual boolean not null default false, -- as for a refund
  constraint late_payments_finished_if_final
    check ((status in ('refunded', 'manual_review')) = (finished_at is not null)),
  constraint late_payments_failure_reason_if_manual_review
    check (status <> 'manual_review' or failure_reason is not null)
);
-- Late payments whose refund is not final, page by page.
create index late_payments_open_idx on late_payments (payment_id) where status in ('received', 'submitted');

-- Settlements and refunds that two operators decide -------------------------------------------------------------------

-- Each of them is rare: the steps of a workflow without an operator do not come here. What one operator settles alone
-- was counted. An approval is for one version of the payment. A refund has no version: it is booked as refunded once.
create function require_approved_payment_action() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  changed jsonb := to_jsonb(new);
  payment text := coalesce(changed ->> 'payment_id', changed ->> 'id');
begin
  if needs_two_operators()
    and not is_counted_act(tg_argv[0], payment, (changed ->> 'total_rupiah')::bigint,
      (changed ->> 'merchant_id')::uuid)
    and not exists (
      select from approvals join payments on reference_id = target
      where is_in_execution(approvals, tg_argv[0]) and payments.id::text = payment
        and coalesce(expected_version = (changed ->> 'version')::int - 1, not changed ? 'version')
    )
  then
    raise exception '% of payment % is not approved by two operators', tg_argv[0], payment using errcode = 'LN001';
  end if;
  return new;
end $$;
create trigger two_operators_settle before update of status on payments for each row
  when (new.status = 'settled' and new.settlement_kind = 'manual')
  execute function require_approved_payment_action('payment.settle');
create trigger two_operators_resolve before update of status on payments for each row
  when (old.status = 'refund_failed' and new.status = 'paid')
  execute function require_approved_payment_action('refund.resolve_as_paid');
create trigger two_operators before update of is_manual on refunds for each row
  when (new.is_manual and not old.is_manual)
  execute function require_approved_payment_action('refund.resolve_as_refunded');
-- A refund is requested for an open late payment, so none is open again. An operator only books it as refunded.
create trigger status_is_final before update of status on late_payments for each row
  when (new.status <> old.status and (old.status = 'refunded'
    or new.status <> 'refunded' and not acts_as_worker()))
  execute function forbid_mutation();

-- Rights --------------------------------------------------------------------------------------------------------------

-- The writers of src/db/transitions run in the worker. `lunas recover` writes lost rows again, and
-- `lunas archive` locks rows, which needs the right to change a column. An operator, at the API or the command line,
-- books the manual refund of a late payment.
grant select on payments, payment_transitions, refunds, late_payments to lunas_api, lunas_worker, lunas_operator;
grant insert on payments, payment_transitions to lunas_worker, lunas_operator;
grant update (updated_at) on payments to lunas_worker, lunas_operator;
grant update (status, version, failure_reason, qris_payload, provider_transaction_id, paid_at, cancelled_at,
  settlement_due_at) on payments to lunas_worker;
grant insert on refunds, late_payments to lunas_worker;
grant update (status, submitted_at, finished_at, provider_reference, failure_reason, is_manual)
  on refunds, late_payments to lunas_worker;
grant update (status, finished_at, provider_reference, is_manual) on late_payments to lunas_api, lunas_operator;
-- The API adds personal data and shows it to its merchant (`?expand=`), operators show and erase it. The
-- worker deletes what is older than its retention, and sends it to endpoints that add it.
grant select (payment_id, fingerprint, sealed), insert on payment_details to lunas_api;
grant select (payment_id, fingerprint, created_at), delete on payment_details to lunas_worker;
grant select, update (sealed), delete on payment_details to lunas_operator;
grant select on payments, payment_transitions, refunds, late_payments to lunas_dashboard;
-- The dashboard records each reading of the sealed column.
grant select (payment_id, fingerprint, sealed), insert on payment_details to lunas_dashboard;
revoke execute on function require_approved_payment_action from public;
grant select on payment_transitions, refunds, late_payments to lunas_reader;
grant select (id, reference_id, merchant_id, payment_method, provider, provider_account_id, currency, amount_rupiah,
  fee_rupiah, total_rupiah, net_rupiah, fee_payer, fee_terms, vat_rupiah, policy_id, settlement_kind,
  settlement_delay_seconds, status, version, expires_at, created_at, updated_at, paid_at, cancelled_at,
  settlement_due_at, provider_transaction_id, failure_reason) on payments to lunas_reader;

-- Down Migration

-- There is none: the ledger is append-only. Restore a backup.
