-- Up Migration

set local role lunas_owner;

-- The company ---------------------------------------------------------------------------------------------------------

-- Who issues the invoices. The newest version counts; without one nothing is issued.
create table company_details (
  version integer primary key check (version > 0),
  legal_name text not null check (char_length(legal_name) between 1 and 100),
  address text not null check (char_length(address) between 1 and 200),
  tax_number text not null check (tax_number ~ '^\d{15,16}$'),
  created_at timestamptz(3) not null default now()
);

create function require_approved_company() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if needs_two_operators() and not exists (
    select from approvals
    where is_in_execution(approvals, 'company.set') and parameters @> jsonb_build_object('version', new.version,
      'legalName', new.legal_name, 'address', new.address, 'taxNumber', new.tax_number)
  ) then
    raise exception 'no two operators have approved these details of the company' using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger two_operators before insert on company_details
  for each row execute function require_approved_company();

-- Fee postings --------------------------------------------------------------------------------------------------------

-- What invoices cover: each posting that books a fee, also one of zero, which has no line in the ledger.
create view fee_postings with (security_invoker = true) as
select posting.id as posting_id, posting.merchant_id, posting.occurred_at, 'payment' as kind, payment.reference_id,
  payment.merchant_reference_id, payment.fee_terms ->> 'class' as class,
  (payment.fee_terms ->> 'basisPoints')::integer as basis_points,
  (payment.fee_terms ->> 'flatRupiah')::bigint as flat_rupiah,
  payment.amount_rupiah, payment.fee_rupiah, payment.vat_rupiah
from ledger_postings posting
  join payment_transitions transition
    on transition.payment_id = posting.payment_id and transition.version = posting.payment_version
  join payments payment on payment.id = posting.payment_id
where transition.name = 'pay'
union all
select posting.id, posting.merchant_id, posting.occurred_at, change.kind, payout.reference_id, null, null, 0,
  payout.fee_rupiah, change.sign * payout.amount_rupiah, change.sign * payout.fee_rupiah, 0
from ledger_postings posting
  join payout_transitions transition
    on transition.payout_id = posting.payout_id and transition.version = posting.payout_version
  join payouts payout on payout.id = posting.payout_id
  join (values ('requested', null, 'payout', 1), ('cancelled', null, 'payout_returned_fee', -1),
    ('failed', null, 'payout_returned_fee', -1), ('completed', 'failed', 'payout_conflict', 1)
  ) as change (to_status, from_status, kind, sign)
    on change.to_status = transition.to_status
      and (change.from_status is null or change.from_status = transition.from_status);

-- Invoices ------------------------------------------------------------------------------------------------------------

-- The content of an invoice, as `sha256` covers it: all columns but the parties, which can be sealed again.
create function fee_invoice_sha256(id uuid, number text, sequence integer, merchant_id uuid, kind text, month date,
  part integer, corrects text, from_posting_id bigint, up_to_posting_id bigint, fee_rupiah bigint, vat_rupiah bigint,
  lines jsonb, issued_at timestamptz) returns bytea language sql immutable
  return sha256(convert_to(jsonb_build_array(id, number, sequence, merchant_id, kind, month, part, corrects,
    from_posting_id, up_to_posting_id, fee_rupiah, vat_rupiah, lines, iso_utc(issued_at))::text, 'utf8'));

