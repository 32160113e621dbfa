import { eventOnEntering, type PaymentEvent } from '../../domain/events';
import type { LedgerLine } from '../../domain/ledger';
import {
  PAYMENT_TRANSITIONS,
  type PaymentStatus,
  type TransitionName,
  type TransitionRule,
} from '../../domain/payment-transitions';
import { reflectedAt } from '../../domain/provider-status';
import type { RefundStatus } from '../../domain/refund';
import { literalList } from '../connection/statement';

/** What a transition writes beyond what its row of `PAYMENT_TRANSITIONS` implies. */
export interface TransitionSql {
  /** Further assignments to the payment's row. */
  readonly payment?: readonly string[];
  /** Further assignments to the refund's row. */
  readonly refund?: readonly string[];
  /** Closes the notifications of the provider order that a payment in this status reflects. */
  readonly closesNotificationsAt?: PaymentStatus;
  /** Returns what made the provider's status known, as `confirmedBy`. It closes notifications, too. */
  readonly returnsConfirmation?: boolean;
}

/** A notification that another status reflects, such as `pending`, confirms nothing. */
const CONFIRMED_BY = `
  case (select min(notify_attempts) > 0 from notifications where reported_status = changed.status)
    when false then 'notification'
    when true then 'sweeper'
    else case when :at::timestamptz >= changed.expires_at then 'expiry' else 'query' end
  end as "confirmedBy",`;

/**
 * The statement of a transition from one status to another, with named parameters: compare-and-set on status and
 * version, and everything else that `transitionStatement` writes.
 */
export function updateStatement(name: Exclude<TransitionName, 'create'>, sql: TransitionSql): string {
  const rule: TransitionRule = PAYMENT_TRANSITIONS[name];
  const assignments = [
    `status = '${rule.to}'`,
    'version = version + 1',
    `updated_at = ${UPDATED_AT}`,
    ...(sql.payment ?? []),
  ];
  const changed = `
  update payments set ${assignments.join(',\n    ')}
  where id = :paymentId and version = :version and status = '${rule.from}'
  returning *`;
  const refund = rule.refund ? refundSql(rule.refund, sql.refund ?? []) : '';
  const notifications = sql.closesNotificationsAt ? closeNotificationsSql(sql.closesNotificationsAt, sql) : '';
  const parts = refund + notifications;
  return transitionStatement(name, changed, { parts, columns: sql.returnsConfirmation ? CONFIRMED_BY : '' });
}

/** `updated_at` always increases: two transitions with the same timestamp differ by one millisecond. */
const UPDATED_AT = "greatest(:at::timestamptz, updated_at + interval '1 millisecond')";

/** The column with the time at which a refund entered the status. */
const ENTERED_AT = {
  held: 'requested_at',
  submitted: 'submitted_at',
  confirmed: 'finished_at',
  rejected: 'finished_at',
  cancelled: 'finished_at',
} as const satisfies Record<RefundStatus, string>;

function refundSql({ from, to }: NonNullable<TransitionRule['refund']>, further: readonly string[]): string {
  const assignments = [`status = '${to}'`, `${ENTERED_AT[to]} = changed.updated_at`, ...further];
  const change =
    from === null
      ? `
  insert into refunds
    (payment_id, number, refund_key, amount_rupiah, status, ${ENTERED_AT[to]}, submit_at, requested_by)
  select id, :refundNumber, :refundKey, total_rupiah, '${to}', updated_at,
    :at::timestamptz + :holdSeconds * interval '1 second', :requestedBy
  from changed`
      : `
  update refunds set ${assignments.join(', ')}
  from changed where refunds.payment_id = changed.id and refunds.number = :refundNumber`;
  return `
refund as (${change}
  returning refunds.number, refunds.submit_at, refunds.status
),`;
}

/**
 * The transition is the effect of these notifications, so the same statement closes them. A notification that the
 * status does not reflect stays open: it may have arrived after the status query.
 */
function closeNotificationsSql(status: PaymentStatus, { returnsConfirmation }: TransitionSql): string {
  const result = '\n  returning provider_notifications.reported_status, provider_notifications.notify_attempts';
  const returning = returnsConfirmation ? result : '';
  return `
notifications as (
  update provider_notifications set closed_at = now()
  from changed
  where provider_notifications.provider_account_id = changed.provider_account_id
    and provider_notifications.reference_id = changed.reference_id
    and provider_notifications.closed_at is null
    and provider_notifications.reported_status in (${literalList(reflectedAt(status))})${returning}
),`;
}

