-- Up Migration

-- Who may call the operator API. A name is free again once its key is revoked.
create table operators (
  id uuid primary key,
  name text not null check (name <> ''),
  secret_sha256 bytea not null unique check (octet_length(secret_sha256) = 32),
  prefix text not null,
  last_four text not null,
  created_at timestamptz(3) not null default now(),
  revoked_at timestamptz(3)
);
create unique index operators_by_name on operators (name) where revoked_at is null;

-- The audit trail: written before an operator's action begins, so that none is missing; what came of it follows. An
-- action without an outcome is one whose process died, or whose database was gone by then.
create table operator_actions (
  id bigint generated always as identity primary key,
  actor text not null, -- who: `cli:<user of the machine>`, or `operator:<name>`
  via text not null check (via in ('api', 'cli')),
  operator_id uuid references operators,
  action text not null,
  target text not null,
  note text, -- why
  asked_at timestamptz(3) not null default clock_timestamp(),
  check ((via = 'api') = (operator_id is not null))
);
create index operator_actions_by_target on operator_actions (target, id desc);

create table operator_action_outcomes (
  action_id bigint primary key references operator_actions,
  outcome text not null check (outcome in ('done', 'refused', 'failed')),
  detail text, -- why it was refused, or failed
  finished_at timestamptz(3) not null default clock_timestamp()
);

create trigger append_only before update or delete on operator_actions for each row execute function refuse_change();
create trigger append_only_truncate before truncate on operator_actions execute function refuse_change();
create trigger append_only before update or delete on operator_action_outcomes
  for each row execute function refuse_change();
create trigger append_only_truncate before truncate on operator_action_outcomes execute function refuse_change();

-- What waits for an operator, among millions that do not.
create index payments_to_settle on payments (merchant_id, settlement_due_at)
  where status = 'paid' and settlement_kind = 'manual';
create index refunds_refused on refunds (payment_id, round) where status = 'refused';
create index exceptions_by_reference on exceptions (reference_id);

-- Down Migration

-- There is none: see 0001_payments.sql.
