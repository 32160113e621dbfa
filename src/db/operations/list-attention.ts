import { ACCOUNT_STOPS, type AccountStop } from '../../domain/exception-kinds';
import { EXPIRY_NOTICE_DAYS } from '../../domain/merchant-identity';
import { formatRupiah } from '../../domain/money';
import type { Queryable } from '../connection/pool';
import { literalList } from '../connection/statement';
import { CREATED_AT, STATUS } from '../payments/payment-indexes';
import {
  listPayoutsNeedingAttention,
  type PayoutAttentionReason,
  type PayoutNeedingAttention,
} from '../payouts/payouts-needing-attention';
import { LAST_RUNS } from './daily-runs';
import { MISSING_ROLES } from './missing-roles';
import { IS_SETTLED_BY_OPERATOR, IS_UNCONFIRMED_REFUND, OVERDUE } from './overdue-payments';
import { IS_WORKFLOW_ID } from './reconciliation-findings';
import { IS_RECOVERING } from './recovery-mode';

/** What waits for an operator, as PostgreSQL has it. */
export interface RecordedCase {
  readonly kind: RecordedCaseKind;
  /** What a command takes: a reference or an id; null if there is only one such case. */
  readonly subject: string | null;
  readonly merchantId: string | null;
  readonly since: Date;
  readonly detail: string | null;
  /** Cases of one kind and cause are one for an operator; null if the kind has one cause. */
  readonly cause: string | null;
  /** The reference or id of what a command repairs, if that is not the subject. */
  readonly about: string | null;
}

export type RecordedCaseKind = keyof typeof PARTS | `payout_${PayoutAttentionReason}`;

/** How many merchants with due settlements, returned payouts and dead deliveries are read. */
const READ_LIMIT = 1_000;

/** The merchants of a daily run that are named. */
const MAX_NAMES = 20;

const DEAD_SINCE = "now() - interval '7 days'";

/** An account that another one replaces is disabled for good. */
const REMEMBERED_FOR = "interval '7 days'";

/** A bank gives the name of a new account within seconds. */
const INQUIRY_GRACE = "interval '10 minutes'";

/** The payments that have stopped their provider account. */
const stopOf = (kind: AccountStop): string => `
    select reference_id, (select merchant_id from payments where id = payment_id), opened_at,
      'exception ' || id || ': ' || detail, provider_account_id::text as cause
    from exceptions where resolved_at is null and kind = '${kind}' order by opened_at limit $1`;

/**
 * Subject, merchant, since and detail of each kind, the oldest $1; some have a `cause` and an `about` too. Payments,
 * refunds, payouts, deliveries, exceptions and bank accounts are read by an index. The other tables have a row for each
 * merchant, endpoint, account or approval.
 */
