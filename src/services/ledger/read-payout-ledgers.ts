import type { Queryable } from '../../db/connection/pool';
import type { LedgerCheckpoint } from '../../db/ledger/ledger-verifications';
import type { PaymentLedger } from './find-ledger-breaks';
import { asJson, toLedgers, type LedgerPage } from './read-payment-ledgers';

const PAYOUTS_PER_PAGE = 1_000;

/** The lines of the balance that belong to a payout. */
interface ClaimedLines {
  /** What the payout's row has. */
  readonly lineCount: number;
  readonly count: number;
  readonly ofOthers: number;
  readonly rupiah: number;
}

/** All rows of one payout's money, in the form of a payment's. */
export interface PayoutLedger extends PaymentLedger {
  readonly lines: ClaimedLines;
}

interface PayoutPage extends Pick<LedgerPage, 'payments' | 'transitions' | 'postings'> {
  readonly lines: readonly (ClaimedLines & { readonly paymentId: string })[];
}

/** The ledgers of all payouts, or of those with a transition or a posting since the checkpoint. */
export async function* readPayoutLedgers(
  db: Queryable,
  checkpoint: LedgerCheckpoint | undefined,
): AsyncGenerator<PayoutLedger[]> {
  const ids = await listPayouts(db, checkpoint);
  for (let start = 0; start < ids.length; start += PAYOUTS_PER_PAGE)
    yield readLedgers(db, ids.slice(start, start + PAYOUTS_PER_PAGE));
}

/** The ids of payouts, also ids without a payout. Payouts are few: one for a merchant and day. */
async function listPayouts(db: Queryable, checkpoint: LedgerCheckpoint | undefined): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select payout_id as id from payout_transitions where recorded_at >= $1
     union select payout_id from ledger_postings where payout_id is not null and id > $2
     union select id from payouts where $3
     order by 1`,
    [checkpoint?.recordedUntil ?? new Date(0), checkpoint?.postingId ?? 0, checkpoint === undefined],
  );
  return rows.map(({ id }) => id);
}

/** One statement, so one snapshot: a concurrent transition is not reported as a break. */
async function readLedgers(db: Queryable, ids: readonly string[]): Promise<PayoutLedger[]> {
  const { rows } = await db.query<PayoutPage>(
    `select ${asJson(`
       select id as "paymentId", merchant_id as "merchantId", status, version, gross_rupiah as "totalRupiah",
         amount_rupiah as "netRupiah", fee_rupiah as "feeRupiah", fee_rupiah as "feeNetRupiah", 0 as "vatRupiah"
       from payouts where id = any ($1::uuid[])`)} as payments,
     ${asJson(`
       select payout_id as "paymentId", version, name, from_status as "fromStatus", to_status as "toStatus"
       from payout_transitions where payout_id = any ($1::uuid[]) order by payout_id, version`)} as transitions,
     ${asJson(`
       select id, payout_id as "paymentId", merchant_id as "merchantId", payout_version as version,
         null as "latePaymentStep", ${asJson(`
           select side, account, amount_rupiah as "amountRupiah" from ledger_entries
           where posting_id = ledger_postings.id`)} as lines
       from ledger_postings where payout_id = any ($1::uuid[]) order by id`)} as postings,
     ${asJson(`
       select payout.id as "paymentId", payout.line_count as "lineCount", count(line) as count,
         count(line) filter (where line.merchant_id <> payout.merchant_id) as "ofOthers",
         coalesce(sum(line.amount_rupiah), 0)::bigint as rupiah
       from payouts payout left join balance_transactions line on line.payout_id = payout.id
       where payout.id = any ($1::uuid[]) group by payout.id`)} as lines`,
    [ids],
  );
  return rows.flatMap(({ lines, ...page }) => {
    const linesOf = new Map(lines.map((line) => [line.paymentId, line]));
    return toLedgers({ ...page, latePayments: [], archived: [] }).map((ledger) =>
      Object.assign(ledger, { lines: linesOf.get(ledger.paymentId) ?? NO_LINES }),
    );
  });
}

const NO_LINES: ClaimedLines = { lineCount: 0, count: 0, ofOthers: 0, rupiah: 0 };
