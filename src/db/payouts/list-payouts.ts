import { validate as isUuid, MAX as MAX_ID } from 'uuid';
import type { BalanceTransactionKind } from '../../domain/balance';
import type { PayoutFailureKind } from '../../domain/bank-payout';
import type { ApprovalKind } from '../../domain/payout';
import type { PaidLines } from '../../domain/payout-preview';
import type { Rail } from '../../domain/payout-rails';
import type { PayoutStatus, PayoutTransitionName } from '../../domain/payout-transitions';
import type { Queryable } from '../connection/pool';
import { userNameSql } from '../identity/users';

/** A payout as members and operators see it. */
export interface Payout {
  readonly id: string;
  readonly referenceId: string;
  readonly merchantId: string;
  readonly grossRupiah: number;
  readonly feeRupiah: number;
  /** What the merchant receives. */
  readonly amountRupiah: number;
  readonly rail: Rail;
  readonly bankAccountId: string;
  readonly bankCode: string;
  readonly lastFour: string;
  readonly lineCount: number;
  readonly status: PayoutStatus;
  readonly version: number;
  readonly approvalKind: ApprovalKind;
  /** Who: `user:<id>`, `schedule`, or as in the audit log of operators. */
  readonly requestedBy: string;
  /** Null: another actor did. */
  readonly requesterName: string | null;
  readonly approvedBy: string | null;
  readonly approverName: string | null;
  readonly requestedAt: Date;
  readonly submittedAt: Date | null;
  readonly finishedAt: Date | null;
  readonly updatedAt: Date;
  readonly bankReference: string | null;
  readonly failureKind: PayoutFailureKind | null;
  readonly failureReason: string | null;
  /** An operator resolved it with other evidence than the bank's status. */
  readonly isManual: boolean;
}

const columnsWith = (
  nameSql: (actorColumn: string) => string,
) => `payout.id, payout.reference_id as "referenceId", payout.merchant_id as "merchantId",
  payout.gross_rupiah as "grossRupiah", payout.fee_rupiah as "feeRupiah", payout.amount_rupiah as "amountRupiah",
  payout.rail, payout.bank_account_id as "bankAccountId", account.bank_code as "bankCode",
  account.last_four as "lastFour", payout.line_count as "lineCount", payout.status, payout.version,
  payout.approval_kind as "approvalKind", payout.requested_by as "requestedBy",
  ${nameSql('payout.requested_by')} as "requesterName", payout.approved_by as "approvedBy",
  ${nameSql('payout.approved_by')} as "approverName", payout.requested_at as "requestedAt",
  payout.submitted_at as "submittedAt", payout.finished_at as "finishedAt", payout.updated_at as "updatedAt",
  payout.bank_reference as "bankReference",
  payout.failure_kind as "failureKind", payout.failure_reason as "failureReason", payout.is_manual as "isManual"`;
const COLUMNS = columnsWith(userNameSql);
/** Operators see the ids of users: the role of the operator API may not read their names. */
const OPERATOR_COLUMNS = columnsWith(() => 'null::text');
const FROM = 'from payouts payout join bank_accounts account on account.id = payout.bank_account_id';

export interface PayoutPosition {
  readonly requestedAt: Date;
  readonly id: string;
}

export interface PayoutFilter {
  readonly merchantId: string;
  /** Null: every status. */
  readonly status: PayoutStatus | null;
  /** The first and the last time of a request; null: no limit. */
  readonly from: Date | null;
  readonly to: Date | null;
  /** The page begins after this payout; null: with the newest one. */
  readonly after: PayoutPosition | null;
  readonly limit: number;
}

/** The payouts of a merchant, the newest first. */
export async function listPayoutRows(
  db: Queryable,
  { merchantId, status, from, to, after, limit }: PayoutFilter,
): Promise<Payout[]> {
  const { rows } = await db.query<Payout>({
    name: 'list_payouts',
    text: `select ${COLUMNS} ${FROM}
      where payout.merchant_id = $1 and ($2::text is null or payout.status = $2)
        and payout.requested_at >= coalesce($6, '-infinity'::timestamptz)
        and payout.requested_at <= coalesce($7, 'infinity'::timestamptz)
        and (payout.requested_at, payout.id) < (coalesce($3, 'infinity'::timestamptz), $4::uuid)
      order by payout.requested_at desc, payout.id desc limit $5`,
    values: [merchantId, status, after?.requestedAt, after?.id ?? MAX_ID, limit, from, to],
  });
  return rows;
}

export interface AllPayoutsFilter extends Pick<PayoutFilter, 'status' | 'limit'> {
  /** Null: of every merchant. */
  readonly merchantId: string | null;
  /** Only these; null: all. */
  readonly ids: readonly string[] | null;
}

