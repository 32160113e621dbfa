-- Up Migration

-- Null: every scope, and no expiry, as for the keys before. Both tables are small.
alter table api_keys
  add column scopes text[],
  add column expires_at timestamptz(3),
  -- At most one write a minute.
  add column last_used_at timestamptz(3),
  add constraint api_keys_scopes_check
    check (scopes <> '{}' and scopes <@ array['read', 'create', 'cancel', 'refund']);

alter table operators
  add column allowed_networks cidr[] not null default '{}',
  add column scopes text[],
  add column expires_at timestamptz(3),
  add constraint operators_scopes_check
    check (scopes <> '{}' and scopes <@ array['read', 'settle', 'fail', 'refund', 'resolve', 'redeliver']);

-- Down Migration

-- There is none: see 0001_payments.sql.
