import { PROPOSAL_STATUSES } from '../domain/bank-account-transitions';
import { RUN_KINDS } from '../domain/daily-runs';
import { API_ERRORS } from '../domain/errors';
import { EXCEPTION_KINDS } from '../domain/exception-kinds';
import { OPEN_STATUSES, PAYMENT_TRANSITIONS } from '../domain/payment-transitions';
import { OPEN_PAYOUT_STATUSES, PAYOUT_TRANSITIONS } from '../domain/payout-transitions';
import { PROCESS_ROLES } from '../domain/process-roles';
import { CONFIRMATION_CAUSES } from '../domain/provider-status';

export interface MetricDefinition {
  /** `sampled_counter`: a counter that another component counts. It is read like a gauge. */
  readonly type: 'counter' | 'sampled_counter' | 'gauge' | 'histogram';
  /** The processes that export it. */
  readonly process: 'api' | 'worker' | 'every';
  readonly help: string;
  /**
   * The values of each label; null: another set, which is bounded too. No label has an id of a merchant or a payment.
   */
  readonly labels: Readonly<Record<string, readonly string[] | null>>;
  /** Upper bounds in seconds, of a histogram. */
  readonly buckets?: readonly number[];
}

const HTTP_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;
/** A call to an acquirer or a webhook receiver ends after 30 s at most. */
const OUTGOING_BUCKETS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const;

/** Up to which age an open payment counts, and the name of this group. */
export const AGE_GROUPS = {
  under_1h: '1 hour',
  '1h_to_1d': '1 day',
  '1d_to_7d': '7 days',
  over_7d: '1000 years',
} as const;

/** Why a payment needs an operator, or is late. `on_hold`: it does not settle, by the decision of an operator. */
export const ATTENTION_REASONS = [
  'overdue',
  'on_hold',
  'refund_failed',
  'refund_unconfirmed',
  'settlement_due',
] as const;

/** How long a proposed bank account waits. */
export const PROPOSAL_AGES = ['up_to_a_working_day', 'over_a_working_day'] as const;

/**
 * Why a payout needs an operator, or is late. `deferred`: an obstacle has kept it back for an hour. `not_sent`: none
 * does, and its workflow has not submitted it for ten minutes. `not_found`: the bank has not known it for a day.
 * `indeterminate`: no call has had a certain response for ten minutes. `overdue`: it takes longer than its rail does.
 */
export const PAYOUT_ATTENTION_REASONS = [
  'waiting_for_approval',
  'deferred',
  'not_sent',
  'not_found',
  'indeterminate',
  'overdue',
] as const;

/** Counts by a statement end here, so that the statement stays cheap: the value 1000 means 1000 or more. */
export const COUNT_LIMIT = 1_000;

