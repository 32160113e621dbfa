import type { LedgerLine } from '../../domain/ledger';
import { literalList } from '../connection/statement';
import type { SubjectTables, TransitionTables } from './subjects';

/** A kind of subject, as the statements of its transitions need it. */
export interface TransitionSubject extends TransitionTables {
  /** Selects the body of an event from `changed`, keys in their order. */
  readonly eventBody: (event: string) => string;
}

/** A row of a kind's table of transitions. */
interface NamedRule {
  readonly name: string;
  readonly rule: {
    readonly from: string | null;
    readonly to: string;
    readonly posting: readonly LedgerLine<string>[];
  };
}

/** The parts of a statement that its kind of subject writes itself. */
interface OwnParts {
  /** Writes the subject's row as `changed`, with all its columns. What it reads may be before it. */
  readonly change: string;
  /** What else the transition writes, each part with a comma behind it. */
  readonly effects?: string;
  /** What the statement returns besides status, version and deliveries, each with a comma behind it. */
  readonly columns: string;
  /** Joins of `changed` to what `columns` names. */
  readonly joins?: string;
}

/**
 * The statement of a transition: `change` writes the subject's row. The same statement writes the history row, the
 * ledger posting, the webhook event with its exact body, and a delivery for each endpoint that subscribes to it.
 * The result is one row if the transition was applied, else none.
 */
export function transitionStatement(subject: TransitionSubject, { name, rule }: NamedRule, own: OwnParts): string {
  const posting = postingSql(rule.posting, {
    columns: `${subject.idColumn}, ${subject.versionColumn}, merchant_id, occurred_at`,
    values: 'id, version, merchant_id, updated_at',
  });
  const from = rule.from === null ? 'null' : `'${rule.from}'`;
  return `
with ${own.change},
history as (
  insert into ${subject.transitions}
    (${subject.idColumn}, version, name, from_status, to_status, occurred_at, actor, note, request_id, traceparent)
  select id, version, '${name}', ${from}, status, updated_at, :actor, :note, :requestId, :traceparent from changed
),${posting}${own.effects ?? ''}${rule.from === rule.to ? NO_EVENT : eventSql(subject, `${subject.kind}.${rule.to}`)}
select changed.status, changed.version,${own.columns}
  (select count(*) from deliveries where status = 'pending') as deliveries
from changed${own.joins ?? ''}`;
}

/**
 * The change from one status to another: compare-and-set on status and version.
 * @param condition what has to be true besides
 */
export function compareAndSetSql(
  { table, kind }: SubjectTables,
  { from, to }: NamedRule['rule'],
  further: readonly string[],
  condition?: string,
): string {
  const assignments = [`status = '${to}'`, 'version = version + 1', `updated_at = ${UPDATED_AT}`, ...further];
  const besides = condition === undefined ? '' : ` and ${condition}`;
  return `changed as (
  update ${table} set ${assignments.join(',\n    ')}
  where id = :${kind}Id and version = :version and status = '${from}'${besides}
  returning *
)`;
}

/** `updated_at` always increases: two transitions with the same timestamp differ by one millisecond. */
const UPDATED_AT = "greatest(:at::timestamptz, updated_at + interval '1 millisecond')";

/** The event with its exact body, and a delivery for each endpoint that subscribes to it. */
function eventSql({ events, idColumn, versionColumn, eventBody }: TransitionSubject, event: string): string {
  return `
event as (
  insert into ${events} (${idColumn}, ${versionColumn}, event, body, occurred_at)
  select id, version, '${event}', (select row_to_json(body)::text from (${eventBody(event)}) body), updated_at
  from changed
),
deliveries as (
  insert into webhook_deliveries
    (id, ${idColumn}, ${versionColumn}, endpoint_id, merchant_id, event, status, dead_reason, finished_at)
  select gen_random_uuid(), changed.id, changed.version, delivery.*
  from changed cross join deliveries_of_event(changed.merchant_id, '${event}') delivery
  returning status
)`;
}

/** A transition that enters no status is no event. PostgreSQL rejects a parameter that no expression uses. */
const NO_EVENT = `
deliveries as (select null as status where :environment::text is null)`;

/**
 * The transition is the effect of these notifications, so the same statement closes them. A notification that the
 * status does not reflect stays open: it may have arrived after the status query.
 * @param reported the reported statuses that the new status reflects
 */
export function closeNotificationsSql(reported: readonly string[], returning = ''): string {
  return `
notifications as (
  update provider_notifications set closed_at = now()
  from changed
  where provider_notifications.provider_account_id = changed.provider_account_id
    and provider_notifications.reference_id = changed.reference_id
    and provider_notifications.closed_at is null
    and provider_notifications.reported_status in (${literalList(reported)})${returning}
),`;
}

const amountSql = (amount: string) =>
  amount === 'feeNet' ? 'changed.fee_rupiah - changed.vat_rupiah' : `changed.${amount}_rupiah`;

/**
 * A posting of these lines, each over an amount of the row in `changed`; empty if there are no lines.
 * @param key the columns that identify the posting, and their values
 */
export function postingSql(
  lines: readonly LedgerLine<string>[],
  key: { readonly columns: string; readonly values: string },
): string {
  if (lines.length === 0) return '';
  const values = lines.map(
    (line, index) => `(${index + 1}, '${line.account}', '${line.side}', ${amountSql(line.amount)})`,
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
