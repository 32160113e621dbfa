import { nextPayoutRun, type Weekday } from '../../src/domain/payout-schedule';

const nextRun = (schedule: Parameters<typeof nextPayoutRun>[0], after: string) =>
  nextPayoutRun(schedule, new Date(after))?.toISOString() ?? null;
const daily = { schedule: 'daily', weekday: null } as const;
const weekly = (weekday: Weekday) => ({ schedule: 'weekly', weekday }) as const;

it.each([
  // A Thursday, 06:59:59 and 07:00 in WIB.
  [daily, '2026-11-25T23:59:59Z', '2026-11-26T00:00:00.000Z'],
  [daily, '2026-11-26T00:00:00Z', '2026-11-27T00:00:00.000Z'],
  [weekly(4), '2026-11-25T23:59:59Z', '2026-11-26T00:00:00.000Z'],
  [weekly(4), '2026-11-26T00:00:00Z', '2026-12-03T00:00:00.000Z'],
  [weekly(1), '2026-11-26T00:00:00Z', '2026-11-30T00:00:00.000Z'],
  [weekly(7), '2026-11-26T18:00:00Z', '2026-11-29T00:00:00.000Z'],
  [{ schedule: 'manual', weekday: null } as const, '2026-11-26T00:00:00Z', null],
])('the run of %j after %s is at %s', (schedule, after, run) => {
  expect(nextRun(schedule, after)).toBe(run);
});
