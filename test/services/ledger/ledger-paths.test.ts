import { array, assert, asyncProperty, constantFrom, integer, nat, record } from 'fast-check';
import { amountsOf, FEE_PAYERS } from '../../../src/domain/fees';
import type { LedgerAccount } from '../../../src/domain/ledger';
import type { PaymentTerms } from '../../../src/domain/payment';
import {
  isFinal,
  PAYMENT_STATUSES,
  UNPAID_FINAL_STATUSES,
  type PaymentStatus,
} from '../../../src/domain/payment-transitions';
import { verifyLedger } from '../../../src/services/ledger/verify-ledger';
import { createTestLedger, type TestLedger } from '../../support/payments';
import {
  applyChoices,
  applyTransitions,
  choicesOf,
  payLate,
  type AppliedPath,
  type LatePaymentOutcome,
} from './transition-path';

let ledger: TestLedger;
beforeAll(async () => {
  ledger = await createTestLedger();
});
afterAll(() => ledger.close());

type Balances = Partial<Record<LedgerAccount, number>>;
type Amounts = Pick<PaymentTerms, 'totalRupiah' | 'netRupiah' | 'feeRupiah'>;

/** The account balances of a payment, debit less credit, by its status: written independently of the table. */
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

async function expectBalances({ terms, status, steps }: AppliedPath, late: Balances = {}): Promise<void> {
  const { totalRupiah } = terms;
  const isManual = steps.includes('resolve_refund_as_refunded');
  const refund = isManual ? { provider_receivable: totalRupiah, cash: -totalRupiah } : {};
  expect(await balancesOf(terms.paymentId)).toEqual(withoutZeros({ ...EXPECTED[status](terms), ...refund, ...late }));
}

const LATE_BALANCES: Record<LatePaymentOutcome, (lateRupiah: number) => Balances> = {
  received: inSuspense,
  manual_review: inSuspense,
  refunded: nothing,
  'refunded after manual review': nothing,
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
    'refunded after the provider had rejected it: the same',
    ['issue', 'pay', 'request_refund', 'submit_refund', 'fail_refund', 'confirm_failed_refund'],
    { merchant_available: 350, fee_revenue: -350 },
  ],
  [
    'refunded by an operator: from our own bank account, and the provider still owes what it received',
    ['issue', 'pay', 'request_refund', 'submit_refund', 'fail_refund', 'resolve_refund_as_refunded'],
    { provider_receivable: 50_000, merchant_available: 350, fee_revenue: -350, cash: -50_000 },
  ],
  [
    'settled after a refund was given up',
    ['issue', 'pay', 'request_refund', 'submit_refund', 'fail_refund', 'resolve_refund_as_paid', 'settle'],
    { provider_receivable: 50_000, merchant_available: -49_650, fee_revenue: -350 },
  ],
] as const)('%s', async (_name, names, balances) => {
  const path = await applyTransitions(ledger, names);
  expect(path.steps).toEqual(names);
  expect(await balancesOf(path.terms.paymentId)).toEqual(balances);
});

const USUAL = {
  amountRupiah: 50_000,
  feeBasisPoints: 70,
  feePayer: 'merchant',
  lateRupiah: 1,
  lateOutcome: null,
} as const;
/** Paths to each final status: random choices rarely reach the last of them. */
const TO_EACH_FINAL_STATUS = [
  choicesOf(['fail_creation']),
  choicesOf(['issue', 'expire']),
  choicesOf(['issue', 'cancel']),
  choicesOf(['issue', 'pay', 'settle']),
  choicesOf(['issue', 'pay', 'request_refund', 'submit_refund', 'confirm_refund']),
];

it('posts each path through the table, and late payments after it, without ledger breaks', async () => {
  const seen = new Set<PaymentStatus>();
  const arbitraryPath = record({
    choices: array(nat(), { minLength: 1, maxLength: 14 }),
    amountRupiah: integer({ min: 2, max: 9_000_000 }),
    feeBasisPoints: constantFrom(0, 30, 70),
    feePayer: constantFrom(...FEE_PAYERS),
    lateRupiah: integer({ min: 1, max: 10_000_000 }),
    lateOutcome: constantFrom(
      null,
      'received',
      'refunded',
      'manual_review',
      'refunded after manual review',
      'refunded manually',
    ),
  });
  await assert(
    asyncProperty(
      arbitraryPath,
      async ({ choices, amountRupiah, feeBasisPoints, feePayer, lateRupiah, lateOutcome }) => {
        const rate = { source: 'catalog', basisPoints: feeBasisPoints, flatRupiah: 0 } as const;
        const computed = amountsOf(amountRupiah, rate, feePayer);
        if (computed.outcome !== 'ok') throw new Error('These amounts have to be possible');
        const path = await applyChoices(ledger, choices, { ...computed.amounts, feePayer });
        seen.add(path.status);
        if (!UNPAID_FINAL_STATUSES.includes(path.status) || lateOutcome === null) return expectBalances(path);
        await payLate(ledger, path, lateRupiah, lateOutcome);
        await expectBalances(path, LATE_BALANCES[lateOutcome](lateRupiah));
      },
    ),
    { numRuns: 150, examples: TO_EACH_FINAL_STATUS.map((choices) => [{ ...USUAL, choices }] satisfies [object]) },
  );
  expect(PAYMENT_STATUSES.filter((status) => isFinal(status) && !seen.has(status))).toEqual([]);
  const { breaks, balances } = await verifyLedger(ledger.db);
  expect(breaks).toEqual([]);
  expect(balances.reduce((sum, { balanceRupiah }) => sum + balanceRupiah, 0)).toBe(0);
});
