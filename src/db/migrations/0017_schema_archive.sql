-- Up Migration

set local role lunas_owner;

-- Retention and the archive -------------------------------------------------------------------------------------------

-- One row for each run of retention.
create table retention_runs (
  id bigint generated always as identity primary key,
  started_at timestamptz(3) not null unique,
  ended_at timestamptz(3) not null default now(),
  is_complete boolean not null,
  -- The number of deleted rows, by kind of data.
  deleted jsonb not null,
  -- Where the next run begins, by kind of data: before it are only deleted rows, whose index entries may still exist.
  positions jsonb not null
);
create index retention_runs_complete_idx on retention_runs (id) where is_complete;

-- A file of `lunas archive write`: payments that were created on one day, in UTC. The file is outside the database. Its
-- name has the day and the id. It removes nothing: only `lunas archive remove` does, after it has compared a copy.
create table archive_files (
  id bigint generated always as identity primary key,
  day date not null,
  -- Null: the run was stopped before the file was complete. Nothing can be removed by it.
  completed_at timestamptz(3),
  sha256 bytea check (octet_length(sha256) = 32),
  -- Where the file was written. A copy that is compared with it comes from elsewhere.
  path text,
  -- Null: no payment of it is removed.
  removal_began_at timestamptz(3),
  constraint archive_files_recorded_if_completed check (
    (completed_at is null) = (sha256 is null) and (completed_at is null) = (path is null)
    and (removal_began_at is null or completed_at is not null)
  )
);
create index archive_files_day_idx on archive_files (day);

-- Payments of a file, in its order, that one transaction removes here.
create table archive_batches (
  id bigint generated always as identity primary key,
  file_id bigint not null references archive_files,
  number integer not null check (number > 0),
  payment_count integer not null check (payment_count > 0),
  -- When the first and the last of them were created.
  created_from timestamptz not null,
  created_to timestamptz not null check (created_to >= created_from),
  -- Of the lines. Only payments whose lines have it can be removed by the batch.
  sha256 bytea not null check (octet_length(sha256) = 32),
  removed_at timestamptz(3),
  unique (file_id, number)
);

-- What stays of a payment for good: its idempotency key must never create a second payment. The key determines the id.
create table archived_payments (
  payment_id uuid primary key,
  reference_id text not null unique,
  merchant_id uuid not null references merchants,
  batch_id bigint not null references archive_batches,
  received_money boolean not null -- whether the provider received money for it
);

-- Money that came for an archived payment that was never paid. It is in suspense until an operator gives it back.
create table archived_late_payments (
  payment_id uuid primary key references archived_payments,
  merchant_id uuid not null references merchants,
  total_rupiah bigint not null check (total_rupiah > 0),
  provider_transaction_id text not null,
  paid_at timestamptz(3) not null,
  received_at timestamptz(3) not null,
  refunded_at timestamptz(3)
);

-- The sums of the entries that were removed, by the day on which their payments were created. All entries of the
-- ledger are those in `ledger_entries` and these.
create table ledger_closings (
  day date not null,
  merchant_id uuid not null references merchants,
  account text not null,
  debit_rupiah bigint not null check (debit_rupiah >= 0),
  credit_rupiah bigint not null check (credit_rupiah >= 0),
  primary key (day, merchant_id, account)
);

-- What the archive may take: final payments that nothing will change any more, and whose ledger was verified and
-- invoiced.
-- Temporal has no workflow of a payment that ended a week ago, and the event stream has only newer events.
create view archivable_payments with (security_invoker = true) as
select id, reference_id, merchant_id, created_at from payments
where (status || '') in ('expired', 'settled', 'failed', 'cancelled', 'refunded')
  and updated_at < now() - interval '7 days'
  and not exists (
    select from late_payments late where late.payment_id = payments.id and late.status in ('received', 'submitted')
  )
  and not exists (
    select from webhook_deliveries delivery
    where delivery.payment_id = payments.id and (delivery.status = 'pending' or delivery.leased_until > now())
  )
  and not exists (
    select from provider_notifications notification
    where notification.reference_id = payments.reference_id and notification.closed_at is null
  )
  and not exists (
    select from exceptions where exceptions.payment_id = payments.id and exceptions.resolved_at is null
  )
  and not exists (
    select from payment_transitions transition
    where transition.payment_id = payments.id and transition.recorded_at >= (
      select recorded_until from ledger_verifications order by id desc limit 1
    )
  )
  and not exists (
    select from ledger_postings posting
    where posting.payment_id = payments.id and posting.id > least(
      (select posting_id from ledger_verifications order by id desc limit 1),
      (select max(up_to_posting_id) from fee_periods where issued_at is not null)
    )
  )
  and exists (select from ledger_verifications);