-- A credit note has the month and the part of the invoice that it corrects, and its own posting as its range.
create table fee_invoices (
  id uuid primary key,
  number text not null unique,
  sequence integer not null unique check (sequence > 0),
  merchant_id uuid not null references merchants,
  kind text not null check (kind in ('invoice', 'credit_note')),
  month date not null,
  part integer not null,
  corrects text references fee_invoices (number),
  from_posting_id bigint not null, -- exclusive
  up_to_posting_id bigint not null,
  fee_rupiah bigint not null, -- VAT included
  vat_rupiah bigint not null,
  lines jsonb not null, -- [{kind, class, basisPoints, flatRupiah, count, turnoverRupiah, feeRupiah, vatRupiah}]
  sealed_parties text not null,
  issued_at timestamptz(3) not null default now(),
  sha256 bytea not null generated always as (fee_invoice_sha256(id, number, sequence, merchant_id, kind, month, part,
    corrects, from_posting_id, up_to_posting_id, fee_rupiah, vat_rupiah, lines, issued_at)) stored,
  foreign key (month, part) references fee_periods,
  constraint fee_invoices_number_of_sequence check (number ~
    (case kind when 'invoice' then '^FI' else '^CN' end || '-\d{4}-0*' || sequence || '$')),
  constraint fee_invoices_range check (from_posting_id < up_to_posting_id),
  constraint fee_invoices_corrects_if_credit_note check ((kind = 'credit_note') = (corrects is not null)),
  constraint fee_invoices_credit_note_is_below_zero
    check (kind = 'invoice' or (fee_rupiah < 0 and vat_rupiah between fee_rupiah and 0))
);
create unique index fee_invoices_period_key on fee_invoices (merchant_id, month, part) where kind = 'invoice';
create index fee_invoices_merchant_idx on fee_invoices (merchant_id, sequence);
create index fee_invoices_month_idx on fee_invoices (month, sequence);
create index fee_invoices_corrects_idx on fee_invoices (corrects) where corrects is not null;

create trigger invoice_is_final before update on fee_invoices for each row
  when (old.sha256 <> fee_invoice_sha256(new.id, new.number, new.sequence, new.merchant_id, new.kind, new.month,
      new.part, new.corrects, new.from_posting_id, new.up_to_posting_id, new.fee_rupiah, new.vat_rupiah, new.lines,
      new.issued_at)
    or not is_resealed(old.sealed_parties, new.sealed_parties))
  execute function forbid_mutation();

-- The events of invoices and credit notes. An endpoint receives them only if it lists them. An invoice has one.
create table invoice_events (
  invoice_id uuid not null references fee_invoices,
  invoice_version integer not null check (invoice_version = 1),
  event text not null,
  body text not null, -- the very bytes that are signed and sent
  occurred_at timestamptz(3) not null,
  recorded_xid xid8 not null default pg_current_xact_id(), -- as that of `webhook_events`
  primary key (invoice_id, invoice_version)
);
create index invoice_events_recorded_xid_idx on invoice_events (recorded_xid);
alter table webhook_deliveries add foreign key (invoice_id, invoice_version) references invoice_events;

-- The statement that issues invoices, or a credit note, writes their events and deliveries by this trigger.
create function record_invoice_events() returns trigger
language plpgsql set search_path = public, pg_temp as $$
begin
  insert into invoice_events (invoice_id, invoice_version, event, body, occurred_at)
  select issued.id, 1, 'invoice.issued', row_to_json(body)::text, issued.issued_at
  from issued join merchants merchant on merchant.id = issued.merchant_id cross join lateral (
    select 'invoice.issued' as event, issued.number, issued.kind,
      (select environment from installation) as environment, to_char(issued.month, 'YYYY-MM') as month,
      issued.fee_rupiah as fee_amount, issued.vat_rupiah as vat_amount, 'IDR' as currency, issued.corrects,
      '/m/' || merchant.code || '/invoices/' || issued.number as dashboard_path, iso_utc(issued.issued_at) as issued_at
  ) body;
  insert into webhook_deliveries
    (id, invoice_id, invoice_version, endpoint_id, merchant_id, event, status, dead_reason, finished_at)
  select gen_random_uuid(), issued.id, 1, delivery.*
  from issued cross join deliveries_of_event(issued.merchant_id, 'invoice.issued') delivery;
  return null;
end $$;
create trigger events_of_issue after insert on fee_invoices referencing new table as issued
  for each statement execute function record_invoice_events();

-- Numbers have no gap, whoever writes one. The year is that in WIB; the sequence goes on.
create function require_next_sequence() returns trigger
language plpgsql set search_path = public, pg_temp as $$
begin
  if new.sequence <> (select coalesce(max(sequence), 0) + 1 from fee_invoices) then
    raise exception 'invoice % is not the next one', new.number using errcode = 'restrict_violation';
  end if;
  return new;
