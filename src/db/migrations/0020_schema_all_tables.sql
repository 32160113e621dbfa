-- Up Migration

set local role lunas_owner;

-- Master keys in use --------------------------------------------------------------------------------------------------

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
    union select split_part(proposed_server_key, '.', 2) from provider_accounts where proposed_server_key is not null
    union select split_part(sealed_credentials, '.', 2) from provider_accounts where sealed_credentials is not null
    union select split_part(sealed_secret, '.', 2) from webhook_secrets
    union select split_part(sealed, '.', 2) from retired_keys
    union select split_part(sealed_totp, '.', 2) from users where sealed_totp is not null
    union select split_part(sealed_number, '.', 2) from bank_accounts where sealed_number is not null
    union select split_part(sealed_holder_name, '.', 2) from bank_accounts where sealed_holder_name is not null
    union select split_part(sealed_terms, '.', 2) from payouts
    union select split_part(sealed_details, '.', 2) from merchant_identities
    union select split_part(sealed_parties, '.', 2) from fee_invoices
  ) in_use where key_id <> '';

-- Append-only tables --------------------------------------------------------------------------------------------------

-- What no statement does to a row; and none truncates the table. What depends on the row is in a trigger beside the
-- table.
do $$
declare
  kept text;
  forbidden text;
begin
  for kept, forbidden in
    select unnest(tables), events from (values
      ('update or delete', array['installation', 'fee_schedules', 'merchant_prices', 'ledger_verifications',
        'ledger_verification_results', 'ended_days', 'closed_days', 'balance_days', 'reconciliation_runs',
        'operator_actions', 'operator_action_outcomes', 'audit_chain', 'audit_chain_lock', 'approval_decisions',
        'approval_rules', 'user_actions', 'user_action_outcomes', 'merchant_operator_actions',
        'bank_account_transitions', 'payout_limits', 'payout_policies', 'payout_stops', 'payout_transitions',
        'payout_events', 'payment_link_payments', 'retention_runs', 'archived_payments', 'company_details',
        'invoice_events', 'balance_adjustments']),
      -- Of these some columns change.
      ('delete', array['recovery_mode', 'approvals', 'merchant_identities', 'bank_accounts', 'payouts',
        'payment_links', 'ledger_closings', 'fee_periods', 'fee_invoices', 'daily_runs', 'audit_verifications',
        'archive_files', 'archive_batches']),
      -- Of these retention or the archive deletes rows.
      ('update', array['webhook_events', 'payment_transitions', 'late_payment_events', 'ledger_postings',
        'ledger_entries'])
    ) as rules (events, tables)
  loop
    execute format('create trigger append_only before %s on %I for each row execute function forbid_mutation()',
      forbidden, kept);
    execute format('create trigger append_only_truncate before truncate on %I execute function forbid_mutation()',
      kept);
  end loop;
end $$;

-- Rights --------------------------------------------------------------------------------------------------------------

grant select on sealing_key_ids to lunas_api, lunas_dashboard, lunas_worker, lunas_payouts, lunas_verifier,
  lunas_operator;

-- What the verifications compare, and what each worker reads at its start. No secret is among them that it can open
-- without the master key, and no customer.
grant select on installation, recovery_mode, retired_keys, merchants, payments, payment_transitions, refunds,
  late_payments, payment_hour_totals, totals_progress, balance_transactions, open_balance_days, closed_days,
  balance_days, ledger_closings, archive_files, archive_batches, archived_payments, archived_late_payments,
  payout_transitions, operator_actions, operator_action_outcomes, audit_chain, fee_periods, balance_adjustments
  to lunas_verifier;
grant select (id, purpose, provider, adapter, base_url, status, created_at) on provider_accounts to lunas_verifier;
grant select (id, reference_id, merchant_id, bank_account_id, provider_account_id, gross_rupiah, fee_rupiah,
  amount_rupiah, line_count, up_to_posting_id, status, version, requested_at, finished_at, updated_at)
  on payouts to lunas_verifier;
grant select (number, merchant_id, kind, month, part, from_posting_id, up_to_posting_id, fee_rupiah, vat_rupiah)
  on fee_invoices to lunas_verifier;

-- Down Migration

-- There is none: the ledger is append-only. Restore a backup.