/**
 * `changed` writes the row of `payments` and returns it. The same statement writes the history row, the ledger posting,
 * the webhook event with its exact body, and a delivery for each endpoint that subscribes to it.
 * The result is one row (`StateRow`) if the transition was applied, else none.
 */
export function transitionStatement(name: TransitionName, changed: string, { parts = '', columns = '' } = {}): string {
  const rule: TransitionRule = PAYMENT_TRANSITIONS[name];
  const posting = postingSql(rule.posting, {
    columns: 'payment_id, payment_version, merchant_id, occurred_at',
    values: 'id, version, merchant_id, updated_at',
  });
  const from = rule.from === null ? 'null' : `'${rule.from}'`;
  const refundColumns = '\n  refund.number, refund.submit_at as "submitAt", refund.status as "refundStatus",';
  const further = (rule.refund ? refundColumns : '') + columns;
  return `
with changed as (${changed}
),
history as (
  insert into payment_transitions
    (payment_id, version, name, from_status, to_status, occurred_at, actor, note, request_id, traceparent)
  select id, version, '${name}', ${from}, status, updated_at, :actor, :note, :requestId, :traceparent from changed
),${posting}${parts}${rule.from === rule.to ? NO_EVENT : eventSql(eventOnEntering(rule.to))}
select changed.status, changed.version, changed.settlement_due_at as "settlesAt",${further}
  (select count(*) from deliveries where status = 'pending') as deliveries
from changed${rule.refund ? ' left join refund on true' : ''}`;
}

/** The event with its exact body, and a delivery for each endpoint that subscribes to it. */
function eventSql(event: PaymentEvent): string {
  return `
event as (
  insert into webhook_events (payment_id, payment_version, event, body, occurred_at)
  select id, version, '${event}', (select row_to_json(body)::text from (${eventBodySql(event)}) body), updated_at
  from changed
),
deliveries as (
  insert into webhook_deliveries
    (id, payment_id, payment_version, endpoint_id, merchant_id, status, dead_reason, finished_at)
  select gen_random_uuid(), changed.id, changed.version, endpoint.id, changed.merchant_id,
    case endpoint.status when 'enabled' then 'pending' else 'dead' end,
    case endpoint.status when 'disabled' then 'endpoint_disabled' end,
    case endpoint.status when 'disabled' then now() end
  from changed join webhook_endpoints endpoint on endpoint.merchant_id = changed.merchant_id
  where endpoint.events is null or '${event}' = any (endpoint.events)
  returning status
)`;
}

/** A transition that enters no status is no event. PostgreSQL rejects a parameter that no expression uses. */
const NO_EVENT = `
deliveries as (select null as status where :environment::text is null)`;

/** The body of a webhook, its keys in the order of docs/contract.md#events. */
function eventBodySql(event: PaymentEvent): string {
  return `
    select changed.id, '${event}' as event, changed.reference_id,
      changed.merchant_reference_id, changed.status, :environment::text as environment,
      changed.amount_rupiah as amount, changed.fee_rupiah as fee_amount,
      changed.net_rupiah as net_amount, changed.total_rupiah as total_amount, changed.currency,
      changed.payment_method, changed.provider, iso_utc(changed.created_at) as created_at,
      iso_utc(changed.updated_at) as updated_at`;
}

/**
 * A posting of these lines, each over an amount of the row in `changed`; empty if there are no lines.
 * @param key the columns that identify the posting, and their values
 */
export function postingSql(
  lines: readonly LedgerLine[],
  key: { readonly columns: string; readonly values: string },
): string {
  if (lines.length === 0) return '';
  const values = lines.map(
    (line, index) => `(${index + 1}, '${line.account}', '${line.side}', changed.${line.amount}_rupiah)`,
  );
  return `
posting as (
  insert into ledger_postings (${key.columns})
  select ${key.values} from changed
  returning id
),
entries as (
  insert into ledger_entries (posting_id, line, account, side, amount_rupiah)
  select posting.id, line.number, line.account, line.side, line.amount_rupiah
  from posting, changed, lateral (values
    ${values.join(',\n    ')}
  ) as line (number, account, side, amount_rupiah)
  where line.amount_rupiah > 0
),`;
}