-- A payment with all its rows, a line of an archive file (docs/archive.md). What others wrote about a customer is not
-- in it: an erasure could not reach it there.
create function payment_document(payment payments) returns jsonb
language sql stable
begin atomic
  select jsonb_build_object(
    'format', 1,
    'payment', to_jsonb(payment),
    'transitions', (
      select coalesce(jsonb_agg(to_jsonb(payment_transitions) - 'number' order by version), '[]')
      from payment_transitions where payment_transitions.payment_id = payment.id
    ),
    'refunds', (
      select coalesce(jsonb_agg(to_jsonb(refunds) order by number), '[]')
      from refunds where refunds.payment_id = payment.id
    ),
    'late_payments', (
      select coalesce(jsonb_agg(to_jsonb(late_payments) order by received_at), '[]')
      from late_payments where late_payments.payment_id = payment.id
    ),
    'postings', (
      select coalesce(jsonb_agg(to_jsonb(posting) || jsonb_build_object('entries', (
        select coalesce(jsonb_agg(to_jsonb(entry) order by line), '[]')
        from ledger_entries entry where entry.posting_id = posting.id
      )) order by id), '[]') from ledger_postings posting where posting.payment_id = payment.id
    ),
    'webhook_events', (
      select coalesce(jsonb_agg(to_jsonb(webhook_events) order by payment_version), '[]')
      from webhook_events where webhook_events.payment_id = payment.id
    ),
    'late_payment_events', (
      select coalesce(jsonb_agg(to_jsonb(late_payment_events) order by late_payment_version), '[]')
      from late_payment_events where late_payment_events.payment_id = payment.id
    ),
    'webhook_deliveries', (
      select coalesce(jsonb_agg(to_jsonb(delivery) || jsonb_build_object('attempts', (
        select coalesce(jsonb_agg(to_jsonb(attempt) - 'response_excerpt' order by number), '[]')
        from webhook_attempts attempt where attempt.delivery_id = delivery.id
      )) order by created_at, id), '[]') from webhook_deliveries delivery where delivery.payment_id = payment.id
    ),
    'exceptions', (
      select coalesce(jsonb_agg(to_jsonb(exceptions) order by opened_at), '[]')
      from exceptions where exceptions.payment_id = payment.id
    )
  );
end;

-- Removes the payments of a batch, with all their rows, and carries their sums over. The caller has locked the payments
-- (`for update`). It is the only way to delete from the ledger. It writes the SHA-256 of the removed lines into the
-- audit log, whoever calls it: so a file without them is found. It raises `restrict_violation` if a payment has changed
-- since the batch was written, or cannot be archived any more.
create function archive_payments(ids uuid[], batch bigint) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  archived integer;
  removed bytea;
  recorded bigint;
begin
  select sha256(convert_to(string_agg(payment_document(payments)::text || E'\n', '' order by created_at, id), 'utf8'))
    into removed from payments where id = any (ids);
  update archive_batches set removed_at = now()
  where id = batch and removed_at is null and sha256 = removed and payment_count = cardinality(ids);
  if not found then
    raise exception 'no batch % with these payments is to be removed', batch using errcode = 'restrict_violation';
  end if;
  update archive_files set removal_began_at = now()
  where id = (select file_id from archive_batches where id = batch) and removal_began_at is null;
  insert into archived_payments (payment_id, reference_id, merchant_id, batch_id, received_money)
  select id, reference_id, merchant_id, batch,
    payments.paid_at is not null or exists (select from late_payments where late_payments.payment_id = id)
  from archivable_payments join payments using (id, reference_id, merchant_id) where id = any (ids);
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
  -- A redelivery may have committed after the first statement. It stays, and so does its payment.
  delete from webhook_deliveries where payment_id = any (ids) and status <> 'pending' and leased_until <= now();
  if exists (select from webhook_deliveries where payment_id = any (ids)) then
    raise exception 'a webhook of these payments is delivered again' using errcode = 'restrict_violation';
  end if;
  delete from webhook_events where payment_id = any (ids);
  delete from payment_details where payment_id = any (ids);
  delete from refunds where payment_id = any (ids);
  delete from late_payment_events where payment_id = any (ids);
  delete from late_payments where payment_id = any (ids);
  delete from ledger_entries entry using ledger_postings posting
  where entry.posting_id = posting.id and posting.payment_id = any (ids);
  delete from ledger_postings where payment_id = any (ids);
  delete from payment_transitions where payment_id = any (ids);
  -- An exception stays, by its reference.
  update exceptions set payment_id = null where payment_id = any (ids);
  delete from payments where id = any (ids);

  insert into operator_actions (actor, via, action, target, detail)
  values ('operator', 'database', 'archive.remove', batch::text,
    json_build_object('payments', archived, 'sha256', encode(removed, 'hex'))::text)
  returning id into recorded;
  insert into operator_action_outcomes (action_id, outcome) values (recorded, 'succeeded');
