-- Up Migration

-- The roles of Lunas (docs/production.md, "Database roles"). They have no login: an operator makes login roles and
-- grants them membership. Roles belong to the whole server, so another database may have created them already.

-- All tables are locked below. Give way before PostgreSQL searches for a deadlock with a running transaction.
set local lock_timeout = '500ms';

do $$
declare
  missing text;
begin
  foreach missing in array '{lunas_owner, lunas_api, lunas_worker, lunas_operator, lunas_reader}'::text[] loop
    continue when to_regrole(missing) is not null;
    begin
      execute format('create role %I', missing);
    exception
      when duplicate_object or unique_violation then null; -- a concurrent migration of another database
    end;
  end loop;
  begin
    set local role lunas_owner;
    reset role;
  exception
    when insufficient_privilege then execute format('grant lunas_owner to %I', current_user);
  end;
  if not has_schema_privilege('lunas_owner', current_schema(), 'create') then
    execute format('grant usage, create on schema %I to lunas_owner', current_schema());
  end if;
  execute format('grant usage on schema %I to lunas_api, lunas_worker, lunas_operator, lunas_reader',
    current_schema());
exception
  when insufficient_privilege then
    raise insufficient_privilege using message = format(
      'role %I may not create the roles of Lunas, so an administrator has to do it', current_user);
end $$;

-- No statement changes a row of these tables.
create trigger append_only_truncate before truncate on ledger_verifications execute function forbid_mutation();
create trigger append_only_truncate before truncate on reconciliation_runs execute function forbid_mutation();

-- The ids of the master keys that sealed the values of this database. Its reader needs no access to the values.
-- Payments have details by the million: each key id costs one look-up in the index instead of a scan.
create view sealing_key_ids as
  with recursive of_details as (
    select min(split_part(sealed, '.', 2)) as key_id from payment_details
    union all
    select (select min(split_part(sealed, '.', 2)) from payment_details where split_part(sealed, '.', 2) > key_id)
    from of_details where key_id is not null
  )
  select key_id from (
    select key_id from of_details
    union select split_part(sealed_server_key, '.', 2) from provider_accounts
    union select split_part(sealed_secret, '.', 2) from webhook_secrets
    union select split_part(sealed, '.', 2) from retired_keys
  ) in_use where key_id <> '';

-- The owner: only `lunas migrate` connects as a member.

alter function forbid_mutation() owner to lunas_owner;
alter function iso_utc(timestamptz) owner to lunas_owner;
alter function require_balanced_posting() owner to lunas_owner;
alter view sealing_key_ids owner to lunas_owner;
alter function append_to_audit_chain(text, bigint, text) owner to lunas_owner;
alter function audit_content(operator_actions) owner to lunas_owner;
alter function audit_content(operator_action_outcomes) owner to lunas_owner;
alter function chain_action() owner to lunas_owner;
alter function chain_outcome() owner to lunas_owner;
alter table api_keys owner to lunas_owner;
alter table approval_limits owner to lunas_owner;
alter table approvals owner to lunas_owner;
alter table audit_chain owner to lunas_owner;
alter table exceptions owner to lunas_owner;
alter table installation owner to lunas_owner;
alter table late_payments owner to lunas_owner;
alter table ledger_entries owner to lunas_owner;
alter table ledger_postings owner to lunas_owner;
alter table ledger_verifications owner to lunas_owner;
alter table merchants owner to lunas_owner;
alter table operator_action_outcomes owner to lunas_owner;
alter table operator_actions owner to lunas_owner;
alter table operators owner to lunas_owner;
alter table payment_details owner to lunas_owner;
alter table payment_transitions owner to lunas_owner;
alter table payments owner to lunas_owner;
alter table policies owner to lunas_owner;
alter table provider_accounts owner to lunas_owner;
alter table provider_notifications owner to lunas_owner;
alter table rate_limits owner to lunas_owner;
alter table reconciliation_runs owner to lunas_owner;
alter table refunds owner to lunas_owner;
alter table retired_keys owner to lunas_owner;
alter table schema_migrations owner to lunas_owner;
alter table webhook_attempts owner to lunas_owner;
alter table webhook_deliveries owner to lunas_owner;
alter table webhook_endpoints owner to lunas_owner;
alter table webhook_events owner to lunas_owner;
alter table webhook_secrets owner to lunas_owner;

