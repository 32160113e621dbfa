import { constantFrom, integer, record, sample } from 'fast-check';
import { isWindowOpen } from '../../src/db/payouts/find-payout';
import { nextOpening } from '../../src/domain/payout-rails';
import { createTestLedger } from '../support/payments';

const HOLIDAYS = ['2026-12-25', '2026-12-31', '2027-01-01'];
const FIRST_MS = Date.parse('2026-12-20T00:00:00+07:00');
const HALF_HOUR_MS = 1_800_000;

/** Half hours of three weeks, with the edges of each window among them, and the millisecond before. */
const cases = record({
  at: record({ halfHours: integer({ min: 0, max: 3 * 7 * 48 }), before: constantFrom(0, 1) }).map(
    ({ halfHours, before }) => new Date(FIRST_MS + halfHours * HALF_HOUR_MS - before),
  ),
  window: constantFrom(
    { opensAt: '00:00:00', closesAt: '24:00:00', days: 'every' } as const,
    { opensAt: '00:00:00', closesAt: '24:00:00', days: 'working' } as const,
    { opensAt: '08:00:00', closesAt: '14:30:00', days: 'working' } as const,
  ),
});

it('a window of a rail is open at the same times in PostgreSQL and in TypeScript', async () => {
  const ledger = await createTestLedger();
  await ledger.db.query('insert into bank_holidays select unnest($1::date[])', [HOLIDAYS]);
  const drawn = sample(cases, 2_000);
  const { rows } = await ledger.db.query<{ isOpen: boolean }>(
    `select ${isWindowOpen('policy.at')} as "isOpen"
     from unnest($1::timestamptz[], $2::time[], $3::time[], $4::text[]) with ordinality
       as policy (at, opens_at, closes_at, days, number)
     order by number`,
    [
      drawn.map(({ at }) => at),
      drawn.map(({ window }) => window.opensAt),
      drawn.map(({ window }) => window.closesAt),
      drawn.map(({ window }) => window.days),
    ],
  );
  const inTypeScript = drawn.map(({ at, window }) => nextOpening(window, at, HOLIDAYS).getTime() === at.getTime());
  expect(rows.map(({ isOpen }) => isOpen)).toEqual(inTypeScript);
  expect(new Set(inTypeScript).size).toBe(2);
  await ledger.close();
});