end $$;

-- Rows of archived payments can be deleted; all others cannot.
create function forbid_deletion_unless_archived() returns trigger
language plpgsql set search_path = public, pg_temp as $$
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
end $$;

create trigger append_only_delete before delete on payment_transitions
  for each row execute function forbid_deletion_unless_archived();
create trigger append_only_delete before delete on late_payment_events
  for each row execute function forbid_deletion_unless_archived();
create trigger append_only_delete before delete on ledger_postings
  for each row execute function forbid_deletion_unless_archived();
create trigger append_only_delete before delete on ledger_entries
  for each row execute function forbid_deletion_unless_archived();

-- Refunds of late payments that two operators decide ------------------------------------------------------------------

-- Whether an operator may record that the customer has the money of a late payment, also of an archived payment. What
-- one operator records alone was counted.
create function is_approved_manual_refund(payment uuid) returns boolean
language sql stable security definer set search_path = public, pg_temp
begin atomic
  select not needs_two_operators() or exists (
    select from (
      select reference_id, late.total_rupiah, late.merchant_id
      from late_payments late join payments on payments.id = late.payment_id
      where late.payment_id = payment
      union all
      select reference_id, late.total_rupiah, late.merchant_id
      from archived_late_payments late join archived_payments using (payment_id)
      where payment_id = payment
    ) late
    join exceptions on exceptions.kind = 'late_payment' and exceptions.reference_id = late.reference_id
      and exceptions.amount_rupiah = late.total_rupiah
    where is_counted_act('exception.resolve_as_refunded', exceptions.id::text, late.total_rupiah, late.merchant_id)
      or exists (
        select from approvals
        where parameters ->> 'exception' = exceptions.id::text
          and is_in_execution(approvals, 'exception.resolve_as_refunded')
      )
  );
end;

create function require_approved_manual_refund() returns trigger
language plpgsql set search_path = public, pg_temp as $$
begin
  if not is_approved_manual_refund(new.payment_id) then
    raise exception 'the refund of late payment % is not approved by two operators', new.payment_id
      using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
-- A worker records only what the provider has refunded.
create trigger two_operators before update of status on late_payments for each row
  when (new.status = 'refunded' and old.status <> 'refunded'
    and (new.is_manual or not acts_as_worker()))
  execute function require_approved_manual_refund();
create trigger two_operators before update of refunded_at on archived_late_payments for each row
  execute function require_approved_manual_refund();
create policy manual_refunds on ledger_postings for insert to lunas_api, lunas_operator
  with check (late_payment_step = 'refund_manually' and is_approved_manual_refund(payment_id));

-- Rights --------------------------------------------------------------------------------------------------------------

grant select on archived_payments, archive_files, archive_batches to lunas_dashboard;
revoke execute on function is_approved_manual_refund from public;
grant execute on function is_approved_manual_refund to lunas_api, lunas_operator;
grant select, insert on retention_runs to lunas_worker;
grant select on retention_runs to lunas_operator;
grant select, insert, update (completed_at, sha256, path) on archive_files to lunas_operator;
grant select, insert on archive_batches to lunas_operator;
grant select on archivable_payments to lunas_operator;
revoke execute on function archive_payments from public;
grant execute on function archive_payments to lunas_operator;
grant select on archived_payments to lunas_api, lunas_worker, lunas_operator;
grant select on archive_files, archive_batches to lunas_api, lunas_worker;
grant select, insert on archived_late_payments to lunas_worker;
grant select, update (refunded_at) on archived_late_payments to lunas_api, lunas_operator;
grant select on ledger_closings to lunas_operator;
grant select
  on ledger_closings, retention_runs, archive_files, archive_batches, archived_payments, archived_late_payments
  to lunas_reader;

-- Down Migration

-- There is none: the ledger is append-only. Restore a backup.
