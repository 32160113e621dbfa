-- Up Migration

-- Actions that need a second operator in production. A row waits until another operator approves or rejects it, or it
-- expires. Only an approved action is executed, with the parameters of its row.
create table approvals (
  id bigint generated always as identity primary key,
  action text not null,
  target text not null, -- what an operator reads: a payment, a provider account, a policy
  parameters jsonb not null,
  note text not null,
  requested_by uuid not null references operators (id),
  requested_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null default now() + interval '24 hours',
  status text not null default 'pending' check (status in ('pending', 'approved', 'executed', 'failed', 'rejected')),
  decided_by uuid references operators (id),
  decided_at timestamptz(3),
  -- A process that executes the action has it until then. Afterwards its approval can be repeated.
  leased_until timestamptz(3),
  failure_reason text,
  constraint approvals_two_operators check (decided_by <> requested_by),
  constraint approvals_decided check (
    (status = 'pending') = (decided_by is null) and (decided_by is null) = (decided_at is null)
  )
);
create index approvals_pending on approvals (expires_at) where status = 'pending';

-- What was requested never changes.
create trigger request_is_final
  before update of id, action, target, parameters, note, requested_by, requested_at, expires_at on approvals
  for each row execute function forbid_mutation();
create trigger append_only before delete on approvals for each row execute function forbid_mutation();
create trigger append_only_truncate before truncate on approvals execute function forbid_mutation();

-- Settlements and manual refunds of late payments above the newest limit need a second operator.
create table approval_limits (
  id bigint generated always as identity primary key,
  limit_rupiah bigint not null check (limit_rupiah >= 0),
  created_at timestamptz(3) not null default now()
);
insert into approval_limits (limit_rupiah) values (5000000);
create trigger append_only before update or delete on approval_limits for each row execute function forbid_mutation();
create trigger append_only_truncate before truncate on approval_limits execute function forbid_mutation();

-- A proposed account is used for no payment.
alter table provider_accounts drop constraint provider_accounts_status_check;
alter table provider_accounts add constraint provider_accounts_status_check
  check (status in ('proposed', 'enabled', 'disabled'));

-- The key of a proposed operator is not accepted.
alter table operators add column is_approved boolean not null default true;

-- Down Migration

-- There is none: see 0001_payments.sql.
