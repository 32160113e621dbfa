-- Up Migration

-- Tables, columns, values, functions and indexes get the standard terms (docs/glossary.md). Nothing was released with
-- the names before this migration, so no view keeps them readable.

alter table webhook_deliveries rename column attempts to attempts_total;
alter table webhook_deliveries rename column tries to attempts_in_cycle;
alter table webhook_deliveries rename column handed_over_at to retry_workflow_started_at;
update webhook_deliveries set dead_reason = 'attempts_exhausted' where dead_reason = 'tries_exhausted';
alter table webhook_endpoints rename column retry_at to next_probe_at;

alter table provider_notifications rename column told to notify_attempts;
alter table provider_notifications rename column tell_again_at to next_notify_at;

alter table refunds rename column round to number;
alter table refunds rename constraint refunds_round_check to refunds_number_check;
alter table refunds drop constraint refunds_status_check, drop constraint refunds_check, drop constraint refunds_check2;
update refunds set status = 'rejected' where status = 'refused';
alter table refunds
  add constraint refunds_status_check check (status in ('held', 'submitted', 'confirmed', 'rejected', 'cancelled')),
  add constraint refunds_finished_if_final
    check ((status in ('confirmed', 'rejected', 'cancelled')) = (finished_at is not null)),
  add constraint refunds_failure_reason_if_rejected check (status <> 'rejected' or failure_reason is not null);
alter table refunds rename constraint refunds_check1 to refunds_submitted_at_if_submitted;

alter table late_payments
  drop constraint late_payments_status_check,
  drop constraint late_payments_check,
  drop constraint late_payments_check1;
update late_payments set status = 'manual_review' where status = 'kept';
alter table late_payments
  add constraint late_payments_status_check check (status in ('received', 'submitted', 'refunded', 'manual_review')),
  add constraint late_payments_finished_if_final
    check ((status in ('refunded', 'manual_review')) = (finished_at is not null)),
  add constraint late_payments_failure_reason_if_manual_review
    check (status <> 'manual_review' or failure_reason is not null);
alter table ledger_postings rename column late_step to late_payment_step;
alter table ledger_postings rename constraint ledger_postings_late_step_check
  to ledger_postings_late_payment_step_check;
alter table ledger_postings rename constraint ledger_postings_payment_id_late_step_key
  to ledger_postings_payment_id_late_payment_step_key;
alter table ledger_postings rename constraint ledger_postings_check to ledger_postings_has_one_source;

-- The names of transitions and the outcomes of operator actions are rows of append-only tables.
alter table payment_transitions disable trigger append_only;
update payment_transitions set name = new.name
from (values
  ('accept', 'create'),
  ('reject', 'fail_creation'),
  ('deny', 'fail'),
  ('refuse_refund', 'fail_refund'),
  ('resolve_as_paid', 'resolve_refund_as_paid')
) as new (former, name)
where payment_transitions.name = new.former;
alter table payment_transitions enable trigger append_only;

alter table operator_actions rename column asked_at to requested_at;
alter table operator_actions rename constraint operator_actions_check to operator_actions_operator_id_if_api;
alter table operator_action_outcomes drop constraint operator_action_outcomes_outcome_check;
alter table operator_action_outcomes disable trigger append_only;
update operator_action_outcomes set outcome =
  case outcome when 'done' then 'succeeded' when 'refused' then 'rejected' else 'indeterminate' end;
alter table operator_action_outcomes enable trigger append_only;
alter table operator_action_outcomes add constraint operator_action_outcomes_outcome_check
  check (outcome in ('succeeded', 'rejected', 'indeterminate'));

alter function refuse_change() rename to forbid_mutation;
create or replace function forbid_mutation() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only: % rejected', tg_table_name, lower(tg_op) using errcode = 'restrict_violation';
end $$;

drop function iso_utc(timestamptz);
-- As the API prints a timestamp: `2026-11-22T09:30:00.000Z`.
create function iso_utc(at timestamptz) returns text language sql immutable strict parallel safe
  return to_char(at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

alter table payments rename constraint payments_check to payments_total_is_net_plus_fee;
alter table payments rename constraint payments_check1 to payments_total_matches_fee_payer;
alter table webhook_deliveries rename constraint webhook_deliveries_check to webhook_deliveries_finished_unless_pending;
alter table webhook_deliveries rename constraint webhook_deliveries_check1 to webhook_deliveries_dead_reason_if_dead;
alter table webhook_endpoints rename constraint webhook_endpoints_check to webhook_endpoints_failing_since_if_failing;
alter table webhook_endpoints rename constraint webhook_endpoints_check1 to webhook_endpoints_next_probe_if_failing;
alter table exceptions rename constraint exceptions_check to exceptions_resolved_by_if_resolved;

alter index api_keys_by_merchant rename to api_keys_merchant_id_idx;
alter index exceptions_by_reference rename to exceptions_reference_id_idx;
alter index exceptions_newest_first rename to exceptions_opened_at_idx;
alter index exceptions_open rename to exceptions_open_key;
alter index exceptions_open_newest_first rename to exceptions_open_opened_at_idx;
alter index late_payments_unfinished rename to late_payments_open_idx;
alter index operator_actions_by_target rename to operator_actions_target_idx;
alter index operators_by_name rename to operators_active_name_key;
alter index payment_transitions_recorded rename to payment_transitions_recorded_at_idx;
alter index payments_by_merchant_reference rename to payments_merchant_reference_id_idx;
alter index payments_by_provider rename to payments_merchant_provider_idx;
alter index payments_by_status rename to payments_merchant_status_idx;
alter index payments_by_status_of_all rename to payments_status_idx;
alter index payments_final rename to payments_final_idx;
alter index payments_newest_first rename to payments_merchant_created_at_idx;
alter index payments_open rename to payments_open_idx;
alter index payments_to_settle rename to payments_due_settlement_idx;
alter index provider_accounts_by_provider rename to provider_accounts_provider_idx;
alter index provider_notifications_open rename to provider_notifications_open_idx;
alter index provider_notifications_to_tell rename to provider_notifications_due_idx;
alter index reconciliation_runs_complete rename to reconciliation_runs_complete_idx;
alter index refunds_open rename to refunds_open_key;
alter index refunds_submitted rename to refunds_submitted_at_idx;
alter index webhook_deliveries_by_merchant rename to webhook_deliveries_merchant_created_at_idx;
alter index webhook_deliveries_dead rename to webhook_deliveries_dead_idx;
alter index webhook_deliveries_newest_first rename to webhook_deliveries_created_at_idx;
alter index webhook_deliveries_outbox rename to webhook_deliveries_outbox_idx;
alter index webhook_deliveries_retried rename to webhook_deliveries_retry_workflow_idx;
alter index webhook_endpoints_by_merchant rename to webhook_endpoints_merchant_id_idx;
alter index webhook_secrets_by_endpoint rename to webhook_secrets_endpoint_id_idx;

-- Down Migration

-- There is none: see 0001_payments.sql.
