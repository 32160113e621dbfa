import { readRupiah, RUPIAH_TEXT } from '../../src/domain/money';

it.each([
  ['1', 1],
  ['50000', 50_000],
  ['50.000', 50_000],
  ['Rp 50.000', 50_000],
  ['rp.50.000', 50_000],
  ['150000000', 150_000_000],
  ['Rp 999.999.999.999', 999_999_999_999],
])('the text %j is the amount %d', (text, amount) => {
  expect([RUPIAH_TEXT.test(text), readRupiah(text)]).toEqual([true, amount]);
});

it.each(['', 'Rp', '-1', '5.00', '50,000', '50.0000', '1000000000000', '1.000.000.000.000'])(
  'the text %j is no amount',
  (text) => {
    expect(RUPIAH_TEXT.test(text)).toBe(false);
  },
);
