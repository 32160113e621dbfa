import * as fc from 'fast-check';
import { crc16 } from '../../src/qris/crc';
import { serializePayload, type EmvPayload } from '../../src/qris/payload';
import { parseQris, serializeDynamicQris, type DynamicQris, type Qris } from '../../src/qris/qris';
import type { QrisResult } from '../../src/qris/result';
import { WARUNG } from '../support/warung-qris';

function valueOrFail<T>(result: QrisResult<T>): T {
  if (!result.ok) throw new Error(`unexpected error: ${result.error.message}`);
  return result.value;
}

function printed(change: Partial<DynamicQris> = {}): string {
  return valueOrFail(serializeDynamicQris({ ...WARUNG, ...change }));
}

function read(change: Partial<DynamicQris> = {}): Qris {
  return valueOrFail(parseQris(printed(change)));
}

/** A valid static QRIS in the usual tag order, with one object changed or removed. */
function shopQris(tag?: string, value?: string): string {
  const payload: EmvPayload = [
    { tag: '00', value: '01' },
    { tag: '01', value: '11' },
    { tag: '26', objects: [{ tag: '00', value: 'COM.GO-JEK.WWW' }] },
    { tag: '52', value: '5812' },
    { tag: '53', value: '360' },
    { tag: '58', value: 'ID' },
    { tag: '59', value: 'Kopi' },
    { tag: '60', value: 'Solo' },
    { tag: '61', value: '57111' },
  ];
  const remaining = payload.filter((object) => object.tag !== tag);
  return valueOrFail(
    serializePayload(tag !== undefined && value !== undefined ? [...remaining, { tag, value }] : remaining),
  );
}

describe('serializeDynamicQris', () => {
  it('serializes a GoPay QRIS with merchant, amount and transaction id', () => {
    expect(read()).toMatchObject({
      kind: 'dynamic',
      nmid: 'ID1020034567890',
      totalRupiah: 50_000,
      merchantName: 'Warung Lunas',
      merchantCity: 'Jakarta',
      postalCode: '10110',
      transactionId: WARUNG.transactionId,
      merchantAccounts: [{ guid: 'COM.GO-JEK.WWW', merchantId: '3003525797', sizeClass: 'UMI' }],
    });
  });

  it('writes the transaction id of ShopeePay to 62-05 and of GoPay to 62-50', () => {
    const shopeepay = read({ acquirer: 'shopeepay', transactionId: 'QR1234567890' });
    expect(shopeepay.merchantAccounts[0]?.guid).toBe('ID.CO.SHOPEE.WWW');
    expect(shopeepay.additionalData.get('05')).toBe('QR1234567890');
    expect(shopeepay.transactionId).toBe('QR1234567890');
    expect(read().additionalData.get('50')).toBe(WARUNG.transactionId);
  });

  it("the PAN consists of the acquirer's number, the merchant's number and a valid check digit", () => {
    const number = fc.stringMatching(/^\d{10}$/);
    fc.assert(
      fc.property(number, fc.constantFrom('gopay', 'shopeepay'), (merchantNumber, acquirer) => {
        const pan = read({ acquirer, merchantNumber, transactionId: 'T1' }).merchantAccounts[0]?.pan ?? '';
        expect(pan).toMatch(acquirer === 'gopay' ? /^93600914\d{11}$/ : /^93600918\d{11}$/);
        expect(pan.slice(8, 18)).toBe(merchantNumber);
        const digits = Array.from(pan, Number).reverse();
        const sum = digits.reduce(
          (total, digit, at) => total + (at % 2 === 0 ? digit : Math.floor(digit / 5) + ((digit * 2) % 10)),
          0,
        );
        expect(sum % 10).toBe(0);
      }),
    );
  });

  it('truncates any name and city to the limits', () => {
    const anyText = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 80 })
      .filter((it) => /[^\s\p{Cc}]/u.test(it));
    fc.assert(
      fc.property(
        anyText,
        anyText,
        fc.integer({ min: 1, max: 10_000_000 }),
        (merchantName, merchantCity, totalRupiah) => {
          const text = printed({ merchantName, merchantCity, totalRupiah });
          expect(Array.from(text).length).toBeLessThanOrEqual(512);
          const qris = valueOrFail(parseQris(text));
          expect(Array.from(qris.merchantName).length).toBeLessThanOrEqual(25);
          expect(Array.from(qris.merchantCity).length).toBeLessThanOrEqual(15);
          expect(qris.totalRupiah).toBe(totalRupiah);
        },
      ),
    );
  });

  it.each([
    ['Toko  Serba\nAda', 'Toko Serba Ada'],
    ['Warung Makan Padang Sederhana', 'Warung Makan Padang'],
    ['Rumah Makan Sederhana Jaya Abadi', 'Rumah Makan Sederhana'],
    ['Warung Padang Sederhana X', 'Warung Padang Sederhana X'],
    ['A Supercalifragilisticexpialidocious', 'A Supercalifragilisticexp'],
  ])('truncates the name %j between words if possible', (merchantName, shown) => {
    expect(read({ merchantName }).merchantName).toBe(shown);
  });

  it.each<[string, Partial<DynamicQris>]>([
    ['an amount with a fraction', { totalRupiah: 1.5 }],
    ['an amount of nothing', { totalRupiah: 0 }],
    ['an amount of 14 digits', { totalRupiah: 1e13 }],
    ['a merchant number of nine digits', { merchantNumber: '300352579' }],
    ['an NMID of another form', { nmid: 'ID102003456789' }],
    ['a ShopeePay transaction id of 26 characters', { acquirer: 'shopeepay', transactionId: 'x'.repeat(26) }],
    ['an empty name', { merchantName: ' ' }],
    ['a category of three digits', { categoryCode: '581' }],
  ])('rejects %s with an error', (_, change) => {
    expect(serializeDynamicQris({ ...WARUNG, ...change })).toMatchObject({
      ok: false,
      error: { message: expect.any(String) },
    });
  });
});

