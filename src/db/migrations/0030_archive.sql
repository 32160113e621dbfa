-- Up Migration

set local role lunas_owner;

-- A file of `lunas archive`: payments that were created on one day, in UTC. The file is outside the database. Its name
-- has the day and the id.
create table archive_files (
  id bigint generated always as identity primary key,
  day date not null,
  -- Null: a run was stopped in the middle of the file. The next run continues it.
  completed_at timestamptz(3),
  sha256 bytea check (octet_length(sha256) = 32),
  constraint archive_files_checksum_if_completed check ((completed_at is null) = (sha256 is null))
);
-- The files that are not complete; at most one for each day.
create unique index archive_files_incomplete_key on archive_files (day) where completed_at is null;

-- Payments that were written to the file and removed here by one transaction. `end_byte` is the size of the file then.
create table archive_batches (
  id bigint generated always as identity primary key,
  file_id bigint not null references archive_files,
  end_byte bigint not null check (end_byte > 0),
  payment_count integer not null check (payment_count > 0),
  archived_at timestamptz(3) not null default now()
);
create index archive_batches_file_id_idx on archive_batches (file_id, end_byte);

-- What stays of a payment for good: its idempotency key must never create a second payment. The key determines the id.
create table archived_payments (
  payment_id uuid primary key,
  reference_id text not null unique,
  merchant_id uuid not null references merchants,
  batch_id bigint not null references archive_batches
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

-- PostgreSQL looks for the exceptions of each payment that is removed.
create index if not exists exceptions_payment_id_idx on exceptions (payment_id) where payment_id is not null;

-- What the archive may take: final payments that nothing will change any more, and whose ledger was verified.
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
    where posting.payment_id = payments.id and posting.id > (
      select posting_id from ledger_verifications order by id desc limit 1
    )
  )
  and exists (select from ledger_verifications);

-- Removes payments that a file has now, with all their rows, and carries their sums over. The caller has locked the
-- payments (`for update`) and written the file in this transaction. It is the only way to delete from the ledger.
create function archive_payments(ids uuid[], batch bigint) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
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
end $$;
revoke execute on function archive_payments from public;

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

drop trigger append_only on payment_transitions;
create trigger append_only before update on payment_transitions for each row execute function forbid_mutation();
create trigger append_only_delete before delete on payment_transitions
  for each row execute function forbid_deletion_unless_archived();
drop trigger append_only on ledger_postings;
create trigger append_only before update on ledger_postings for each row execute function forbid_mutation();
create trigger append_only_delete before delete on ledger_postings
  for each row execute function forbid_deletion_unless_archived();
drop trigger append_only on ledger_entries;
create trigger append_only before update on ledger_entries for each row execute function forbid_mutation();
create trigger append_only_delete before delete on ledger_entries
  for each row execute function forbid_deletion_unless_archived();

create trigger append_only before update or delete on archived_payments
  for each row execute function forbid_mutation();
create trigger append_only_truncate before truncate on archived_payments
  for each statement execute function forbid_mutation();
create trigger append_only before update or delete on archive_batches for each row execute function forbid_mutation();
create trigger append_only_truncate before truncate on archive_batches
  for each statement execute function forbid_mutation();
create trigger append_only before delete on ledger_closings for each row execute function forbid_mutation();
create trigger append_only_truncate before truncate on ledger_closings
  for each statement execute function forbid_mutation();

grant select, insert, update (completed_at, sha256) on archive_files to lunas_operator;
grant select, insert on archive_batches to lunas_operator;
grant select on archivable_payments to lunas_operator;
grant execute on function archive_payments to lunas_operator;
grant select on archived_payments to lunas_api, lunas_worker, lunas_operator, lunas_reader;
grant select on archive_files, archive_batches to lunas_api, lunas_worker, lunas_reader;
grant select on ledger_closings to lunas_operator, lunas_reader;

-- Down Migration

-- There is none: see 0001_payments.sql.
