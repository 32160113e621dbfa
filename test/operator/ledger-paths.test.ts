import { array, assert, asyncProperty, constantFrom, integer, nat, record } from 'fast-check';
import { amountsOf, FEE_PAYERS } from '../../src/domain/fees';
import type { LedgerAccount } from '../../src/domain/ledger';
import type { PaymentTerms } from '../../src/domain/payment';
import { isFinal, type PaymentStatus, PAYMENT_STATUSES } from '../../src/domain/payment-transitions';
import { verifyLedger } from '../../src/operator/verify-ledger';
import { type Ledgered, openLedger } from '../support/payments';
import { type LateEnd, payLate, walk, walkAlong, type Walked } from './walk';

let ledger: Ledgered;
beforeAll(async () => {
  ledger = await openLedger();
});
afterAll(() => ledger.close());

type Balances = Partial<Record<LedgerAccount, number>>;
type Amounts = Pick<PaymentTerms, 'totalRupiah' | 'netRupiah' | 'feeRupiah'>;

/** What a payment leaves on the accounts, debit less credit, said once more and without the table: by where it stands. */
const EXPECTED: Record<PaymentStatus, (amounts: Amounts) => Balances> = {
  created: nothing,
  pending: nothing,
  expired: nothing,
  cancelled: nothing,
  failed: nothing,
  paid: pending,
  refund_processing: pending,
  refund_failed: pending,
  settled: ({ totalRupiah, netRupiah, feeRupiah }) => ({
    provider_receivable: totalRupiah,
    merchant_available: -netRupiah,
    fee_revenue: -feeRupiah,
  }),
  refunded: ({ feeRupiah }) => ({ merchant_available: feeRupiah, fee_revenue: -feeRupiah }),
};

function nothing(): Balances {
  return {};
}

function pending({ totalRupiah, netRupiah, feeRupiah }: Amounts): Balances {
  return { provider_receivable: totalRupiah, merchant_pending: -netRupiah, fee_revenue: -feeRupiah };
}

async function balancesOf(paymentId: string): Promise<Balances> {
  const { rows } = await ledger.db.query<{ account: LedgerAccount; balance: number }>(
    `select account, sum(case side when 'debit' then amount_rupiah else -amount_rupiah end)::bigint as balance
     from ledger_postings posting join ledger_entries on posting_id = posting.id
     where payment_id = $1 group by account`,
    [paymentId],
  );
  return withoutZeros(Object.fromEntries(rows.map(({ account, balance }) => [account, balance])));
}

function withoutZeros(balances: Balances): Balances {
  return Object.fromEntries(Object.entries(balances).filter(([, rupiah]) => rupiah !== 0));
}

async function expectBooked({ terms, status, steps }: Walked, late: Balances = {}): Promise<void> {
  const { totalRupiah } = terms;
  const isManual = steps.includes('resolve_refund_as_refunded');
  const refund = isManual ? { provider_receivable: totalRupiah, cash: -totalRupiah } : {};
  expect(await balancesOf(terms.paymentId)).toEqual(withoutZeros({ ...EXPECTED[status](terms), ...refund, ...late }));
}

const LATE_BALANCES: Record<LateEnd, (lateRupiah: number) => Balances> = {
  received: inSuspense,
  kept: inSuspense,
  refunded: nothing,
  'refunded after it was kept': nothing,
  'refunded manually': (lateRupiah) => ({ provider_receivable: lateRupiah, cash: -lateRupiah }),
};

function inSuspense(lateRupiah: number): Balances {
  return { provider_receivable: lateRupiah, suspense: -lateRupiah };
}

it.each([
  ['paid', ['issue', 'pay'], { provider_receivable: 50_000, merchant_pending: -49_650, fee_revenue: -350 }],
  [
    'settled: the merchant has the net amount',
    ['issue', 'pay', 'settle'],
    { provider_receivable: 50_000, merchant_available: -49_650, fee_revenue: -350 },
  ],
  [
    'refunded: the customer has all of it back, and the fee is still owed',
    ['issue', 'pay', 'request_refund', 'submit_refund', 'confirm_refund'],
    { merchant_available: 350, fee_revenue: -350 },
  ],
  [
    'refunded after the provider had refused it: the same',
    ['issue', 'pay', 'request_refund', 'submit_refund', 'refuse_refund', 'confirm_failed_refund'],
    { merchant_available: 350, fee_revenue: -350 },
  ],
  [
    'refunded by an operator: from our own bank account, and the provider still owes what it received',
    ['issue', 'pay', 'request_refund', 'submit_refund', 'refuse_refund', 'resolve_refund_as_refunded'],
    { provider_receivable: 50_000, merchant_available: 350, fee_revenue: -350, cash: -50_000 },
  ],
  [
    'settled after a refund was given up',
    ['issue', 'pay', 'request_refund', 'submit_refund', 'refuse_refund', 'resolve_as_paid', 'settle'],
    { provider_receivable: 50_000, merchant_available: -49_650, fee_revenue: -350 },
  ],
] as const)('%s', async (_name, names, balances) => {
  const walked = await walkAlong(ledger, names);
  expect(walked.steps).toEqual(names);
  expect(await balancesOf(walked.terms.paymentId)).toEqual(balances);
});

const USUAL = { amountRupiah: 50_000, feeBasisPoints: 70, feePayer: 'merchant', lateRupiah: 1, lateEnd: null } as const;
/** To failed, expired, cancelled, settled, refunded: random choices seldom come to the last of them. */
const TO_EACH_END = [[1], [0, 1], [0, 2], [0, 0, 0], [0, 0, 1, 0, 0]];

it('books every path through the table, and late money after it, as its end demands; the books are right after each', async () => {
  const seen = new Set<PaymentStatus>();
  const life = record({
    choices: array(nat(), { minLength: 1, maxLength: 14 }),
    amountRupiah: integer({ min: 2, max: 9_000_000 }),
    feeBasisPoints: constantFrom(0, 30, 70),
    feePayer: constantFrom(...FEE_PAYERS),
    lateRupiah: integer({ min: 1, max: 10_000_000 }),
    lateEnd: constantFrom(null, 'received', 'refunded', 'kept', 'refunded after it was kept', 'refunded manually'),
  });
  await assert(
    asyncProperty(life, async ({ choices, amountRupiah, feeBasisPoints, feePayer, lateRupiah, lateEnd }) => {
      const computed = amountsOf(amountRupiah, { feeBasisPoints, feeFlatRupiah: 0 }, feePayer);
      if (computed.outcome !== 'ok') throw new Error('These amounts have to be possible');
      const walked = await walk(ledger, choices, { ...computed.amounts, feePayer });
      seen.add(walked.status);
      const endedUnpaid = ['expired', 'cancelled', 'failed'].includes(walked.status);
      if (!endedUnpaid || lateEnd === null) return expectBooked(walked);
      await payLate(ledger, walked, lateRupiah, lateEnd);
      await expectBooked(walked, LATE_BALANCES[lateEnd](lateRupiah));
    }),
    { numRuns: 150, examples: TO_EACH_END.map((choices) => [{ ...USUAL, choices }] satisfies [object]) },
  );
  expect(PAYMENT_STATUSES.filter((status) => isFinal(status) && !seen.has(status))).toEqual([]);
  const { breaks, balances } = await verifyLedger(ledger.db);
  expect(breaks).toEqual([]);
  expect(balances.reduce((sum, { balanceRupiah }) => sum + balanceRupiah, 0)).toBe(0);
});
