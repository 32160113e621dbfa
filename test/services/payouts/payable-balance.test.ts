import { inTransaction } from '../../../src/db/connection/transaction';
import { payoutBasisStatement, readPayoutBasis } from '../../../src/db/payouts/payout-basis';
import { payoutWriters } from '../../../src/db/transitions/payout-transitions';
import { decidePayable } from '../../../src/domain/payout-preview';
import { findPayoutBreaks } from '../../../src/services/ledger/find-payout-breaks';
import { readPayoutLedgers } from '../../../src/services/ledger/read-payout-ledgers';
import { termsOf } from '../../../src/services/payouts/payouts';
import { Random } from '../../faults/random';
import { eventually } from '../../support/eventually';
import {
  createTestPayouts,
  FEE_RUPIAH,
  newPayout,
  requestTime,
  withNewMerchant,
  type TestPayouts,
} from '../../support/payouts';
import { bySize } from '../../support/size';

const BALANCES = bySize({ small: 40, full: 1_000 });
const TIMEOUT_MS = bySize({ small: 120_000, full: 1_800_000 });
const MAX_LINES = 4;
const STATEMENT = payoutBasisStatement(MAX_LINES);
/** BI-FAST is the only rail here. */
const [LEAST_GROSS, LARGEST_GROSS] = [10_000 + FEE_RUPIAH, 250_000_000 + FEE_RUPIAH];

let payouts: TestPayouts;

beforeAll(async () => {
  payouts = await createTestPayouts();
  await payouts.db.query(
    `insert into payout_policies (rail, version, fee_rupiah, min_rupiah, opens_at, closes_at, days,
       expected_within_seconds, is_enabled)
     values ('rtgs', 2, 30000, 100000001, '08:00', '14:30', 'working', 14400, false)`,
  );
});
beforeEach(async () => {
  payouts = await withNewMerchant(payouts);
});
afterAll(() => payouts.close());

const addAmounts = (amounts: readonly number[]) =>
  payouts.db.query(
    `insert into balance_transactions (posting_id, merchant_id, kind, amount_rupiah, payment_id, occurred_at, booked_on)
     select nextval(pg_get_serial_sequence('ledger_postings', 'id')), $1,
       case when rupiah < 0 then 'refund_fee' else 'settlement' end, rupiah, gen_random_uuid(), now(), current_date
     from unnest($2::bigint[]) with ordinality amount (rupiah, number) order by number`,
    [payouts.merchantId, amounts],
  );

const preview = async () => {
  const basis = await readPayoutBasis(payouts.context.db, payouts.merchantId, requestTime(), STATEMENT);
  return { balanceRupiah: basis.balanceRupiah, decided: decidePayable(basis, requestTime()) };
};

interface Paid {
  readonly grossRupiah: number;
  readonly lineCount: number;
}

/** Requests payouts until none is possible. */
async function payAll(): Promise<{ readonly paid: Paid[]; readonly restRupiah: number; readonly code: string }> {
  const paid: Paid[] = [];
  for (;;) {
    const { balanceRupiah, decided } = await preview();
    if ('code' in decided) return { paid, restRupiah: balanceRupiah, code: decided.code };
    const { payoutId } = await newPayout(payouts);
    const terms = { ...termsOf(payoutId, decided), payoutId, by: { name: 'schedule' } } as const;
    expect(decided.grossRupiah).toBeLessThanOrEqual(balanceRupiah);
    const written = await payoutWriters.request(payouts.context, await newPayout(payouts, terms));
    expect(written?.outcome).toBe('applied');
    expect((await preview()).balanceRupiah).toBe(balanceRupiah - decided.grossRupiah);
    const { rows } = await payouts.db.query<{ count: number }>(
      'select line_count as count from payouts where id = $1',
      [payoutId],
    );
    paid.push({ grossRupiah: decided.grossRupiah, lineCount: rows[0]?.count ?? 0 });
  }
}

