import { eventOnEntering, type PaymentEvent } from '../../domain/events';
import type { LedgerLine } from '../../domain/ledger';
import { PAYMENT_TRANSITIONS, type PaymentStatus, type TransitionName } from '../../domain/payment-transitions';
import { reflectedAt } from '../../domain/provider-status';

/** updated_at never stands still: a step at the same instant as the last one counts a millisecond more. */
const TRANSITION_TIMESTAMP = "greatest($6::timestamptz, updated_at + interval '1 millisecond')";

/**
 * The effect of what the provider has notified us of is recorded with the step that it led to. What the new status does not
 * reflect stays open: it may be news that came after the provider was asked.
 */
export function closeNotificationsAt(status: PaymentStatus): string {
  return `
notifications as (
  update provider_notifications set closed_at = now()
  from changed
  where provider_notifications.provider_account_id = changed.provider_account_id
    and provider_notifications.reference_id = changed.reference_id
    and provider_notifications.closed_at is null
    and provider_notifications.reported_status in (${reflectedAt(status)
      .map((reported) => `'${reported}'`)
      .join(', ')})
),`;
}

export interface TransitionStatement {
  /** Of the prepared statement. */
  readonly name: string;
  readonly text: string;
}

/**
 * The statement of a step from one status to another: compare-and-set on status and version, and with it all that
 * belongs to the step. Parameters: $1 actor, $2 note, $3 environment label, $4 payment id, $5 version that it starts
 * from, $6 business instant; `assignments` and `parts` (further ones, `name as (…),`) use those from $7 on.
 */
export function updateStatement(
  name: Exclude<TransitionName, 'create'>,
  assignments: readonly string[] = [],
  parts = '',
): TransitionStatement {
  return transitionStatement(name, changedSql(name, assignments), parts);
}

/**
 * The statement of a step that concerns a refund: `change` inserts or updates its record, of which $7 is the round, and
 * the answer shows it.
 */
export function refundStatement(
  name: Exclude<TransitionName, 'create'>,
  change: string,
  parts = '',
): TransitionStatement {
  const refund = `
refund as (${change}
  returning refunds.number, refunds.submit_at, refunds.status
),`;
  const { columns, join } = REFUND_RETURNING;
  return transitionStatement(name, changedSql(name), refund + parts, columns, join);
}

const REFUND_RETURNING = {
  columns: ', refund.number, refund.submit_at as "submitAt", refund.status as "refundStatus"',
  join: ' left join refund on true',
} as const;

function changedSql(name: Exclude<TransitionName, 'create'>, assignments: readonly string[] = []): string {
  const rule = PAYMENT_TRANSITIONS[name];
  const set = [
    `status = '${rule.to}'`,
    'version = version + 1',
    `updated_at = ${TRANSITION_TIMESTAMP}`,
    ...assignments,
  ];
  return `
  update payments set ${set.join(', ')}
  where id = $4 and version = $5 and status = '${rule.from}'
  returning *`;
}

/**
 * `changed` writes the row of `payments` and returns it; in the same statement follow the history row, the ledger
 * posting, the webhook event with its exact body, and a delivery for each endpoint that wants it.
 * Answers one row (`StateRow`) when it applied, none when it did not.
 */
export function transitionStatement(
  name: TransitionName,
  changed: string,
  parts = '',
  columns = '',
  join = '',
): TransitionStatement {
  const rule = PAYMENT_TRANSITIONS[name];
  const isEntering = rule.from !== rule.to;
  const text = `
with changed as (${changed}
),
history as (
  insert into payment_transitions (payment_id, version, name, from_status, to_status, occurred_at, actor, note)
  select id, version, '${name}', ${rule.from === null ? 'null' : `'${rule.from}'`}, status, updated_at, $1, $2 from changed
),${postingOfTransitionSql(name)}${parts}${isEntering ? eventSql(eventOnEntering(rule.to)) : NO_EVENT}
select changed.status, changed.version, changed.settlement_due_at as "settlesAt"${columns},
  (select count(*) from deliveries where status = 'pending') as deliveries
from changed${join}`;
  return { name: `transition_${name}`, text };
}

/** The event with its exact body, and a delivery for each endpoint that wants it. */
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

/** A step that enters no status is nobody's news. ($3 has to occur somewhere.) */
const NO_EVENT = `
deliveries as (select null as status where $3::text is null)`;

/** The contract's webhook payload, keys in its order. */
function eventBodySql(event: PaymentEvent): string {
  return `
    select changed.id, '${event}' as event, changed.reference_id, changed.merchant_reference_id, changed.status,
      $3::text as environment, changed.amount_rupiah as amount, changed.fee_rupiah as fee_amount,
      changed.net_rupiah as net_amount, changed.total_rupiah as total_amount, changed.currency,
      changed.payment_method, changed.provider, iso_utc(changed.created_at) as created_at,
      iso_utc(changed.updated_at) as updated_at`;
}

function postingOfTransitionSql(name: TransitionName): string {
  return postingSql(PAYMENT_TRANSITIONS[name].posting, {
    columns: 'payment_id, payment_version, merchant_id, occurred_at',
    values: 'id, version, merchant_id, updated_at',
  });
}

/**
 * A posting of these lines, each over an amount of the row that the statement `changed`; nothing where there are none.
 * `key` says what it is the posting of.
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
  from posting, changed, lateral (values ${values.join(', ')}) as line (number, account, side, amount_rupiah)
  where line.amount_rupiah > 0
),`;
}