-- As the owner: the grants do not depend on the role that migrates.
set local role lunas_owner;

-- What each process and command compares at its start.
grant select on installation, schema_migrations, sealing_key_ids to lunas_api, lunas_worker, lunas_operator;
grant select on installation, schema_migrations to lunas_reader;

-- Payments. The writers of src/db/transitions run in the worker. The command `lunas recover` writes lost rows again.
-- An operator, at the API or the command line, books the manual refund of a late payment.
grant select on payments, payment_transitions, refunds, late_payments, ledger_postings, ledger_entries
  to lunas_api, lunas_worker, lunas_operator;
grant insert on payments, payment_transitions to lunas_worker, lunas_operator;
grant update (status, version, updated_at, failure_reason, qris_payload, provider_transaction_id) on payments
  to lunas_worker, lunas_operator;
grant update (paid_at, cancelled_at, settlement_due_at) on payments to lunas_worker;
grant update (fingerprint) on payments to lunas_operator; -- `lunas keys reseal`
grant insert on refunds, late_payments to lunas_worker;
grant update (status, submitted_at, finished_at, provider_reference, failure_reason, is_manual) on refunds
  to lunas_worker;
grant update (status, submitted_at, finished_at, provider_reference, failure_reason, is_manual) on late_payments
  to lunas_worker;
grant update (status, finished_at, provider_reference, is_manual) on late_payments to lunas_api, lunas_operator;
grant insert on ledger_postings, ledger_entries to lunas_api, lunas_worker, lunas_operator;
grant select, insert on ledger_verifications to lunas_operator;
grant select, insert on reconciliation_runs to lunas_worker, lunas_operator;

-- Exceptions.
grant select on exceptions to lunas_api, lunas_worker, lunas_operator;
grant insert on exceptions to lunas_worker, lunas_operator;
grant update (resolved_at, resolved_by, note) on exceptions to lunas_api, lunas_operator;

-- Personal data. The API adds it, operators show and erase it, and the worker deletes what is older than its retention.
grant select (payment_id, fingerprint), insert on payment_details to lunas_api;
grant select (payment_id, fingerprint, created_at), delete on payment_details to lunas_worker;
grant select, update (fingerprint, sealed), delete on payment_details to lunas_operator;

-- Notifications of providers.
grant select (id, provider_account_id, reference_id, body_sha256, received_at, closed_at, notify_attempts,
  next_notify_at, reported_status, meaning_sha256), insert on provider_notifications
  to lunas_api, lunas_worker, lunas_operator;
grant update (closed_at, next_notify_at) on provider_notifications to lunas_api, lunas_worker, lunas_operator;
grant update (notify_attempts), delete on provider_notifications to lunas_worker;
grant update (body) on provider_notifications to lunas_operator; -- `lunas customers erase`

-- Webhooks.
grant select on webhook_endpoints, webhook_deliveries to lunas_api, lunas_worker, lunas_operator;
grant select on webhook_events, webhook_secrets to lunas_worker, lunas_operator;
grant select (payment_id, payment_version, event, occurred_at) on webhook_events to lunas_api;
grant select (delivery_id, number, started_at, duration_ms, status_code, failure) on webhook_attempts to lunas_api;
grant insert on webhook_events, webhook_deliveries to lunas_worker, lunas_operator;
grant update (status, dead_reason, finished_at, retry_workflow_started_at, leased_until, attempts_in_cycle, queued_at)
  on webhook_deliveries to lunas_api, lunas_worker, lunas_operator;
grant update (attempts_total) on webhook_deliveries to lunas_worker;
grant delete on webhook_events, webhook_deliveries, webhook_attempts to lunas_worker;
grant select (delivery_id), insert on webhook_attempts to lunas_worker;
grant select, update (response_excerpt) on webhook_attempts to lunas_operator;
grant update (status, disabled_reason, consecutive_failures, failing_since, next_probe_at) on webhook_endpoints
  to lunas_worker, lunas_operator;
