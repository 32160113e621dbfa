import {
  PAYMENT_TRANSITIONS,
  type PaymentStatus,
  type TransitionName,
  type TransitionRule,
} from '../../domain/payment-transitions';
import { reflectedAt } from '../../domain/provider-status';
import type { RefundStatus } from '../../domain/refund';
import { SUBJECT_TABLES } from './subjects';
import { closeNotificationsSql, compareAndSetSql, transitionStatement, type TransitionSubject } from './transition-sql';

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

const PAYMENT: TransitionSubject = { ...SUBJECT_TABLES.payment, eventBody };

/** The body of a webhook, its keys in the order of docs/contract.md#events. */
function eventBody(event: string): string {
  return `
    select changed.id, '${event}' as event, changed.reference_id,
      changed.merchant_reference_id, changed.status, :environment::text as environment,
      changed.amount_rupiah as amount, changed.fee_rupiah as fee_amount,
      changed.net_rupiah as net_amount, changed.total_rupiah as total_amount, changed.currency,
      changed.payment_method, changed.provider, iso_utc(changed.created_at) as created_at,
      iso_utc(changed.updated_at) as updated_at`;
}

const STATE_COLUMNS = ' changed.settlement_due_at as "settlesAt",';

const REFUND_COLUMNS = '\n  refund.number, refund.submit_at as "submitAt", refund.status as "refundStatus",';

/** A notification that another status reflects, such as `pending`, confirms nothing. */
const CONFIRMED_BY = `
  case (select min(notify_attempts) > 0 from notifications where reported_status = changed.status)
    when false then 'notification'
    when true then 'sweeper'
    else case when :at::timestamptz >= changed.expires_at then 'expiry' else 'query' end
  end as "confirmedBy",`;

/**
 * The statement of the transition that writes a new payment, with named parameters.
 * @param insert inserts the row of `payments` and returns it
 */
export function createStatement(insert: string): string {
  const create = { name: 'create', rule: PAYMENT_TRANSITIONS.create };
  return transitionStatement(PAYMENT, create, { change: `changed as (${insert}\n)`, columns: STATE_COLUMNS });
}

/** The statement of a transition from one status to another, with named parameters. It returns a `StateRow`. */
export function updateStatement(name: Exclude<TransitionName, 'create'>, sql: TransitionSql): string {
  const rule: TransitionRule = PAYMENT_TRANSITIONS[name];
  const refund = rule.refund ? refundSql(rule.refund, sql.refund ?? []) : '';
  const notifications = sql.closesNotificationsAt ? closeSql(sql.closesNotificationsAt, sql) : '';
  const columns = [STATE_COLUMNS, rule.refund ? REFUND_COLUMNS : '', sql.returnsConfirmation ? CONFIRMED_BY : ''];
  return transitionStatement(
    PAYMENT,
    { name, rule },
    {
      change: compareAndSetSql(PAYMENT, rule, sql.payment ?? []),
      effects: refund + notifications,
      columns: columns.join(''),
      joins: rule.refund ? ' left join refund on true' : '',
    },
  );
}

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

function closeSql(status: PaymentStatus, { returnsConfirmation }: TransitionSql): string {
  const result = '\n  returning provider_notifications.reported_status, provider_notifications.notify_attempts';
  return closeNotificationsSql(reflectedAt(status), returnsConfirmation ? result : '');
}