/** The payouts of all merchants, the newest first, for operators. */
export async function listAllPayoutRows(
  db: Queryable,
  { merchantId, status, ids, limit }: AllPayoutsFilter,
): Promise<Payout[]> {
  const { rows } = await db.query<Payout>(
    `select ${OPERATOR_COLUMNS} ${FROM}
     where ($1::uuid is null or payout.merchant_id = $1) and ($2::text is null or payout.status = $2)
       and ($3::uuid[] is null or payout.id = any ($3))
     order by payout.requested_at desc, payout.id desc limit $4`,
    [merchantId, status, ids, limit],
  );
  return rows;
}

/**
 * By its id or its reference; undefined if the merchant has no such payout.
 * @param merchantId null: whatever the merchant is, for operators
 */
export async function findPayoutRow(
  db: Queryable,
  merchantId: string | null,
  idOrReference: string,
): Promise<Payout | undefined> {
  const { rows } = await db.query<Payout>({
    name: merchantId === null ? 'find_payout_of_any_merchant' : 'find_payout',
    text: `select ${merchantId === null ? OPERATOR_COLUMNS : COLUMNS} ${FROM}
      where ($1::uuid is null or payout.merchant_id = $1) and (payout.id = $2 or payout.reference_id = $3)`,
    values: [merchantId, isUuid(idOrReference) ? idOrReference : null, idOrReference],
  });
  return rows[0];
}

/** A transition of a payout. */
export interface PayoutHistoryRow {
  /** The version of the payout after it. */
  readonly version: number;
  readonly name: PayoutTransitionName;
  readonly fromStatus: PayoutStatus | null;
  readonly toStatus: PayoutStatus;
  readonly occurredAt: Date;
  readonly actor: string;
  /** Null: the actor is no user. */
  readonly actorName: string | null;
  readonly note: string | null;
}

/** Oldest first. */
export function listPayoutSteps(db: Queryable, payoutId: string): Promise<PayoutHistoryRow[]> {
  return readSteps(db, payoutId, { name: 'list_payout_steps', actorName: userNameSql('actor') });
}

/** The steps of a payout without names of users. */
export function listOperatorPayoutSteps(db: Queryable, payoutId: string): Promise<PayoutHistoryRow[]> {
  return readSteps(db, payoutId, { name: 'list_operator_payout_steps', actorName: 'null::text' });
}

async function readSteps(
  db: Queryable,
  payoutId: string,
  { name, actorName }: { readonly name: string; readonly actorName: string },
): Promise<PayoutHistoryRow[]> {
  const { rows } = await db.query<PayoutHistoryRow>({
    name,
    text: `select version, name, from_status as "fromStatus", to_status as "toStatus", occurred_at as "occurredAt",
        actor, ${actorName} as "actorName", note
      from payout_transitions where payout_id = $1 order by version`,
    values: [payoutId],
  });
  return rows;
}

/** A change of the balance that a payout has paid. */
export interface PayoutLine {
  readonly postingId: number;
  readonly kind: BalanceTransactionKind;
  readonly amountRupiah: number;
  readonly occurredAt: Date;
  /** The reference of the payment, of the earlier payout whose money came back, or the number of a credit note. */
  readonly referenceId: string | null;
}

/**
 * The lines after a posting, without that of the payout itself: their sum is the gross amount. Only
 * `balance_transactions_payout_idx` has the order of the two columns. With `payout_id = $1`, the primary key had it
 * too, and its plan read the lines of earlier payouts (741 buffers, 15 lines).
 */
export async function listPayoutLineRows(
  db: Queryable,
  payoutId: string,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<PayoutLine[]> {
  const { rows } = await db.query<PayoutLine>({
    name: 'list_payout_lines',
    text: `select line.posting_id as "postingId", line.kind, line.amount_rupiah as "amountRupiah",
        line.occurred_at as "occurredAt", coalesce(
          (select reference_id from payments where payments.id = line.payment_id),
          (select reference_id from archived_payments where archived_payments.payment_id = line.payment_id),
          (select reference_id from payouts where payouts.id = line.source_payout_id),
          (select invoice_number from balance_adjustments where balance_adjustments.id = line.adjustment_id)
        ) as "referenceId"
      from balance_transactions line
      where (line.payout_id, line.posting_id) > ($1, $2) and line.payout_id <= $1
        and line.source_payout_id is distinct from $1
      order by line.payout_id, line.posting_id limit $3`,
    values: [payoutId, after, limit],
  });
  return rows;
}

/** The lines of a payout by kind: their number, and their sum. */
export async function sumPayoutLines(db: Queryable, payoutId: string): Promise<PaidLines[]> {
  const { rows } = await db.query<PaidLines>(
    `select kind, count(*) as count, sum(amount_rupiah)::bigint as rupiah
     from balance_transactions
     where payout_id = $1 and source_payout_id is distinct from $1
     group by kind order by kind`,
    [payoutId],
  );
  return rows;
}
