import { openStatementExport, type ExportedLine } from '../../../src/services/payouts/balance';
import { closeDaysUntil, countLines } from '../../support/close-days';
import { createTestLedger, type TestLedger } from '../../support/payments';
import { applyTransitions } from '../ledger/transition-path';

let ledger: TestLedger;
/** The open day: it is ahead of the clock, so midnight changes nothing. */
let day: string;
beforeAll(async () => {
  ledger = await createTestLedger();
  await closeDaysUntil(ledger.db, 'booking_day(now()) + 1');
  const { rows } = await ledger.db.query<{ day: string }>('select (max(day) + 1)::text as day from ended_days');
  day = rows[0]?.day ?? '';
});
afterAll(() => ledger.close());

async function settle(netRupiah: number, db: TestLedger['context']['db'] = ledger.db): Promise<void> {
  const terms = { netRupiah, feeRupiah: 0, totalRupiah: netRupiah, amountRupiah: netRupiah };
  const context = { ...ledger.context, db };
  await applyTransitions({ ...ledger, context }, ['issue', 'pay', 'settle'], terms);
}

const amounts = (lines: readonly ExportedLine[]) => lines.map(({ amountRupiah }) => amountRupiah);
const open = () => openStatementExport(ledger.db, ledger.merchantId, { from: day, to: day });

it('a file of the open day has no line that is committed while it is written, and no balance without one', async () => {
  await settle(1_000);
  await countLines(ledger.db);
  const late = await ledger.db.connect();
  try {
    await late.query('begin');
    await settle(20_000, late);
    // Its posting is newer than that of the open transaction.
    await settle(300_000);
    const { isClosed, readPage } = await open();
    const first = await readPage(null, 2);
    await late.query('commit');
    await settle(4_000_000);
    await countLines(ledger.db);
    const rest = await readPage(first.at(-1) ?? null, 10);
    expect({ isClosed, amounts: amounts([...first, ...rest]) }).toEqual({ isClosed: false, amounts: [1_000] });
    expect(first.at(-1)?.balanceAfterRupiah).toBe(1_000);
  } finally {
    late.release();
  }
  const all = await (await open()).readPage(null, 10);
  expect(amounts(all)).toEqual([1_000, 20_000, 300_000, 4_000_000]);
  expect(all.at(-1)?.balanceAfterRupiah).toBe(4_321_000);
  expect(all.every(({ isClosed }) => !isClosed)).toBe(true);
});

it('a file of a closed day has all of its lines, counted or not', async () => {
  await settle(5_000_000);
  await closeDaysUntil(ledger.db, `'${day}'`);
  const { isClosed, readPage } = await open();
  expect({ isClosed, lines: (await readPage(null, 10)).length }).toEqual({ isClosed: true, lines: 5 });
});