end $$;
create trigger next_sequence before insert on fee_invoices for each row execute function require_next_sequence();

create function fee_invoice_number(kind text, sequence bigint) returns text language sql stable
  return case kind when 'invoice' then 'FI-' else 'CN-' end || extract(year from booking_day(now())) || '-'
    || lpad(sequence::text, greatest(6, length(sequence::text)), '0');

-- The fee postings of a period that is not issued, as far as they are counted: per merchant, kind and rate.
create table fee_period_lines (
  month date not null,
  part integer not null,
  merchant_id uuid not null,
  kind text not null,
  class text,
  basis_points integer,
  flat_rupiah bigint,
  postings bigint not null,
  turnover_rupiah bigint not null,
  fee_rupiah bigint not null,
  vat_rupiah bigint not null,
  constraint fee_period_lines_key
    unique nulls not distinct (month, part, merchant_id, kind, class, basis_points, flat_rupiah),
  foreign key (month, part) references fee_periods
);

-- The posting after which a period begins: the last one of the period before.
create function fee_period_start(wanted_month date, wanted_part integer) returns bigint language sql stable
  return (
    select up_to_posting_id from fee_periods
    where (month, part) < (wanted_month, wanted_part) order by month desc, part desc limit 1
  );

-- Adds the next postings of a period to its lines, so that no statement reads a whole month. The lock orders two
-- callers. Returns whether all postings are counted.
create function count_fee_lines(wanted_month date, wanted_part integer, max_postings integer) returns boolean
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  period fee_periods;
  after_posting bigint;
  last_posting bigint;
begin
  if max_postings < 1 then -- it would count postings again
    raise exception 'at least one posting is counted' using errcode = 'invalid_parameter_value';
  end if;
  select * into strict period from fee_periods
  where month = wanted_month and part = wanted_part for no key update;
  if period.issued_at is not null then return true; end if;
  after_posting := coalesce(period.counted_posting_id, fee_period_start(wanted_month, wanted_part));
  last_posting := least(after_posting + max_postings, period.up_to_posting_id);
  insert into fee_period_lines as line (month, part, merchant_id, kind, class, basis_points, flat_rupiah, postings,
    turnover_rupiah, fee_rupiah, vat_rupiah)
  select wanted_month, wanted_part, posting.merchant_id, posting.kind, posting.class, posting.basis_points,
    posting.flat_rupiah, count(*), sum(amount_rupiah), sum(posting.fee_rupiah), sum(posting.vat_rupiah)
  from fee_postings posting
  where posting_id > after_posting and posting_id <= last_posting
  group by posting.merchant_id, posting.kind, posting.class, posting.basis_points, posting.flat_rupiah
  on conflict on constraint fee_period_lines_key do update set postings = line.postings + excluded.postings,
    turnover_rupiah = line.turnover_rupiah + excluded.turnover_rupiah,
    fee_rupiah = line.fee_rupiah + excluded.fee_rupiah, vat_rupiah = line.vat_rupiah + excluded.vat_rupiah;
  update fee_periods set counted_posting_id = last_posting where month = wanted_month and part = wanted_part;
  return last_posting = period.up_to_posting_id;
end $$;

-- Issues the invoices of a period whose postings are counted, once, all or none, and returns them. The lock makes one
-- issue wait for another; the statements after it see what that one has written. `drafts` has {merchantId, id,
-- sealedParties} of each merchant; one that is missing violates a constraint.
create function issue_fee_invoices(wanted_month date, wanted_part integer, drafts jsonb) returns setof fee_invoices
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  period fee_periods;
  after_posting constant bigint := fee_period_start(wanted_month, wanted_part);
  last_sequence integer;