function randomAmounts(random: Random): number[] {
  const debit = () => -random.pick([random.between(100, 5_000), random.between(20_000, 300_000), 400_000_000]);
  const credit = () => random.pick([random.between(1_000, 90_000), random.between(1_000, 90_000), 300_000_000]);
  const share = random.pick([0.1, 0.5]);
  const beginning = Array.from({ length: random.between(0, 2 * MAX_LINES) }, debit);
  const rest = Array.from({ length: random.between(0, 20) }, () => (random.chance(share) ? debit() : credit()));
  const amounts = random.chance(0.5) ? [...beginning, ...rest] : random.shuffle([...beginning, ...rest]);
  const sum = amounts.reduce((total, amount) => total + amount, 0);
  return sum > 0 ? amounts : [...amounts, random.between(1_000, 90_000) - sum];
}

it(
  'a balance is paid whole by payouts of a few lines each, whatever the order and the size of what it owes',
  async () => {
    for (let seed = 1; seed <= BALANCES; seed += 1) {
      payouts = await withNewMerchant(payouts);
      const amounts = randomAmounts(new Random(seed));
      await addAmounts(amounts);
      const { paid, restRupiah, code } = await payAll();
      const run = `seed ${seed}: ${amounts.join(', ')}`;
      expect([run, code]).toEqual([run, restRupiah === 0 ? 'nothing_to_pay' : 'below_minimum']);
      expect([run, restRupiah < LEAST_GROSS]).toEqual([run, true]);
      for (const { grossRupiah, lineCount } of paid) {
        expect([run, grossRupiah >= LEAST_GROSS && grossRupiah <= LARGEST_GROSS]).toEqual([run, true]);
        expect([run, lineCount <= MAX_LINES]).toEqual([run, true]);
      }
    }
    for await (const ledgers of readPayoutLedgers(payouts.db, undefined))
      expect(ledgers.flatMap((ledger) => Array.from(findPayoutBreaks(ledger)))).toEqual([]);
  },
  TIMEOUT_MS,
);

it('lists the payments of payouts that leave out a large debt, and pays the rest of them on account', async () => {
  await addAmounts([30_000, -1_000_000, ...Array<number>(12).fill(100_000), -500, 100_000]);
  const { paid, restRupiah } = await payAll();
  // The balance has 329,500: more than two lines after the debt, and less than four.
  expect(paid).toEqual([
    { grossRupiah: 200_000, lineCount: 2 },
    { grossRupiah: 100_000, lineCount: 1 },
    { grossRupiah: 29_500, lineCount: 0 },
  ]);
  expect(restRupiah).toBe(0);
});

it('a balance is not paid twice by two requests of different lines that commit together', async () => {
  await addAmounts([100_000, -1_000_000, ...Array<number>(10).fill(100_000)]);
  const { rows } = await payouts.db.query<{ id: number }>(
    'select posting_id as id from balance_transactions where merchant_id = $1 order by posting_id',
    [payouts.merchantId],
  );
  const ids = rows.map(({ id }) => id);
  const requestLine = async (index: number) => {
    const run = { afterPostingId: index === 0 ? 0 : (ids[index - 1] ?? 0), upToPostingId: ids[index] ?? 0 };
    const payout = await newPayout(payouts, { ...run, grossRupiah: 100_000, amountRupiah: 100_000 - FEE_RUPIAH });
    return () => payoutWriters.request(payouts.context, payout);
  };
  const [one, other] = [await requestLine(0), await requestLine(2)];
  const results = await inTransaction(payouts.db, async (client) => {
    await client.query('select from bank_accounts where id = $1 for update', [payouts.bankAccountId]);
    const both = Promise.allSettled([one(), other()]);
    await eventually(countWaiting, (count) => count === 2);
    return { both };
  });
  const outcomes = (await results.both).map((result) => (result.status === 'rejected' ? 'failed' : 'written'));
  expect(outcomes.toSorted()).toEqual(['failed', 'written']);
  expect((await preview()).balanceRupiah).toBe(0);
  const repeats = [await one(), await other()].map((result) => result?.outcome ?? 'no row');
  expect(repeats.toSorted()).toEqual(['no row', 'repeated']);
});

async function countWaiting(): Promise<number> {
  const { rows } = await payouts.db.query<{ count: number }>(
    `select count(*) as count from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock' and query like '%insert into payouts%'`,
  );
  return rows[0]?.count ?? 0;
}

it('a balance of few lines is one payout', async () => {
  await addAmounts([-90_000, 60_000, -20_000, 80_000]);
  expect((await payAll()).paid).toEqual([{ grossRupiah: 30_000, lineCount: 4 }]);
});
