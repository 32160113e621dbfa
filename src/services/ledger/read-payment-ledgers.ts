import type { Queryable } from '../../db/connection/pool';
import type {
  PaymentLedger,
  RecordedLatePayment,
  RecordedPaymentState,
  RecordedPosting,
  RecordedTransition,
} from './find-ledger-breaks';

/** Bounds memory and statement duration, for any number of payments. */
const PAYMENTS_PER_PAGE = 1_000;

const MIN_ID = '00000000-0000-0000-0000-000000000000';
const MAX_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** The ledgers of all payments. Reads by ranges of ids, so that rows without a payment are found too. */
export async function* readAllLedgers(db: Queryable): AsyncGenerator<PaymentLedger[]> {
  for (let after = MIN_ID, upTo = ''; upTo !== MAX_ID; after = upTo) {
    upTo = await findRangeEnd(db, after);
    yield readLedgers(db, (column) => `${column} > $1 and ${column} <= $2`, [after, upTo]);
  }
}

async function findRangeEnd(db: Queryable, after: string): Promise<string> {
  const { rows } = await db.query<{ id: string }>(
    'select id from payments where id > $1 order by id offset $2 limit 1',
    [after, PAYMENTS_PER_PAGE - 1],
  );
  return rows[0]?.id ?? MAX_ID;
}

/** The ledgers of payments with a transition recorded since then, or with a posting above this id. */
export async function* readChangedLedgers(
  db: Queryable,
  recordedSince: Date,
  postingId: number,
): AsyncGenerator<PaymentLedger[]> {
  for await (const ids of listByTransition(db, recordedSince)) yield readLedgersOf(db, ids);
  for await (const ids of listByPosting(db, recordedSince, postingId)) yield readLedgersOf(db, ids);
}

interface TransitionPosition {
  readonly paymentId: string;
  readonly version: number;
  readonly recordedAt: Date;
  /** Whether the list has no newer transition of the payment: so each payment is read once. */
  readonly isLast: boolean;
}

async function* listByTransition(db: Queryable, since: Date): AsyncGenerator<string[]> {
  let after: Pick<TransitionPosition, 'recordedAt' | 'paymentId' | 'version'> | undefined = {
    recordedAt: since,
    paymentId: MIN_ID,
    version: 0,
  };
  while (after) {
    const { rows }: { rows: TransitionPosition[] } = await db.query<TransitionPosition>(
      `select payment_id as "paymentId", version, recorded_at as "recordedAt", not exists (
         select from payment_transitions newer
         where newer.payment_id = transition.payment_id and newer.version > transition.version
           and newer.recorded_at >= $4
       ) as "isLast"
       from payment_transitions transition where (recorded_at, payment_id, version) > ($1, $2, $3)
       order by recorded_at, payment_id, version limit ${PAYMENTS_PER_PAGE}`,
      [after.recordedAt, after.paymentId, after.version, since],
    );
    yield rows.filter(({ isLast }) => isLast).map(({ paymentId }) => paymentId);
    after = rows.at(-1);
  }
}

/** Payments with a posting of a late payment, or of a transition recorded earlier, which should have no new posting. */
async function* listByPosting(db: Queryable, since: Date, above: number): AsyncGenerator<string[]> {
  interface Row {
    readonly id: number;
    readonly paymentId: string;
    readonly isListed: boolean;
  }
  for (let last: number | undefined = above; last !== undefined;) {
    const { rows }: { rows: Row[] } = await db.query<Row>(
      `select id, payment_id as "paymentId", exists (
         select from payment_transitions transition
         where transition.payment_id = posting.payment_id and transition.version = posting.payment_version
           and transition.recorded_at >= $2
       ) as "isListed"
       from ledger_postings posting where id > $1 and payment_id is not null order by id limit ${PAYMENTS_PER_PAGE}`,
      [last, since],
    );
    yield [...new Set(rows.filter(({ isListed }) => !isListed).map(({ paymentId }) => paymentId))];
    last = rows.at(-1)?.id;
  }
}

/** The ledgers of these payments. */
export async function readLedgersOf(db: Queryable, paymentIds: readonly string[]): Promise<PaymentLedger[]> {
  return paymentIds.length === 0 ? [] : readLedgers(db, (column) => `${column} = any ($1::uuid[])`, [paymentIds]);
}

type OfPayment<Row> = Row & { readonly paymentId: string };

export interface LedgerPage {
  readonly payments: OfPayment<RecordedPaymentState>[];
  readonly transitions: OfPayment<RecordedTransition>[];
  readonly postings: OfPayment<RecordedPosting>[];
  readonly latePayments: OfPayment<RecordedLatePayment>[];
  readonly archived: OfPayment<{ readonly merchantId: string }>[];
}

/** One statement, so one snapshot: a concurrent transition is not reported as a break. */
async function readLedgers(
  db: Queryable,
  idCondition: (column: string) => string,
  values: readonly unknown[],
): Promise<PaymentLedger[]> {
  const { rows } = await db.query<LedgerPage>(
    `select ${asJson(`
       select id as "paymentId", merchant_id as "merchantId", status, version, total_rupiah as "totalRupiah",
         net_rupiah as "netRupiah", fee_rupiah as "feeRupiah", fee_rupiah - vat_rupiah as "feeNetRupiah",
         vat_rupiah as "vatRupiah"
       from payments where ${idCondition('id')}`)} as payments,
     ${asJson(`
       select payment_id as "paymentId", version, name, from_status as "fromStatus", to_status as "toStatus"
       from payment_transitions where ${idCondition('payment_id')} order by payment_id, version`)} as transitions,
     ${asJson(`
       select id, payment_id as "paymentId", merchant_id as "merchantId", payment_version as version,
         late_payment_step as "latePaymentStep", ${asJson(`
           select side, account, amount_rupiah as "amountRupiah" from ledger_entries
           where posting_id = ledger_postings.id`)} as lines
       from ledger_postings where ${idCondition('payment_id')} order by id`)} as postings,
     ${asJson(`
       select payment_id as "paymentId", status, total_rupiah as "totalRupiah"
       from late_payments where ${idCondition('payment_id')}
       union all
       select payment_id, case when refunded_at is null then 'received' else 'refunded' end, total_rupiah
       from archived_late_payments where ${idCondition('payment_id')}`)} as "latePayments",
     ${asJson(`
       select payment_id as "paymentId", merchant_id as "merchantId"
       from archived_payments where ${idCondition('payment_id')}`)} as archived`,
    [...values],
  );
  return rows.flatMap(toLedgers);
}

export function asJson(select: string): string {
  return `(select coalesce(json_agg(found), '[]') from (${select}) found)`;
}

export function toLedgers({ payments, transitions, postings, latePayments, archived }: LedgerPage): PaymentLedger[] {
  const ledgers = new Map<string, PaymentLedger>();
  const ledgerOf = ({ paymentId }: { readonly paymentId: string }): PaymentLedger => {
    const ledger = ledgers.get(paymentId) ?? { paymentId, transitions: [], postings: [] };
    ledgers.set(paymentId, ledger);
    return ledger;
  };
  for (const row of payments) ledgerOf(row).payment = row;
  for (const row of transitions) ledgerOf(row).transitions.push(row);
  for (const row of postings) ledgerOf(row).postings.push(row);
  for (const row of latePayments) ledgerOf(row).latePayment = row;
  for (const { paymentId, merchantId } of archived) {
    const ledger = ledgers.get(paymentId);
    if (ledger) ledger.archivedOf = merchantId;
  }
  return [...ledgers.values()];
}
