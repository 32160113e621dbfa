-- Up Migration

set local role lunas_owner;

-- The ledger ----------------------------------------------------------------------------------------------------------

-- A posting books a transition of a payment, a step of a late payment, a transition of a payout, or an adjustment of a
-- balance, once.
create table ledger_postings (
  id bigint generated always as identity primary key,
  payment_id uuid,
  payment_version integer,
  payout_id uuid,
  payout_version integer,
  merchant_id uuid not null references merchants,
  occurred_at timestamptz(3) not null,
  late_payment_step text check (late_payment_step in ('receive', 'refund', 'refund_manually')),
  adjustment_id uuid,
  unique (payment_id, payment_version),
  foreign key (payment_id, payment_version) references payment_transitions,
  constraint ledger_postings_has_one_source check (
    num_nonnulls(payment_version, late_payment_step, payout_version, adjustment_id) = 1
    and num_nonnulls(payment_id, payout_id, adjustment_id) = 1 and (payout_id is null) = (payout_version is null)
  )
) with (
  autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 1000
);
-- The posting of a payment's transition costs nothing in these.
create unique index ledger_postings_late_payment_key on ledger_postings (payment_id, late_payment_step)
  where late_payment_step is not null;
create unique index ledger_postings_payout_key on ledger_postings (payout_id, payout_version)
  where payout_id is not null;
create unique index ledger_postings_adjustment_key on ledger_postings (adjustment_id) where adjustment_id is not null;
-- The postings of a merchant's invoice.
create index ledger_postings_merchant_idx on ledger_postings (merchant_id, id);

-- `payout_in_transit`: reserved for payouts that the bank has not executed.
-- `cash`: a refund that an operator made by another way than the provider's, such as a bank transfer, is paid from our
-- own bank account.
-- `vat_payable`: owed to the tax office.
create table ledger_entries (
  posting_id bigint not null references ledger_postings,
  line smallint not null,
  account text not null check (account in ('provider_receivable', 'merchant_pending', 'merchant_available',
    'fee_revenue', 'suspense', 'cash', 'payout_in_transit', 'vat_payable')),
  side text not null check (side in ('debit', 'credit')),
  amount_rupiah bigint not null check (amount_rupiah > 0),
  primary key (posting_id, line)
) with (
  autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 1000
);

-- Both run at the end of the statement that wrote the posting, when its entries are there too. These triggers and the
-- functions of the owner use the tables of this schema, also if their caller has temporary tables of the same names:
-- so each of them has a search_path.
create function require_entries() returns trigger language plpgsql set search_path = public, pg_temp as $$
declare
  posting bigint;
begin
  select id into posting from written where not exists (select from ledger_entries where posting_id = written.id);
  if found then
    raise exception 'ledger posting % has no entries', posting using errcode = 'check_violation';
  end if;
  return null;
end $$;
create trigger has_entries after insert on ledger_postings referencing new table as written
  for each statement execute function require_entries();

-- Entries belong to the posting of their own transaction, whatever role writes them: one that has committed gets no
-- more. `xmin` is the transaction that wrote a row, and no statement sets it. A writer uses no savepoint, which would
-- have a number of its own. One trigger for each statement takes as long as one without this check for each row did.
create function require_balanced_posting() returns trigger language plpgsql set search_path = public, pg_temp as $$
declare
  wrong record;
begin
  for wrong in
    select written.posting_id as id,
      (select sum(case side when 'debit' then amount_rupiah else -amount_rupiah end)
        from ledger_entries where posting_id = written.posting_id) as balance,
      (select xmin = pg_current_xact_id()::xid from ledger_postings where id = written.posting_id) as is_own
    from (select distinct posting_id from written) written
  loop
    if wrong.is_own is not true then
      raise exception 'ledger posting % is not of this transaction: it gets no more entries', wrong.id
        using errcode = 'restrict_violation';
    elsif wrong.balance <> 0 then
      raise exception 'ledger posting % is off by % rupiah', wrong.id, wrong.balance using errcode = 'check_violation';
    end if;
  end loop;
  return null;
end $$;
create trigger balanced after insert on ledger_entries referencing new table as written
  for each statement execute function require_balanced_posting();

-- By database role: the API and operators book the manual refund of a late payment (`manual_refunds`), and only the
-- workers transitions, each its own.
alter table ledger_postings enable row level security;
create policy every_posting_readable on ledger_postings for select
  to lunas_api, lunas_dashboard, lunas_worker, lunas_payouts, lunas_verifier, lunas_operator, lunas_reader using (true);
create policy postings_of_payments on ledger_postings for insert to lunas_worker
  with check (payout_id is null and adjustment_id is null);
create policy postings_of_payouts on ledger_postings for insert to lunas_payouts with check (payout_id is not null);

-- Verifications of the ledger without breaks. The next incremental one starts where the newest of them ended.
create table ledger_verifications (
  id bigint generated always as identity primary key,
  verified_at timestamptz(3) not null default now(),
  is_full boolean not null, -- all payments, not only those that changed
  recorded_until timestamptz(3) not null, -- every transition recorded before is verified
  posting_id bigint not null, -- every posting up to this id is verified, and counted in the balances
  balances jsonb not null -- [{ account, debitRupiah, creditRupiah }]
);

-- The result of each verification of the ledger, also of one that found breaks.
create table ledger_verification_results (
  id bigint generated always as identity primary key,
  verified_at timestamptz(3) not null default now(),
  is_full boolean not null,
  break_count bigint not null check (break_count >= 0)
);
create index ledger_verification_results_full_idx on ledger_verification_results (id) where is_full;

-- Rights --------------------------------------------------------------------------------------------------------------

grant select on ledger_postings, ledger_entries to lunas_api, lunas_worker, lunas_operator;
grant insert on ledger_postings, ledger_entries to lunas_api, lunas_worker, lunas_payouts, lunas_operator;
grant select, insert on ledger_verifications, ledger_verification_results to lunas_verifier, lunas_operator;
grant select on ledger_verification_results to lunas_worker;
grant select on ledger_postings, ledger_entries to lunas_dashboard;
grant select on ledger_postings, ledger_entries to lunas_payouts, lunas_verifier;
grant select on ledger_postings, ledger_entries, ledger_verifications, ledger_verification_results to lunas_reader;

-- Down Migration

-- There is none: the ledger is append-only. Restore a backup.
