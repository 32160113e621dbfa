-- The tables of the three schemes, with the columns and indexes of the real ones, and :payments payments over 60 days.
-- Run it in a migrated database, as its owner.

set maintenance_work_mem = '512MB';
set synchronous_commit = off;

create table plain_payments (like payments including defaults including constraints);
create table plain_transitions (like payment_transitions including defaults including constraints);
create table plain_events (like webhook_events including defaults);

create table hash_payments (like payments including defaults including constraints) partition by hash (id);
create table hash_transitions (like payment_transitions including defaults including constraints)
  partition by hash (payment_id);
create table hash_events (like webhook_events including defaults) partition by hash (payment_id);

-- A partition has to be found by the key of a payment: each table has the day, and day_keys finds it.
create table day_keys (payment_id uuid, reference_id text not null, created_at timestamptz(3) not null);
create table day_payments (like payments including defaults including constraints) partition by range (created_at);
create table day_transitions (
  like payment_transitions including defaults including constraints, created_at timestamptz(3)
) partition by range (created_at);
create table day_events (like webhook_events including defaults, created_at timestamptz(3))
  partition by range (created_at);

select format('create table hash_%1$s_%2$s partition of hash_%1$s for values with (modulus 16, remainder %2$s)',
  name, n)
from unnest(array['payments', 'transitions', 'events']) name, generate_series(0, 15) n \gexec
select format('create table day_%1$s_%2$s partition of day_%1$s for values from (%3$L) to (%4$L)', name, n,
  current_date - 61 + n, current_date - 60 + n)
from unnest(array['payments', 'transitions', 'events']) name, generate_series(0, 68) n \gexec

insert into plain_payments (id, reference_id, merchant_id, fingerprint, payment_method, provider, provider_account_id,
  amount_rupiah, fee_rupiah, total_rupiah, net_rupiah, fee_payer, policy_id, settlement_kind, settlement_delay_seconds,
  status, version, expires_at, created_at, updated_at, qris_payload, provider_transaction_id)
select md5('payment' || n)::uuid, 'LN' || upper(substr(md5('payment' || n), 1, 16)), md5('m' || n % 200)::uuid, 'f',
  'qris', 'gopay', md5('account')::uuid, 50000, 350, 50000, 49650, 'merchant', md5('policy')::uuid, 'automatic', 86400,
  'settled', 4, at, at, at + interval '1 day', repeat('0', 200), 'transaction-' || n
from (select n, current_date - interval '60 days' + n * (interval '60 days' / :payments) as at
  from generate_series(1, :payments) n) numbered;
insert into plain_transitions (payment_id, version, name, from_status, to_status, occurred_at, actor, recorded_at)
select id, step, 'issue', 'created', 'pending', created_at, 'workflow', created_at
from plain_payments, generate_series(1, 2) step;
insert into plain_events (payment_id, payment_version, event, body, occurred_at)
select id, step, 'payment.created', repeat('x', 400), created_at from plain_payments, generate_series(1, 2) step;

insert into hash_payments select * from plain_payments;
insert into hash_transitions select * from plain_transitions;
insert into hash_events select * from plain_events;
insert into day_keys select id, reference_id, created_at from plain_payments;
insert into day_payments select * from plain_payments;
insert into day_transitions select transition.*, occurred_at from plain_transitions transition;
insert into day_events select event.*, occurred_at from plain_events event;

alter table day_keys add primary key (payment_id), add unique (reference_id);
alter table plain_payments add primary key (id);
alter table hash_payments add primary key (id);
alter table day_payments add primary key (id, created_at);
alter table plain_transitions add primary key (payment_id, version);
alter table hash_transitions add primary key (payment_id, version);
alter table day_transitions add primary key (payment_id, version, created_at);
alter table plain_events add primary key (payment_id, payment_version);
alter table hash_events add primary key (payment_id, payment_version);
alter table day_events add primary key (payment_id, payment_version, created_at);
-- A partitioned table cannot have it unique: day_keys has it for that scheme.
create unique index on plain_payments (reference_id);
create index on hash_payments (reference_id);
select format('create index on %s_payments %s', scheme, columns)
from unnest(array['plain', 'hash', 'day']) scheme, unnest(array[
  '(merchant_id, created_at desc, id desc)', '(merchant_id, status, created_at desc, id desc)',
  '(merchant_id, provider, created_at desc, id desc)',
  '((status || ''''), (created_at at time zone ''utc'') desc, id desc)',
  '(provider_account_id, id) where (status || '''') in (''created'', ''pending'', ''paid'')',
  '(provider_account_id, updated_at, id) where (status || '''') in (''expired'', ''settled'')']) columns \gexec
select format('create index on %s_transitions (recorded_at, payment_id)', scheme)
from unnest(array['plain', 'hash', 'day']) scheme \gexec

vacuum analyze;