const PARTS = {
  recovery_mode: `
    select null::text, null::uuid, coalesce(begun_at, now()), reason from recovery_mode where ${IS_RECOVERING}`,
  ledger_breaks: `
    select null::text, null::uuid, verified_at,
      break_count || case break_count when 1 then ' break' else ' breaks' end
    from (
      select * from ledger_verification_results order by id desc limit 1
    ) newest where break_count > 0`,
  audit_breaks: `
    select null::text, null::uuid, max(verified_at), string_agg(distinct what, ', ')
    from audit_verifications, unnest(breaks) what having count(*) > 0`,
  daily_run: `
    select kind, null::uuid, since, what from (${LAST_RUNS}) run cross join lateral (
      select finished_at as since,
        coalesce(failure, failed_count || ' failed: ' || array_to_string(failed[:${MAX_NAMES}], ', ')) as what
      where failed_count > 0 or failure is not null
      union all
      select completed_at, 'no complete run since then' where is_late
    ) found`,
  // Temporal has the polls of the other roles.
  role_missing: `
    select role, null::uuid, seen_at, 'no process of this role runs' from (${MISSING_ROLES}) missing
    where role not in ('payments', 'webhooks', 'payouts')`,
  payment_overdue: OVERDUE.map(
    ({ condition, order, dueAt }) => `(
    select reference_id, merchant_id, ${dueAt}, status, status as cause from payments
    where ${condition} order by ${order} limit $1)`,
  ).join(' union all '),
  refund_failed: `
    select reference_id, merchant_id, updated_at, refund.failure_reason
    from (select * from payments where ${STATUS} = 'refund_failed' order by ${CREATED_AT}, id limit $1) payments
      cross join lateral (
        select failure_reason from refunds where payment_id = payments.id order by number desc limit 1
      ) refund`,
  refund_unconfirmed: `
    select payments.reference_id, payments.merchant_id, refund.submitted_at, refund.refund_key
    from (
      select * from refunds where ${IS_UNCONFIRMED_REFUND} order by submitted_at limit $1
    ) refund join payments on payments.id = refund.payment_id`,
  settlement_due: `
    select null::text, merchant_id, due_at, 'manual settlement' from (
      with recursive waiting (merchant_id, due_at, position) as (
        (select merchant_id, settlement_due_at, 1 from payments
          where ${IS_SETTLED_BY_OPERATOR} order by merchant_id, settlement_due_at limit 1)
        union all
        select next.merchant_id, next.settlement_due_at, position + 1 from waiting cross join lateral (
          select merchant_id, settlement_due_at from payments
          where ${IS_SETTLED_BY_OPERATOR} and payments.merchant_id > waiting.merchant_id
          order by merchant_id, settlement_due_at limit 1
        ) next where position < ${READ_LIMIT}
      )
      select * from waiting where due_at <= now() order by due_at limit $1
    ) due`,
  exception: `
    select id::text, coalesce((select merchant_id from payments where id = payment_id),
      (select merchant_id from payouts where payouts.reference_id = exceptions.reference_id)), opened_at,
      kind || ' of ' || reference_id || ': ' || detail, concat_ws(' ', kind, cause) as cause,
      case when ${IS_WORKFLOW_ID} then right(reference_id, 36) else reference_id end as about
    from exceptions where resolved_at is null and kind not in (${literalList(ACCOUNT_STOPS)})
    order by opened_at limit $1`,
  foreign_qris: stopOf('foreign_qris'),
  changed_amount: stopOf('changed_amount'),
  approval: `
    select id::text, null::uuid, requested_at, action || ' of ' || target
    from approvals where status = 'approved' or (status = 'pending' and expires_at > now())
    order by requested_at limit $1`,
  merchant_pending: `
    select id::text, id, created_at, name from merchants where status = 'pending' order by created_at limit $1`,
  merchant_on_hold: `
    select id::text, id, held_at, name from merchants where held_at is not null order by held_at limit $1`,
  merchant_unidentified: `
    select id::text, id, created_at, name from merchants
    where is_production() and status = 'approved' and not exists (
      select from merchant_identities where merchant_id = merchants.id and in_force_from is not null
    ) order by created_at limit $1`,
  identity_expiring: `
    select merchant_id::text, merchant_id, (valid_until - ${EXPIRY_NOTICE_DAYS})::timestamptz,
      trading_name || ': its documents '
        || case when valid_until < booking_day(now()) then 'expired on ' else 'are valid until ' end || valid_until
    from (
      select distinct on (merchant_id) * from merchant_identities where in_force_from is not null
      order by merchant_id, version desc
    ) newest
    where valid_until <= booking_day(now()) + ${EXPIRY_NOTICE_DAYS}
    order by valid_until limit $1`,
  company_missing: `
    select null::text, null::uuid, min(since), 'no invoice of fees can be issued' from (
      select min(created_at) as since from merchants where is_production() and status = 'approved'
      union all
      select cut_at from fee_periods where issued_at is null
    ) wanted where since is not null and not exists (select from company_details) having count(*) > 0`,
  invoices_not_issued: `
    select to_char(month, 'YYYY-MM'), null::uuid, cut_at, 'the fees of the month were cut, and are not invoiced'
    from fee_periods where issued_at is null and exists (select from company_details) order by cut_at limit $1`,
  bank_account_to_approve: `
    select id::text, merchant_id, created_at, bank_code from bank_accounts
    where status = 'pending_approval' order by created_at, id limit $1`,
  bank_account_without_name: `
    select id::text, merchant_id, created_at, bank_code from bank_accounts
    where status = 'pending_inquiry' and created_at < now() - ${INQUIRY_GRACE}
    order by created_at, id limit $1`,
  payouts_stopped: `
    select null::text, null::uuid, changed_at, changed_by || ': ' || note
    from (select * from payout_stops order by id desc limit 1) newest where is_stopped`,
  account_disabled: `
    select id::text, null::uuid, coalesce(changed_at, created_at),
      coalesce(provider, 'payouts') || case when is_only then ': no other account is enabled' else '' end
        || coalesce(', by ' || (
          select actor from operator_actions where action = 'account.disable' and target = id::text
          order by operator_actions.id desc limit 1), ''),
      case when is_only then id::text end as cause
    from (
      select *, not exists (
        select from provider_accounts other
        where other.status = 'enabled' and other.purpose = account.purpose
          and other.provider is not distinct from account.provider) as is_only
      from provider_accounts account where status = 'disabled'
    ) disabled where is_only or changed_at > now() - ${REMEMBERED_FOR} order by 3 limit $1`,
  payout_returned: `
    select returned.reference_id, returned.merchant_id, returned.updated_at, account.bank_code
    from (select * from payouts where status = 'returned' order by updated_at desc limit ${READ_LIMIT}) returned
      join bank_accounts account on account.id = returned.bank_account_id
    where account.status = 'active' and account.usable_from < returned.updated_at and not exists (
      select from payouts newer
      where newer.merchant_id = returned.merchant_id and newer.bank_account_id = account.id
        and newer.status in ('completed', 'returned') and newer.requested_at > returned.requested_at
    ) order by returned.updated_at limit $1`,
  endpoint_failing: `
    select endpoint.id::text, endpoint.merchant_id, failing_since, url || coalesce(' of ' || merchant.contact, '')
    from webhook_endpoints endpoint join merchants merchant on merchant.id = endpoint.merchant_id
    where endpoint.status = 'enabled' and next_probe_at is not null order by failing_since limit $1`,
  webhooks_dead: `
    select endpoint.id::text, endpoint.merchant_id, min(dead.created_at), count(*) || ' to ' || endpoint.url
    from (
      select endpoint_id, created_at from webhook_deliveries
      where status = 'dead' and created_at >= ${DEAD_SINCE} order by created_at limit ${READ_LIMIT}
    ) dead join webhook_endpoints endpoint on endpoint.id = dead.endpoint_id
    where endpoint.status = 'enabled' group by endpoint.id order by 3 limit $1`,
} as const;

