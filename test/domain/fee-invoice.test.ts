import { vatOfPart, vatRangeOfPart } from '../../src/domain/fee-invoice';

describe('the VAT of a part of an invoice', () => {
  it.each([
    [777, 77, 100, 9],
    [777, 77, 1, 0],
    [677, 68, 677, 68],
    [100, 0, 50, 0],
    [0, 0, 1, 0],
    // The product is more than 2^53, above which a number is not exact.
    [513_365_535, 50_874_062, 513_365_535, 50_874_062],
    [4_999_999_999, 495_495_495, 4_999_999_998, 495_495_494],
  ])(
    'an invoice has Rp %d left with VAT of Rp %d: Rp %d has Rp %d',
    (leftRupiah, leftVatRupiah, feeRupiah, vatRupiah) => {
      expect(vatOfPart({ leftRupiah, leftVatRupiah }, feeRupiah)).toBe(vatRupiah);
    },
  );

  it('a part of any size has VAT that the invoice has left', () => {
    const fees = Array.from({ length: 2_000 }, (_, index) => 300_000_000 + index * 2_345_679);
    const lefts = fees.map((leftRupiah) => ({ leftRupiah, leftVatRupiah: Math.floor((leftRupiah * 11) / 111) }));
    const wrong = lefts.filter((left) => {
      const { leftRupiah, leftVatRupiah } = left;
      const isInRange = (feeRupiah: number) => {
        const [vat, { least, most }] = [vatOfPart(left, feeRupiah), vatRangeOfPart(left, feeRupiah)];
        return least <= vat && vat <= most;
      };
      return vatOfPart(left, leftRupiah) !== leftVatRupiah || ![leftRupiah, leftRupiah - 1].every(isInRange);
    });
    expect(wrong).toEqual([]);
  });
});