/** THE table: every metric of Lunas, beside those of Temporal's SDK. Each counter has one label. */
export const METRICS = {
  lunas_build_info: {
    type: 'gauge',
    process: 'every',
    help: 'Always 1; the label has the version.',
    labels: { version: null },
  },
  lunas_cell_info: {
    type: 'gauge',
    process: 'worker',
    help: 'Always 1; the label has the cell that the database records.',
    labels: { cell: null },
  },
  lunas_role_last_seen_timestamp_seconds: {
    type: 'gauge',
    process: 'worker',
    help: 'When a process of a role was last seen. A role that was not run for 7 days has no value.',
    labels: { role: PROCESS_ROLES },
  },
  lunas_clock_offset_seconds: {
    type: 'gauge',
    process: 'worker',
    help: 'By how much the clock of PostgreSQL is before that of the process.',
    labels: {},
  },
  process_start_time_seconds: {
    type: 'gauge',
    process: 'every',
    help: 'Start of the process, in seconds since the epoch.',
    labels: {},
  },
  process_resident_memory_bytes: {
    type: 'gauge',
    process: 'every',
    help: 'Resident memory of the process.',
    labels: {},
  },
  lunas_event_loop_lag_seconds: {
    type: 'gauge',
    process: 'every',
    help: 'How late timers of the event loop ran since the previous scrape.',
    labels: { statistic: ['mean', 'p99', 'max'] },
  },
  lunas_database_pool_connections: {
    type: 'gauge',
    process: 'every',
    help: 'Connections of a pool to PostgreSQL.',
    labels: { pool: null, state: ['in_use', 'idle'] },
  },
  lunas_database_pool_max_connections: {
    type: 'gauge',
    process: 'every',
    help: 'Limit of the connections of a pool.',
    labels: { pool: null },
  },
  lunas_database_pool_waiting: {
    type: 'gauge',
    process: 'every',
    help: 'Requests that wait for a connection of a pool.',
    labels: { pool: null },
  },
  lunas_http_request_duration_seconds: {
    type: 'histogram',
    process: 'api',
    help: 'Duration of requests to the API, until their response is complete or their connection closed.',
    labels: { method: null, route: null, status: ['2xx', '3xx', '4xx', '5xx', 'aborted'] },
    buckets: HTTP_BUCKETS,
  },
  lunas_http_requests_in_flight: {
    type: 'gauge',
    process: 'api',
    help: 'Requests to the API that are not completed.',
    labels: {},
  },
  lunas_http_requests_rejected_total: {
    type: 'counter',
    process: 'api',
    help: "Requests that were not successful, by the contract's error code.",
    labels: { code: Object.keys(API_ERRORS) },
  },
  lunas_requests_unrecorded_total: {
    type: 'counter',
    process: 'api',
    help: 'Requests that `lunas logs` does not show: too many arrived, or PostgreSQL did not take them.',
    labels: { reason: ['buffer_full', 'database'] },
  },
  lunas_admission_in_flight: {
    type: 'gauge',
    process: 'api',
    help: 'Creations that were admitted and are not completed.',
    labels: {},
  },
  lunas_admission_rejected_total: {
    type: 'sampled_counter',
    process: 'api',
    help: 'Creations that were rejected because too many are in flight. The items of a bulk count one by one.',
    labels: {},
  },
  lunas_notifications_received_total: {
    type: 'counter',
    process: 'api',
    help: "Requests at the address for providers' notifications, by what they are.",
    labels: { outcome: ['verified', 'invalid_signature', 'malformed', 'unknown_account'] },
  },
  lunas_keys_rejected_total: {
    type: 'counter',
    process: 'api',
    help: 'Requests whose secret key was missing, unknown, revoked, expired, or not allowed from their address.',
    labels: { owner: ['merchant', 'operator'] },
  },
  lunas_sign_ins_failed_total: {
    type: 'counter',
    process: 'api',
    help: 'Steps of signing in to the dashboard that were rejected; throttled: not tried, because of earlier ones.',
    labels: { reason: ['credentials', 'code', 'passkey', 'throttled'] },
  },
  lunas_creates_total: {
    type: 'counter',
    process: 'api',
    help:
      'Creations of valid payments by their end. completed: the acquirer decided; failed: no result in time; ' +
      'no_capacity: rejected without a slot; over_share: rejected, because the merchant has its share of the slots.',
    labels: { outcome: ['completed', 'failed', 'no_capacity', 'over_share'] },
  },
  lunas_dependency_up: {
    type: 'gauge',
    process: 'worker',
    help: 'Whether a server that the worker needs responds (1) or not (0).',
    labels: { dependency: ['postgresql', 'temporal'] },
  },
  lunas_payment_transitions_total: {
    type: 'counter',
    process: 'worker',
    help: 'Transitions of payments that this process has written.',
    labels: { transition: Object.keys(PAYMENT_TRANSITIONS) },
  },
  lunas_payout_transitions_total: {
    type: 'counter',
    process: 'worker',
    help: 'Transitions of payouts that this process has written.',
    labels: { transition: Object.keys(PAYOUT_TRANSITIONS) },
  },
  lunas_payouts_open: {
    type: 'gauge',
    process: 'worker',
    help: `Open payouts by status, counted up to ${COUNT_LIMIT}.`,
    labels: { status: OPEN_PAYOUT_STATUSES },
  },
  lunas_payouts_needing_attention: {
    type: 'gauge',
    process: 'worker',
    help: `Payouts that wait for an operator, or for longer than they should, counted up to ${COUNT_LIMIT}.`,
    labels: { reason: PAYOUT_ATTENTION_REASONS },
  },
  lunas_bank_accounts_waiting: {
    type: 'gauge',
    process: 'worker',
    help: `Proposed bank accounts by status and age, each counted up to ${COUNT_LIMIT}.`,
    labels: { status: PROPOSAL_STATUSES, age: PROPOSAL_AGES },
  },
  lunas_payments_confirmed_total: {
    type: 'counter',
    process: 'worker',
    help: "Payments that became paid, by what made the provider's status known.",
    labels: { cause: CONFIRMATION_CAUSES },
  },
  lunas_day_end_duration_seconds: {
    type: 'histogram',
    process: 'worker',
    help: 'For how long settlements wait when a day of the balances ends, with ends that fail.',
    labels: {},
    buckets: HTTP_BUCKETS,
  },
  lunas_payment_totals_corrected_total: {
    type: 'counter',
    process: 'worker',
    help: 'Totals of the dashboard that were wrong and that the nightly pass has corrected.',
    labels: {},
  },
  lunas_payment_totals_last_pass_timestamp_seconds: {
    type: 'gauge',
    process: 'worker',
    help: 'Start of the last complete nightly pass of the totals; before the first one, the installation.',
    labels: {},
  },
  lunas_provider_request_duration_seconds: {
    type: 'histogram',
    process: 'every',
    help: 'Duration of calls to a provider account. Accounts beyond the first 8 of a process are "other".',
    labels: { account: null, operation: null, outcome: null },
    buckets: OUTGOING_BUCKETS,
  },
  lunas_provider_rejected_merchants: {
    type: 'gauge',
    process: 'worker',
    help: 'Merchants whose orders an account has rejected since it last accepted one, counted up to 100.',
    labels: { account: null },
  },
  lunas_webhook_deliveries_total: {
    type: 'counter',
    process: 'worker',
    help: 'Attempts of deliveries by their result, and deliveries that became dead without an attempt.',
    labels: { outcome: ['delivered', 'retried', 'dead'] },
  },
  lunas_webhook_attempt_duration_seconds: {
    type: 'histogram',
    process: 'worker',
    help: 'Duration of attempts of webhook deliveries.',
    labels: { outcome: ['delivered', 'failed'] },
    buckets: OUTGOING_BUCKETS,
  },
  lunas_webhook_outbox_pending: {
    type: 'gauge',
    process: 'worker',
    help: `Deliveries in the outbox, counted up to ${COUNT_LIMIT}.`,
    labels: {},
  },
  lunas_webhook_relay_lag_seconds: {
    type: 'gauge',
    process: 'worker',
    help: 'Age of the oldest delivery that a relay could send now; 0 if there is none.',
    labels: {},
  },
  lunas_recovery_mode: {
    type: 'gauge',
    process: 'worker',
    help: 'Whether recovery mode is on (1), so that nothing is settled or refunded.',
    labels: {},
  },
  lunas_payments_open: {
    type: 'gauge',
    process: 'worker',
    help: `Payments that are not final, by status and age, each counted up to ${COUNT_LIMIT}.`,
    labels: { status: OPEN_STATUSES, age: Object.keys(AGE_GROUPS) },
  },
  lunas_payments_needing_attention: {
    type: 'gauge',
    process: 'worker',
    help: `Payments that are overdue or wait for an operator, each reason counted up to ${COUNT_LIMIT}.`,
    labels: { reason: ATTENTION_REASONS },
  },
  lunas_notifications_open: {
    type: 'gauge',
    process: 'worker',
    help: `Notifications of providers without a recorded effect, counted up to ${COUNT_LIMIT}.`,
    labels: {},
  },
  lunas_notifications_oldest_open_age_seconds: {
    type: 'gauge',
    process: 'worker',
    help: 'Age of the oldest notification that is due and has no recorded effect; 0 if there is none.',
    labels: {},
  },
  lunas_notifications_contradicted_total: {
    type: 'counter',
    process: 'worker',
    help: 'Authentic notifications of a payment that the provider itself does not know of a minute later.',
    labels: { reported_status: ['paid', 'completed'] },
  },
  lunas_payloads_rejected_total: {
    type: 'counter',
    process: 'worker',
    help: 'Payloads in Temporal that this service has not written. Workflows and activities reject them.',
    labels: { namespace: null },
  },
  lunas_provider_accounts_changed: {
    type: 'gauge',
    process: 'worker',
    help: 'Accounts whose address, key, merchant or status was changed within 24 hours.',
    labels: {},
  },
  lunas_exceptions_open: {
    type: 'gauge',
    process: 'worker',
    help: `Exceptions that no operator has resolved, each kind counted up to ${COUNT_LIMIT}.`,
    labels: { kind: EXCEPTION_KINDS },
  },
  lunas_ledger_breaks: {
    type: 'gauge',
    process: 'worker',
    help: 'Breaks that the newest verification of the ledger found, and the newest one of all payments.',
    labels: { verification: ['newest', 'newest_full'] },
  },
  lunas_audit_breaks: {
    type: 'gauge',
    process: 'worker',
    help: 'Breaks that the newest verification of new entries of the audit log found, and the newest one of all.',
    labels: { verification: ['newest', 'newest_full'] },
  },
  lunas_audit_last_verification_timestamp_seconds: {
    type: 'gauge',
    process: 'worker',
    help: 'End of the newest verification of new entries of the audit log; no value before the first one.',
    labels: {},
  },
  lunas_ledger_last_verification_timestamp_seconds: {
    type: 'gauge',
    process: 'worker',
    help: 'End of the newest verification of the ledger; before the first one, the installation.',
    labels: {},
  },
  lunas_run_last_complete_timestamp_seconds: {
    type: 'gauge',
    process: 'worker',
    help:
      'End of the last run of a schedule that was complete; before the first one, the installation, or for payouts ' +
      'our account at the bank, without which there is no value.',
    labels: { run: RUN_KINDS },
  },
  lunas_run_last_failures: {
    type: 'gauge',
    process: 'worker',
    help: 'With how many merchants, kinds of data or provider accounts the newest ended run of a schedule failed.',
    labels: { run: RUN_KINDS },
  },
  lunas_reconciliation_last_success_timestamp_seconds: {
    type: 'gauge',
    process: 'worker',
    help: 'End of the last run that asked the provider about every payment; before the first one, the installation.',
    labels: {},
  },
  lunas_reconciliation_last_success_duration_seconds: {
    type: 'gauge',
    process: 'worker',
    help: 'Duration of that run.',
    labels: {},
  },
  lunas_retention_last_success_timestamp_seconds: {
    type: 'gauge',
    process: 'worker',
    help: 'End of the last run of retention that deleted all that it should; before the first one, the installation.',
    labels: {},
  },
  lunas_reconciliation_last_run_items: {
    type: 'gauge',
    process: 'worker',
    help: 'Coverage of the last reconciliation run.',
    labels: { result: ['seen', 'compared', 'indeterminate', 'unasked', 'breaks'] },
  },
} as const satisfies Readonly<Record<string, MetricDefinition>>;

export type MetricName = keyof typeof METRICS;

export type MetricNameOf<Type extends MetricDefinition['type']> = {
  [Name in MetricName]: (typeof METRICS)[Name]['type'] extends Type ? Name : never;
}[MetricName];

export type LabelsOf<Name extends MetricName> = Readonly<Record<keyof (typeof METRICS)[Name]['labels'], string>>;
