import type { RecordedPayment } from '../../domain/reconciliation';
import type { LatePaymentStatus } from '../../domain/late-payment';
import type { Queryable } from '../pool';
import { stateOf, type StateRow } from '../transitions/payment-state';

const PAGE = 200;

/** A payment to be held against its provider and its workflow. */
export interface ReconciledPayment {
  readonly id: string;
  readonly referenceId: string;
  readonly providerAccountId: string;
  readonly recorded: RecordedPayment;
}

interface Row extends StateRow {
  readonly id: string;
  readonly referenceId: string;
  readonly providerAccountId: string;
  readonly totalRupiah: number;
  readonly settlementKind: 'automatic' | 'manual';
  readonly providerTransactionId: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly updatedAt: Date;
  readonly late: LatePaymentStatus | null;
  readonly isRefundedByHand: boolean;
}

const SELECT = `
  select payments.id, payments.reference_id as "referenceId", payments.provider_account_id as "providerAccountId",
    payments.status, payments.version, payments.settlement_due_at as "settlesAt", payments.total_rupiah as "totalRupiah",
    payments.settlement_kind as "settlementKind", payments.provider_transaction_id as "providerTransactionId",
    payments.created_at as "createdAt", payments.expires_at as "expiresAt", payments.updated_at as "updatedAt",
    refund.round, refund.submit_at as "submitAt", refund.status as "refundStatus", late_payments.status as late,
    coalesce(refund.status = 'confirmed' and refund.provider_reference is null,
      late_payments.status = 'refunded' and late_payments.provider_reference is null, false) as "isRefundedByHand"
  from payments
  left join late_payments on late_payments.payment_id = payments.id
  left join lateral (select * from refunds where payment_id = payments.id order by round desc limit 1) refund on true`;

/** Payments that are open, and those that changed since then, page by page in the order of their ids. */
export async function* listForReconciliation(db: Queryable, changedSince: Date): AsyncGenerator<ReconciledPayment> {
  let after = '00000000-0000-0000-0000-000000000000';
  for (;;) {
    const { rows } = await db.query<Row>({
      name: 'list_for_reconciliation',
      text: `${SELECT}
        where payments.id > $1 and (payments.updated_at >= $2
          or payments.status in ('created', 'pending', 'paid', 'refund_processing', 'refund_failed'))
        order by payments.id limit ${PAGE}`,
      values: [after, changedSince],
    });
    for (const row of rows) yield paymentOf(row);
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.id;
  }
}

/** The same of one payment, as it is now. */
export async function findForReconciliation(db: Queryable, paymentId: string): Promise<ReconciledPayment | undefined> {
  const { rows } = await db.query<Row>({
    name: 'find_for_reconciliation',
    text: `${SELECT} where payments.id = $1`,
    values: [paymentId],
  });
  return rows[0] && paymentOf(rows[0]);
}

/** Which of these ids no payment has. */
export async function listUnknownPayments(db: Queryable, paymentIds: readonly string[]): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>({
    name: 'list_unknown_payments',
    text: `select id from unnest($1::uuid[]) as asked (id)
      where not exists (select 1 from payments where payments.id = asked.id)`,
    values: [paymentIds],
  });
  return rows.map(({ id }) => id);
}

function paymentOf(row: Row): ReconciledPayment {
  const {
    id,
    referenceId,
    providerAccountId,
    totalRupiah,
    settlementKind,
    providerTransactionId,
    late,
    isRefundedByHand,
  } = row;
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
      isRefundedByHand,
      createdAtMs: row.createdAt.getTime(),
      expiresAtMs: row.expiresAt.getTime(),
      updatedAtMs: row.updatedAt.getTime(),
    },
  };
}
