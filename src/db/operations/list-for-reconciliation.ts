import { OPEN_LATE_PAYMENT_STATUSES, type LatePaymentStatus } from '../../domain/late-payment';
import type { PaymentTerms } from '../../domain/payment';
import type { PaymentStatus } from '../../domain/payment-transitions';
import type { RecordedPayment } from '../../domain/reconciliation';
import type { Queryable } from '../connection/pool';
import { literalList } from '../connection/statement';
import { IS_FINAL, IS_OPEN } from '../payments/payment-indexes';
import { LATEST_REFUND, STATE_COLUMNS, stateOf, type StateRow } from '../transitions/payment-state';

/* Reconciliation reads keyset pages over partial indexes: the cost of a page does not depend on the number of rows. */

export const RECONCILED_PAGE = 200;

/** Some items and the cursor of the next page; null if there is none. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}

/** A payment that is compared with its provider and its workflow. */
export interface ReconciledPayment {
  readonly id: string;
  readonly referenceId: string;
  readonly providerAccountId: string;
  readonly recorded: RecordedPayment;
}

type SelectedColumn =
  'totalRupiah' | 'settlementKind' | 'providerTransactionId' | 'late' | 'isManuallyRefunded' | 'isMerchantOnHold';

interface Row extends StateRow, Omit<ReconciledPayment, 'recorded'>, Pick<RecordedPayment, SelectedColumn> {
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly updatedAt: Date;
  readonly refundSubmittedAt: Date | null;
}

const SELECT = `
  select payments.id, payments.reference_id as "referenceId", payments.provider_account_id as "providerAccountId",
    ${STATE_COLUMNS}, payments.total_rupiah as "totalRupiah",
    payments.settlement_kind as "settlementKind", payments.provider_transaction_id as "providerTransactionId",
    payments.created_at as "createdAt", payments.expires_at as "expiresAt", payments.updated_at as "updatedAt",
    late_payments.status as late, refund.submitted_at as "refundSubmittedAt",
    coalesce(refund.is_manual, false) or coalesce(late_payments.is_manual, false) as "isManuallyRefunded",
    merchants.held_at is not null as "isMerchantOnHold"
  from payments
  join merchants on merchants.id = payments.merchant_id
  left join late_payments on late_payments.payment_id = payments.id
  ${LATEST_REFUND}`;

/** All provider accounts of payments. Disabled ones can still have open payments. */
export async function listProviderAccountIds(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>({
    name: 'list_provider_account_ids',
    text: "select id from provider_accounts where purpose = 'payments' order by created_at, id",
  });
  return rows.map(({ id }) => id);
}

/** The calls per second that a provider account allows; null: no limit. */
export async function findCallLimit(db: Queryable, accountId: string): Promise<number | null> {
  const { rows } = await db.query<{ callsPerSecond: number | null }>({
    name: 'find_call_limit',
    text: 'select calls_per_second as "callsPerSecond" from provider_accounts where id = $1',
    values: [accountId],
  });
  return rows[0]?.callsPerSecond ?? null;
}

/** Open payments of a provider account, in the order of their ids. */
export async function readOpenPayments(
  db: Queryable,
  accountId: string,
  after: string | null,
): Promise<Page<ReconciledPayment>> {
  const { rows } = await db.query<Row>({
    name: 'read_open_payments',
    text: `${SELECT}
      where payments.provider_account_id = $1 and payments.id > $2
        and ${IS_OPEN}
      order by payments.provider_account_id, payments.id limit ${RECONCILED_PAGE}`,
    values: [accountId, after ?? BEFORE_ALL],
  });
  return pageOf(rows.map(paymentOf), rows, ({ id }) => id);
}

/** Payments of a provider account that became final since then, oldest change first. */
export async function readFinalPayments(
  db: Queryable,
  accountId: string,
  changedSince: Date,
  after: string | null,
): Promise<Page<ReconciledPayment>> {
  const [updatedAt = changedSince.toISOString(), id = BEFORE_ALL] = after?.split(' ') ?? [];
  const { rows } = await db.query<Row>({
    name: 'read_final_payments',
    text: `${SELECT}
      where payments.provider_account_id = $1 and (payments.updated_at, payments.id) > ($2, $3)
        and ${IS_FINAL}
      order by payments.provider_account_id, payments.updated_at, payments.id limit ${RECONCILED_PAGE}`,
    values: [accountId, updatedAt, id],
  });
  return pageOf(rows.map(paymentOf), rows, (row) => `${row.updatedAt.toISOString()} ${row.id}`);
}

/** One payment, as it is now. */
export async function findForReconciliation(db: Queryable, paymentId: string): Promise<ReconciledPayment | undefined> {
  const { rows } = await db.query<Row>({
    name: 'find_for_reconciliation',
    text: `${SELECT} where payments.id = $1`,
    values: [paymentId],
  });
  return rows[0] && paymentOf(rows[0]);
}

/** The payment that a break belongs to. */
export type ReconciledOrder = Pick<PaymentTerms, 'paymentId' | 'referenceId' | 'providerAccountId' | 'totalRupiah'>;