begin
  lock table fee_invoices in share row exclusive mode;
  select * into period from fee_periods where month = wanted_month and part = wanted_part;
  if not found then
    raise exception 'month %, part % is not cut', to_char(wanted_month, 'YYYY-MM'), wanted_part
      using errcode = 'LN003';
  end if;
  if period.issued_at is not null then return; end if;
  if not exists (select from company_details) then
    raise exception 'the company has no details' using errcode = 'LN003';
  end if;
  if exists (select from fee_periods where (month, part) < (wanted_month, wanted_part) and issued_at is null) then
    raise exception 'an earlier period is not issued' using errcode = 'LN003';
  end if;
  if period.counted_posting_id is distinct from period.up_to_posting_id then
    raise exception 'its postings are not counted' using errcode = 'LN003';
  end if;
  select coalesce(max(sequence), 0) into last_sequence from fee_invoices;
  return query
  insert into fee_invoices (id, number, sequence, merchant_id, kind, month, part, from_posting_id, up_to_posting_id,
    fee_rupiah, vat_rupiah, lines, sealed_parties)
  select draft.id, fee_invoice_number('invoice', last_sequence + place), last_sequence + place, total.merchant_id,
    'invoice', wanted_month, wanted_part, after_posting, period.up_to_posting_id, fee, vat, invoice_lines,
    draft."sealedParties"
  from (
    select line.merchant_id, sum(line.fee_rupiah)::bigint as fee, sum(line.vat_rupiah)::bigint as vat,
      jsonb_agg(jsonb_build_object('kind', line.kind, 'class', class, 'basisPoints', basis_points,
        'flatRupiah', flat_rupiah, 'count', postings, 'turnoverRupiah', turnover_rupiah,
        'feeRupiah', line.fee_rupiah, 'vatRupiah', line.vat_rupiah)
        order by line.kind, class, basis_points, flat_rupiah) as invoice_lines,
      (row_number() over (order by line.merchant_id))::integer as place
    from fee_period_lines line
    where line.month = wanted_month and line.part = wanted_part
    group by line.merchant_id
  ) total
    left join jsonb_to_recordset(drafts) as draft ("merchantId" uuid, id uuid, "sealedParties" text)
      on draft."merchantId" = total.merchant_id
  order by place
  returning *;
  delete from fee_period_lines where month = wanted_month and part = wanted_part;
  update fee_periods set issued_at = now() where month = wanted_month and part = wanted_part;
end $$;

-- Adjustments ---------------------------------------------------------------------------------------------------------

-- A change of a balance that is no transition of a payment or a payout. `fee_credit` gives back a fee that an invoice
-- had, by a credit note.
create table balance_adjustments (
  id uuid primary key,
  merchant_id uuid not null references merchants,
  kind text not null check (kind in ('fee_credit')),
  amount_rupiah bigint not null check (amount_rupiah <> 0), -- above zero: the balance grows
  payment_id uuid references payments,
  invoice_number text unique references fee_invoices (number), -- of the credit note
  evidence text not null check (evidence <> ''),
  requested_by text not null,
  occurred_at timestamptz(3) not null default now(),
  constraint balance_adjustments_credit_has_note check (kind <> 'fee_credit'
    or (invoice_number is not null and payment_id is null and amount_rupiah > 0))
);
alter table ledger_postings add foreign key (adjustment_id) references balance_adjustments;

-- Gives back a part of the fee of an invoice: writes the credit note, the adjustment and its posting, and returns the
-- note. The lock orders it with other notes of the invoice. An approval names what was left of the invoice, so it is
-- used once.
create function book_adjustment(adjustment uuid, invoice text, fee bigint, vat bigint, evidence text,
  requested_by text, note uuid, parties text) returns fee_invoices
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  corrected fee_invoices;
  credited fee_invoices;
  fee_left bigint;
  vat_left bigint;
  posting bigint;
