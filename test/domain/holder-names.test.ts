import { matchNames } from '../../src/domain/holder-names';

it.each([
  ['Toko Demo Lunas', 'TOKO DEMO LUNAS', 'same'],
  ['PT. Toko Baru, Tbk', 'TOKO BARU', 'same'],
  ['CV Baru Toko', 'UD TOKO BARU', 'same'],
  ['Toko Baru', 'TOKO BARU JAKARTA', 'similar'],
  ['Toko Baru Jakarta', 'TOKO BARU', 'similar'],
  ['Toko Baru', 'SRI RAHAYU', 'different'],
  ['Toko Baru', 'TOKO LAMA', 'different'],
  ['PT', 'CV', 'different'],
  ['Toko Baru', '', 'different'],
])('%s and %s: %s', (merchant, holder, expected) => {
  expect(matchNames(merchant, holder)).toBe(expected);
});