const STATEMENTS = Object.entries(PARTS).map(([kind, part]) => ({
  name: `list_cases_${kind}`,
  text: `
    select '${kind}' as kind, subject, merchant_id as "merchantId", since, detail,
      to_jsonb(part) ->> 'cause' as cause, to_jsonb(part) ->> 'about' as about
    from (${part}) part (subject, merchant_id, since, detail) order by since limit $1`,
}));

/** The provider accounts of payments and payouts, by their reference. */
export async function findAccountsOf(
  db: Queryable,
  references: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (references.length === 0) return new Map();
  const { rows } = await db.query<{ referenceId: string; accountId: string }>({
    name: 'find_accounts_of',
    text: ['payments', 'payouts']
      .map(
        (table) => `select reference_id as "referenceId", provider_account_id as "accountId"
          from ${table} where reference_id = any ($1)`,
      )
      .join(' union all '),
    values: [references],
  });
  return new Map(rows.map(({ referenceId, accountId }) => [referenceId, accountId]));
}

/** At most `limit` of each kind, the oldest first. Each kind has a statement, so that each is planned by itself. */
export async function listRecordedCases(db: Queryable, limit: number): Promise<RecordedCase[]> {
  const found = await Promise.all([
    ...STATEMENTS.map(async (statement) => (await db.query<RecordedCase>({ ...statement, values: [limit] })).rows),
    listPayoutsNeedingAttention(db, new Date(), limit).then((payouts) => payouts.map(caseOf)),
  ]);
  return found.flat().toSorted((one, other) => one.since.getTime() - other.since.getTime());
}

function caseOf({
  reason,
  referenceId,
  merchantId,
  since,
  obstacle,
  amountRupiah,
}: PayoutNeedingAttention): RecordedCase {
  const detail = reason === 'deferred' && obstacle ? obstacle.replaceAll('_', ' ') : formatRupiah(amountRupiah);
  return { kind: `payout_${reason}`, subject: referenceId, merchantId, since, detail, cause: null, about: null };
}
