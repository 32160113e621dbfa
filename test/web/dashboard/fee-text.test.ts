import { PROPOSED_BANDS } from '../../../src/domain/fee-classes';
import { NO_RATES, type FeeRates } from '../../../src/domain/fee-terms';
import { feeText } from '../../../src/web/dashboard/fee-text';

const POLICY = { feeBasisPoints: 70, feeFlatRupiah: 500 };
const validFrom = '2024-12-01';
const UMI: FeeRates = { ...NO_RATES, class: 'UMI', schedule: { validFrom, bands: PROPOSED_BANDS.UMI } };
const price = { validFrom, basisPoints: 20, flatRupiah: 0 };

it.each([
  ['the catalog', NO_RATES, '0.7 % and Rp 500', '0,7 % dan Rp 500'],
  ['a class with bands', UMI, '0 %, 0.3 % from Rp 500.001', '0 %, 0,3 % mulai Rp 500.001'],
  [
    'an agreed price below a class',
    { ...UMI, price },
    '0 %, 0.3 % from Rp 500.001, or 0.2 % if that is less',
    '0 %, 0,3 % mulai Rp 500.001, atau 0,2 % jika lebih rendah',
  ],
  ['an agreed price without a class', { ...NO_RATES, price }, '0.2 %', '0,2 %'],
])('the fee of %s in words', (_, rates, english, indonesian) => {
  expect(feeText('en', { policy: POLICY, rates })).toBe(english);
  expect(feeText('id', { policy: POLICY, rates })).toBe(indonesian);
});
