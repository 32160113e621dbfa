import { assert, constantFrom, integer, property } from 'fast-check';
import { amountsOf, FEE_PAYERS, type FeePayer } from '../../src/domain/fees';
import { MAX_TOTAL_RUPIAH } from '../../src/domain/money';

/** amount, basis points, flat; then total, net and fee if the buyer pays the fee, and if the merchant does. */
const TABLE: readonly (readonly [number, number, number, buyer: Row, merchant: Row])[] = [
  [50_000, 70, 0, [50_350, 50_000, 350], [50_000, 49_650, 350]],
  [275_000, 70, 0, [276_925, 275_000, 1_925], [275_000, 273_075, 1_925]],
  // Rounded up to the whole rupiah: 0.007, 0.7, 1.0, 1.007.
  [1, 70, 0, [2, 1, 1], 'fee_reaches_amount'],
  [100, 70, 0, [101, 100, 1], [100, 99, 1]],
  [10_000, 1, 0, [10_001, 10_000, 1], [10_000, 9_999, 1]],
  [10_001, 1, 0, [10_003, 10_001, 2], [10_001, 9_999, 2]],
  // No fee, only a flat one, both: the flat part is not rounded with the other.
  [1, 0, 0, [1, 1, 0], [1, 1, 0]],
  [2_000, 0, 1_500, [3_500, 2_000, 1_500], [2_000, 500, 1_500]],
  [33_333, 30, 500, [33_933, 33_333, 600], [33_333, 32_733, 600]],
  // The limits: the customer pays at most Rp 10,000,000, and the merchant receives at least one rupiah.
  [10_000_000, 0, 0, [10_000_000, 10_000_000, 0], [10_000_000, 10_000_000, 0]],
  [10_000_000, 70, 0, 'total_above_limit', [10_000_000, 9_930_000, 70_000]],
  [9_930_486, 70, 0, [10_000_000, 9_930_486, 69_514], [9_930_486, 9_860_972, 69_514]],
  [9_930_487, 70, 0, 'total_above_limit', [9_930_487, 9_860_973, 69_514]],
  [1_500, 0, 1_500, [3_000, 1_500, 1_500], 'fee_reaches_amount'],
  [1_501, 0, 1_500, [3_001, 1_501, 1_500], [1_501, 1, 1_500]],
  [5_000, 10_000, 0, [10_000, 5_000, 5_000], 'fee_reaches_amount'],
];

type Row = readonly [total: number, net: number, fee: number] | 'total_above_limit' | 'fee_reaches_amount';

function rowOf(amount: number, basisPoints: number, flatRupiah: number, feePayer: FeePayer): Row {
  const computed = amountsOf(amount, { source: 'catalog', basisPoints, flatRupiah }, feePayer);
  if (computed.outcome !== 'ok') return computed.outcome;
  const { amountRupiah, totalRupiah, netRupiah, feeRupiah } = computed.amounts;
  expect(amountRupiah).toBe(amount);
  return [totalRupiah, netRupiah, feeRupiah];
}

describe('total, net and fee of an amount', () => {
  it.each(TABLE)('Rp %i at %i basis points and Rp %i flat', (amount, basisPoints, flat, buyer, merchant) => {
    expect(rowOf(amount, basisPoints, flat, 'buyer')).toEqual(buyer);
    expect(rowOf(amount, basisPoints, flat, 'merchant')).toEqual(merchant);
  });

  it('equal exact arithmetic for all values that the catalog and the contract allow', () => {
    assert(
      property(
        integer({ min: 1, max: MAX_TOTAL_RUPIAH }),
        integer({ min: 0, max: 10_000 }),
        constantFrom(0, 1, 500, MAX_TOTAL_RUPIAH),
        constantFrom(...FEE_PAYERS),
        (amount, basisPoints, flat, feePayer) => {
          expect(rowOf(amount, basisPoints, flat, feePayer)).toEqual(exactly(amount, basisPoints, flat, feePayer));
        },
      ),
      { numRuns: 1_000 },
    );
  });
});

/** The contract's rules again, in integers of any size. */
function exactly(amount: number, basisPoints: number, flat: number, feePayer: FeePayer): Row {
  const fee = exactFee(BigInt(amount), BigInt(basisPoints), BigInt(flat));
  const total = feePayer === 'buyer' ? BigInt(amount) + fee : BigInt(amount);
  if (feePayer === 'merchant' && fee >= BigInt(amount)) return 'fee_reaches_amount';
  if (total > BigInt(MAX_TOTAL_RUPIAH)) return 'total_above_limit';
  return [Number(total), Number(total - fee), Number(fee)];
}

function exactFee(amount: bigint, basisPoints: bigint, flat: bigint): bigint {
  return (amount * basisPoints + 9_999n) / 10_000n + flat;
}