const ORDER_COLUMNS = `payments.id as "paymentId", payments.reference_id as "referenceId",
  payments.provider_account_id as "providerAccountId", payments.total_rupiah as "totalRupiah"`;

export interface UnfinishedLatePayment extends ReconciledOrder {
  readonly status: LatePaymentStatus;
  /** Since when the late payment has this status. */
  readonly since: Date;
}

/** Late payments whose refund is not final, in the order of their ids. */
export async function readUnfinishedLatePayments(
  db: Queryable,
  after: string | null,
): Promise<Page<UnfinishedLatePayment>> {
  const { rows } = await db.query<UnfinishedLatePayment>({
    name: 'read_unfinished_late_payments',
    text: `select ${ORDER_COLUMNS}, late_payments.status,
        coalesce(late_payments.submitted_at, late_payments.received_at) as since
      from late_payments join payments on payments.id = late_payments.payment_id
      where late_payments.payment_id > $1 and late_payments.status in (${literalList(OPEN_LATE_PAYMENT_STATUSES)})
      order by late_payments.payment_id limit ${RECONCILED_PAGE}`,
    values: [after ?? BEFORE_ALL],
  });
  return pageOf(rows, rows, ({ paymentId }) => paymentId);
}

export interface RetriedDelivery extends Omit<ReconciledOrder, 'paymentId'> {
  readonly deliveryId: string;
  /** The payment or the payout that it is about. */
  readonly subjectId: string;
  /** Null: it is about a payout. */
  readonly paymentId: string | null;
  readonly endpointId: string;
}

/** Webhook deliveries whose retry workflow was started before this time. */
export async function readRetriedDeliveries(
  db: Queryable,
  startedBefore: Date,
  after: string | null,
): Promise<Page<RetriedDelivery>> {
  const [endpointId = BEFORE_ALL, deliveryId = BEFORE_ALL] = after?.split(' ') ?? [];
  const { rows } = await db.query<RetriedDelivery & { isDue: boolean }>({
    name: 'read_retried_deliveries',
    text: `select payments.id as "paymentId", coalesce(payments.id, payouts.id) as "subjectId",
        coalesce(payments.reference_id, payouts.reference_id) as "referenceId",
        coalesce(payments.provider_account_id, payouts.provider_account_id) as "providerAccountId",
        coalesce(payments.total_rupiah, payouts.amount_rupiah) as "totalRupiah",
        delivery.id as "deliveryId", delivery.endpoint_id as "endpointId",
        delivery.retry_workflow_started_at < $3 as "isDue"
      from webhook_deliveries delivery
        left join payments on payments.id = delivery.payment_id
        left join payouts on payouts.id = delivery.payout_id
      where delivery.status = 'pending' and delivery.retry_workflow_started_at is not null
        and (delivery.endpoint_id, delivery.id) > ($1, $2)
      order by delivery.endpoint_id, delivery.id limit ${RECONCILED_PAGE}`,
    values: [endpointId, deliveryId, startedBefore],
  });
  const due = rows.filter(({ isDue }) => isDue);
  return pageOf(due, rows, (row) => `${row.endpointId} ${row.deliveryId}`);
}

/** Whether a retry workflow still has the delivery. */
export async function isRetried(db: Queryable, deliveryId: string): Promise<boolean> {
  const { rowCount } = await db.query({
    name: 'is_retried',
    text: `select from webhook_deliveries
      where id = $1 and status = 'pending' and retry_workflow_started_at is not null`,
    values: [deliveryId],
  });
  return rowCount === 1;
}

export interface RecordedStatus extends ReconciledOrder {
  readonly status: PaymentStatus;
  readonly updatedAt: Date;
}

/** The payments among these that exist. */
export async function findRecordedStatuses(db: Queryable, paymentIds: readonly string[]): Promise<RecordedStatus[]> {
  const { rows } = await db.query<RecordedStatus>({
    name: 'find_recorded_statuses',
    text: `select ${ORDER_COLUMNS}, payments.status, payments.updated_at as "updatedAt"
      from payments where id = any ($1::uuid[])`,
    values: [paymentIds],
  });
  return rows;
}

const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

/** The last row determines the cursor. A page that is not full is the last one. */
/** A page that is not full is the last one. */
export function pageOf<T, R>(items: readonly T[], rows: readonly R[], cursorOf: (row: R) => string): Page<T> {
  const last = rows.at(-1);
  return { items, next: last && rows.length === RECONCILED_PAGE ? cursorOf(last) : null };
}

function paymentOf(row: Row): ReconciledPayment {
  const { id, referenceId, providerAccountId, totalRupiah, settlementKind, providerTransactionId, late } = row;
  return {
    id,
    referenceId,
    providerAccountId,
    recorded: {
      state: stateOf(row),
      totalRupiah,
      settlementKind,
      providerTransactionId,
      late,
      refundSubmittedAtMs: row.refundSubmittedAt?.getTime() ?? null,
      isManuallyRefunded: row.isManuallyRefunded,
      isMerchantOnHold: row.isMerchantOnHold,
      createdAtMs: row.createdAt.getTime(),
      expiresAtMs: row.expiresAt.getTime(),
      updatedAtMs: row.updatedAt.getTime(),
    },
  };
}
