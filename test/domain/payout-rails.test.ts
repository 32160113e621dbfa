import { chooseRail, type PayoutPolicy } from '../../src/domain/payout-rails';

const always = { opensAt: '00:00:00', closesAt: '24:00:00', days: 'every' } as const;
const office = { opensAt: '08:00:00', closesAt: '14:30:00', days: 'working' } as const;
const BI_FAST: PayoutPolicy = {
  id: 1,
  rail: 'bi_fast',
  feeRupiah: 2_500,
  minRupiah: 10_000,
  maxRupiah: 250_000_000,
  ...always,
};
const SKN: PayoutPolicy = {
  id: 3,
  rail: 'skn',
  feeRupiah: 2_000,
  minRupiah: 10_000,
  maxRupiah: 1_000_000_000,
  ...office,
};
const RTGS: PayoutPolicy = {
  id: 4,
  rail: 'rtgs',
  feeRupiah: 30_000,
  minRupiah: 100_000_001,
  maxRupiah: null,
  ...office,
};
const ALL = [RTGS, BI_FAST, SKN];
/** A Wednesday. */
const NOON = new Date('2026-11-25T12:00:00.000+07:00');
const NIGHT = new Date('2026-11-25T20:00:00.000+07:00');

const chosen = (policies: readonly PayoutPolicy[], grossRupiah: number, at: Date, holidays: readonly string[] = []) => {
  const rail = chooseRail(policies, grossRupiah, at, holidays);
  return rail && [rail.policy.rail, rail.amountRupiah, rail.sendsAt.toISOString()];
};

describe('the rail of a payout', () => {
  it('the rail of a payout is the cheapest one with an open window', () => {
    expect(chosen(ALL, 1_000_000, NOON)).toEqual(['skn', 998_000, NOON.toISOString()]);
    expect(chosen(ALL, 1_000_000, NIGHT)).toEqual(['bi_fast', 997_500, NIGHT.toISOString()]);
  });

  it('the rail of a payout is the one that opens first if none is open', () => {
    expect(chosen([RTGS, SKN], 200_000_000, NIGHT)).toEqual(['skn', 199_998_000, '2026-11-26T01:00:00.000Z']);
    expect(chosen([RTGS], 2_000_000_000, NIGHT)).toEqual(['rtgs', 1_999_970_000, '2026-11-26T01:00:00.000Z']);
  });

  it.each([
    ['before it opens', '2026-11-26T07:59:59.999+07:00', [], '2026-11-26T08:00:00.000+07:00'],
    ['at its opening', '2026-11-26T08:00:00.000+07:00', [], '2026-11-26T08:00:00.000+07:00'],
    ['at its end', '2026-11-26T14:30:00.000+07:00', [], '2026-11-27T08:00:00.000+07:00'],
    ['on a Friday evening', '2026-11-27T15:00:00.000+07:00', [], '2026-11-30T08:00:00.000+07:00'],
    ['before a holiday', '2026-11-27T15:00:00.000+07:00', ['2026-11-30'], '2026-12-01T08:00:00.000+07:00'],
    ['on a Sunday in UTC that is Monday in WIB', '2026-11-29T18:00:00.000Z', [], '2026-11-30T08:00:00.000+07:00'],
  ])('opens on working days: %s', (_name, at, holidays, expected) => {
    expect(chosen([RTGS], 200_000_000, new Date(at), holidays)?.[2]).toBe(new Date(expected).toISOString());
  });

  it.each([
    [12_499, undefined],
    [12_500, 10_000],
    [250_002_500, 250_000_000],
    [250_002_501, undefined],
  ])("a rail's limits are for the amount that is sent: of %i gross", (grossRupiah, amountRupiah) => {
    expect(chosen([BI_FAST], grossRupiah, NOON)?.[1]).toBe(amountRupiah);
  });
});