grant insert on webhook_endpoints, webhook_secrets to lunas_operator;
grant update (sealed_secret, expires_at) on webhook_secrets to lunas_operator;

-- Merchants, catalog and access.
grant select on merchants, policies, provider_accounts, retired_keys to lunas_api, lunas_worker, lunas_operator;
grant insert on merchants, policies, provider_accounts, retired_keys to lunas_operator;
grant update (held_at) on merchants to lunas_api, lunas_operator;
grant update (status, fee_payer, providers, payment_method_active) on merchants to lunas_operator;
grant update (status, sealed_server_key) on provider_accounts to lunas_operator;
grant update (sealed) on retired_keys to lunas_operator;
grant select on api_keys, operators to lunas_api, lunas_operator;
grant insert, update (revoked_at) on api_keys, operators to lunas_operator;
grant update (is_approved) on operators to lunas_operator;
grant update (last_used_at) on api_keys to lunas_api;
grant select, insert, update, delete on rate_limits to lunas_api;

-- Approvals. The API requests them; operators decide at the command line.
grant select, insert (action, target, parameters, note, requested_by) on approvals to lunas_api, lunas_operator;
grant update (status, decided_by, decided_at, leased_until, failure_reason) on approvals to lunas_operator;
grant select on approval_limits to lunas_api, lunas_operator;
grant insert on approval_limits to lunas_operator;

-- The audit log. Only its triggers write the hash chain, as the owner.
grant select, insert on operator_actions, operator_action_outcomes to lunas_api, lunas_operator;
grant select on audit_chain to lunas_operator, lunas_reader;
revoke execute on function append_to_audit_chain from public;
alter function chain_action() security definer;
alter function chain_outcome() security definer;

-- A trigger reads and writes the tables of this schema, also if its caller has temporary tables of the same names.
do $$
declare
  checked text;
begin
  foreach checked in array '{require_balanced_posting, chain_action, chain_outcome}'::text[] loop
    execute format('alter function %I() set search_path = %I, pg_temp', checked, current_schema());
  end loop;
end $$;

-- Reports: no secret, no personal data, and no text of a customer, a provider or a receiver.
grant select on payment_transitions, refunds, late_payments, ledger_postings, ledger_entries, ledger_verifications,
  reconciliation_runs, exceptions, merchants, policies, webhook_deliveries, operator_action_outcomes,
  approval_limits to lunas_reader;
grant select (id, reference_id, merchant_id, payment_method, provider, provider_account_id, currency, amount_rupiah,
  fee_rupiah, total_rupiah, net_rupiah, fee_payer, policy_id, settlement_kind, settlement_delay_seconds, status,
  version, expires_at, created_at, updated_at, paid_at, cancelled_at, settlement_due_at, provider_transaction_id,
  failure_reason) on payments to lunas_reader;
grant select (id, merchant_id, prefix, last_four, allowed_networks, created_at, revoked_at, scopes, expires_at,
  last_used_at) on api_keys to lunas_reader;
grant select (id, name, prefix, last_four, created_at, revoked_at, allowed_networks, scopes, expires_at, is_approved)
  on operators to lunas_reader;
grant select (id, actor, via, operator_id, action, target, note, requested_at) on operator_actions to lunas_reader;
grant select (id, action, target, note, requested_by, requested_at, expires_at, status, decided_by, decided_at)
  on approvals to lunas_reader;
grant select (id, provider, adapter, base_url, weight, status, created_at) on provider_accounts to lunas_reader;
grant select (id, provider_account_id, reference_id, received_at, closed_at, notify_attempts, next_notify_at,
  reported_status) on provider_notifications to lunas_reader;
grant select (id, merchant_id, events, status, disabled_reason, created_at, consecutive_failures, failing_since,
  next_probe_at) on webhook_endpoints to lunas_reader;
grant select (delivery_id, number, started_at, duration_ms, status_code, failure) on webhook_attempts to lunas_reader;
grant select (payment_id, payment_version, event, occurred_at) on webhook_events to lunas_reader;
grant select (id, endpoint_id, created_at, expires_at) on webhook_secrets to lunas_reader;

-- Down Migration

-- There is none: see 0001_payments.sql.