begin
  lock table fee_invoices in share row exclusive mode;
  select * into strict corrected from fee_invoices where number = invoice and kind = 'invoice';
  select corrected.fee_rupiah + coalesce(sum(fee_rupiah), 0), corrected.vat_rupiah + coalesce(sum(vat_rupiah), 0)
  into fee_left, vat_left from fee_invoices where corrects = invoice;
  if fee < 1 or vat < 0 or vat > fee or fee > fee_left or vat > vat_left or fee - vat > fee_left - vat_left then
    raise exception '% has % rupiah left', invoice, fee_left using errcode = 'LN003';
  end if;
  if needs_two_operators() and not exists (
    select from approvals
    where is_in_execution(approvals, 'invoice.credit') and parameters @> jsonb_build_object('number', invoice,
      'feeRupiah', fee, 'vatRupiah', vat, 'leftRupiah', fee_left)
  ) then
    raise exception 'no two operators have approved this credit note' using errcode = 'restrict_violation';
  end if;
  -- Before the id is taken: so a cut either waits for this posting, or has a smaller id.
  lock table ledger_postings in row exclusive mode;
  posting := nextval(pg_get_serial_sequence('ledger_postings', 'id'));
  insert into fee_invoices (id, number, sequence, merchant_id, kind, month, part, corrects, from_posting_id,
    up_to_posting_id, fee_rupiah, vat_rupiah, lines, sealed_parties)
  select note, fee_invoice_number('credit_note', max(sequence) + 1), max(sequence) + 1, corrected.merchant_id,
    'credit_note', corrected.month, corrected.part, invoice, posting - 1, posting, -fee, -vat,
    '[]', parties
  from fee_invoices
  returning * into credited;
  insert into balance_adjustments (id, merchant_id, kind, amount_rupiah, invoice_number, evidence, requested_by)
  values (adjustment, corrected.merchant_id, 'fee_credit', fee, credited.number, evidence, requested_by);
  -- One statement, because a posting without entries is rejected at its end.
  with booked as (
    insert into ledger_postings (id, adjustment_id, merchant_id, occurred_at) overriding system value
    values (posting, adjustment, corrected.merchant_id, now())
  )
  insert into ledger_entries (posting_id, line, account, side, amount_rupiah)
  select posting, line, account, side, rupiah from (values
    (1, 'fee_revenue', 'debit', fee - vat), (2, 'vat_payable', 'debit', vat), (3, 'merchant_available', 'credit', fee)
  ) as entry (line, account, side, rupiah) where rupiah > 0;
  return credited;
end $$;

-- Rights --------------------------------------------------------------------------------------------------------------

-- Only the functions of the owner write periods, invoices and adjustments. The worker and operators issue; operators
-- credit. The dashboard opens the parties for its pages.
revoke execute on function require_approved_company, count_fee_lines, issue_fee_invoices, book_adjustment
  from public;
grant execute on function count_fee_lines, issue_fee_invoices to lunas_worker, lunas_operator;
grant select on fee_period_lines to lunas_worker, lunas_operator;
grant execute on function book_adjustment to lunas_operator;
grant select on company_details to lunas_worker, lunas_operator, lunas_reader;
grant insert (version, legal_name, address, tax_number) on company_details to lunas_operator;
grant select on fee_postings to lunas_worker, lunas_dashboard, lunas_operator;
grant select on fee_invoices to lunas_worker, lunas_dashboard, lunas_operator;
grant update (sealed_parties) on fee_invoices to lunas_operator;
grant select (id, number, merchant_id) on fee_invoices to lunas_api; -- for the stream of webhooks
grant select on invoice_events to lunas_api, lunas_dashboard, lunas_worker, lunas_operator;
grant select (invoice_id, invoice_version, event, occurred_at) on invoice_events to lunas_reader;
grant select on balance_adjustments to lunas_worker, lunas_payouts, lunas_dashboard, lunas_operator;
grant select (id, number, sequence, merchant_id, kind, month, part, corrects, from_posting_id, up_to_posting_id,
  fee_rupiah, vat_rupiah, lines, issued_at, sha256) on fee_invoices to lunas_reader;
grant select (id, merchant_id, kind, amount_rupiah, payment_id, invoice_number, occurred_at) on balance_adjustments
  to lunas_reader;

-- Down Migration

-- There is none: the ledger is append-only. Restore a backup.