describe('parseQris', () => {
  it.each([
    ['50000', 50_000],
    ['814.00', 814],
    ['789000.00', 789_000],
    ['1.', 1],
    ['1000000000.00', 1_000_000_000],
  ])('reads the amount %s, after tag 61 as it stands in the wild', (amount, totalRupiah) => {
    expect(valueOrFail(parseQris(shopQris('54', amount)))).toMatchObject({ kind: 'static', totalRupiah });
  });

  it.each(['814.50', '814.01', '0', '0.00', '', '-5', '1e3', '1,000', ' 50000', '٣', '12345678901234', '1.000'])(
    'rejects the amount %j',
    (amount) => {
      expect(parseQris(shopQris('54', amount))).toMatchObject({
        ok: false,
        error: { code: 'value_invalid', tag: '54' },
      });
    },
  );

  it('parses a QRIS without an amount', () => {
    expect(valueOrFail(parseQris(shopQris())).totalRupiah).toBeNull();
  });

  it.each(['26', '52', '53', '58', '59', '60'])('the error names the missing tag %s', (tag) => {
    expect(parseQris(shopQris(tag))).toMatchObject({ ok: false, error: { code: 'tag_missing' } });
  });

  it.each([
    ['01', '13'],
    ['52', 'food'],
    ['53', '840'],
    ['58', 'SG'],
    ['55', '01'],
    ['56', '500'],
    ['57', '5.00'],
    ['59', ''],
    ['60', ''],
  ])('the error names tag %s if it is %s', (tag, value) => {
    expect(parseQris(shopQris(tag, value))).toMatchObject({ ok: false, error: { code: 'value_invalid', tag } });
  });

  it.each([
    ['static', undefined],
    ['dynamic', '5000'],
  ])('a code without tag 01 is %s if tag 54 is %s', (kind, amount) => {
    const text = shopQris('01').slice(0, -'6304FFFF'.length);
    const covered = `${text}${amount === undefined ? '' : `5404${amount}`}6304`;
    expect(valueOrFail(parseQris(covered + crc16(covered))).kind).toBe(kind);
  });

  it('a name and a city may be longer than those of EMVCo', () => {
    expect(valueOrFail(parseQris(shopQris('59', 'n'.repeat(99)))).merchantName).toBe('n'.repeat(99));
    expect(valueOrFail(parseQris(shopQris('60', 'c'.repeat(99)))).merchantCity).toBe('c'.repeat(99));
  });

  it('an account that is plain text has no fields, and decides nothing', () => {
    expect(valueOrFail(parseQris(shopQris('26', 'SHOP-12345')))).toMatchObject({ merchantAccounts: [], nmid: null });
    expect(valueOrFail(parseQris(shopQris('80', 'QRIS-MERCHANT'))).merchantAccounts).toHaveLength(1);
  });

  it('detects every change of a single digit', () => {
    const text = printed();
    fc.assert(
      fc.property(fc.nat(text.length - 1), fc.integer({ min: 0, max: 9 }), (at, digit) => {
        fc.pre(text[at] !== String(digit));
        expect(parseQris(text.slice(0, at) + String(digit) + text.slice(at + 1)).ok).toBe(false);
      }),
      { numRuns: 300 },
    );
  });

  it('parseQris never throws', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 600 }), (text) => {
        expect(typeof parseQris(text).ok).toBe('boolean');
      }),
    );
  });
});
