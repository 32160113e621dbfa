import { assert, constantFrom, integer, property } from 'fast-check';
import { amountsOf, FEE_PAYERS, feeOf } from '../../src/domain/fees';
import { MAX_TOTAL_RUPIAH } from '../../src/domain/money';

const rate = (basisPoints: number, flatRupiah = 0) => ({ source: 'catalog', basisPoints, flatRupiah }) as const;

describe('fees', () => {
  it.each([
    // amount, basis points, flat, fee
    [50_000, 70, 0, 350],
    [1, 70, 0, 1],
    [100, 1, 0, 1],
    [10_000, 1, 0, 1],
    [10_001, 1, 0, 2],
    [10_000_000, 70, 0, 70_000],
    [10_000_000, 10_000, 0, 10_000_000],
    [999, 0, 0, 0],
    [999, 0, 1_500, 1_500],
    [33_333, 30, 500, 600],
  ])('Rp %i at %i basis points and Rp %i flat costs Rp %i', (amount, basisPoints, flat, fee) => {
    expect(feeOf(amount, rate(basisPoints, flat))).toBe(fee);
  });

  it.each([
    ['buyer', { amountRupiah: 50_000, feeRupiah: 350, totalRupiah: 50_350, netRupiah: 50_000 }],
    ['merchant', { amountRupiah: 50_000, feeRupiah: 350, totalRupiah: 50_000, netRupiah: 49_650 }],
  ] as const)('follow the contract if the %s pays the fee', (feePayer, amounts) => {
    expect(amountsOf(50_000, rate(70), feePayer)).toEqual({ outcome: 'ok', amounts });
  });

  it('reject a total above the QRIS limit and a fee that reaches the amount', () => {
    expect(amountsOf(MAX_TOTAL_RUPIAH, rate(70), 'buyer').outcome).toBe('total_above_limit');
    expect(amountsOf(MAX_TOTAL_RUPIAH, rate(70), 'merchant').outcome).toBe('ok');
    expect(amountsOf(500, rate(0, 500), 'merchant').outcome).toBe('fee_reaches_amount');
    expect(amountsOf(501, rate(0, 500), 'merchant').outcome).toBe('ok');
  });

  it('preserve every rupiah, and round the fee up by less than one', () => {
    const amount = integer({ min: 1, max: MAX_TOTAL_RUPIAH });
    const basisPoints = integer({ min: 0, max: 10_000 });
    const flat = integer({ min: 0, max: 100_000 });
    assert(
      property(amount, basisPoints, flat, constantFrom(...FEE_PAYERS), (rupiah, bps, flatRupiah, feePayer) => {
        const fee = feeOf(rupiah, rate(bps, flatRupiah));
        const exact = BigInt(rupiah) * BigInt(bps);
        const rounded = BigInt(fee - flatRupiah) * 10_000n;
        expect(rounded >= exact && rounded < exact + 10_000n).toBe(true);

        const computed = amountsOf(rupiah, rate(bps, flatRupiah), feePayer);
        if (computed.outcome !== 'ok') return;
        const { feeRupiah, netRupiah, totalRupiah } = computed.amounts;
        expect(totalRupiah).toBe(netRupiah + feeRupiah);
        expect([feeRupiah, netRupiah, totalRupiah].every(Number.isInteger)).toBe(true);
        expect(netRupiah).toBeGreaterThan(0);
        expect(totalRupiah).toBeLessThanOrEqual(MAX_TOTAL_RUPIAH);
      }),
    );
  });
});
