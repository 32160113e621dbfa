import type { Queryable } from '../../db/connection/pool';
import { onlyRow } from '../../db/connection/require-row';
import { literalList } from '../../db/connection/statement';
import type { LedgerLine } from '../../domain/ledger';
import { formatRupiah } from '../../domain/money';
import {
  OPEN_PAYOUT_STATUSES,
  PAYOUT_TRANSITIONS,
  type PayoutAmount,
  type PayoutTransitionRule,
} from '../../domain/payout-transitions';
import { findLedgerBreaks, type LedgerBreak, type VerifiedKind } from './find-ledger-breaks';
import type { PayoutLedger } from './read-payout-ledgers';

/** The amounts of a payment that stand for those of a payout: the gross amount is what is sent and the fee. */
const AMOUNTS = { gross: 'total', amount: 'net', fee: 'fee' } as const satisfies Record<
  PayoutAmount,
  LedgerLine['amount']
>;

function ruleOf({ from, to, posting }: PayoutTransitionRule) {
  const lines = posting.map(({ side, account, amount }) => ({ side, account, amount: AMOUNTS[amount] }));
  return { from, to, posting: lines };
}

const PAYOUTS: VerifiedKind = {
  noun: 'payout',
  rules: new Map(Object.entries(PAYOUT_TRANSITIONS).map(([name, rule]) => [name, ruleOf(rule)])),
};

/**
 * Compares a payout with `PAYOUT_TRANSITIONS`, its path and its postings. All lines of the payout together are zero,
 * and they are as many as it has claimed, and its own. One that has claimed none does not have its own either.
 */
export function* findPayoutBreaks(ledger: PayoutLedger): Generator<LedgerBreak> {
  const name = `Payout ${ledger.paymentId}`;
  for (const { kind, detail } of findLedgerBreaks(ledger, PAYOUTS))
    yield { kind, paymentId: null, detail: `${name}: ${detail}` };
  const { lines, payment } = ledger;
  if (!payment) return;
  const due = lines.lineCount === 0 ? 0 : lines.lineCount + 1;
  if (lines.rupiah === 0 && lines.count === due && lines.ofOthers === 0) return;
  const found = `${lines.count} lines, ${lines.ofOthers} of other merchants, with ${formatRupiah(lines.rupiah)}`;
  yield { kind: 'payout_lines_disagree', paymentId: null, detail: `${name} has ${found}; ${due} with Rp 0 are due.` };
}

/** What is in transit is the sum of the payouts that the bank has not executed. */
export async function findInTransitBreaks(db: Queryable): Promise<LedgerBreak[]> {
  const { rows } = await db.query<{ ledgerRupiah: number; payoutsRupiah: number }>(
    `select (
       select coalesce(sum(case side when 'credit' then amount_rupiah else -amount_rupiah end), 0)::bigint
       from ledger_postings posting join ledger_entries entry on entry.posting_id = posting.id
       where posting.payout_id is not null and account = 'payout_in_transit'
     ) as "ledgerRupiah", (
       select coalesce(sum(amount_rupiah), 0)::bigint from payouts
       where status in (${literalList(OPEN_PAYOUT_STATUSES)})
     ) as "payoutsRupiah"`,
  );
  const { ledgerRupiah, payoutsRupiah } = onlyRow(rows);
  if (ledgerRupiah === payoutsRupiah) return [];
  const sums = `the ledger has ${formatRupiah(ledgerRupiah)}, the open payouts ${formatRupiah(payoutsRupiah)}`;
  return [{ kind: 'in_transit_disagrees', paymentId: null, detail: `In transit: ${sums}.` }];
}
