import * as fc from 'fast-check';
import { z } from 'zod';
import {
  absentOr,
  digits,
  distinctValues,
  headerText,
  hex,
  httpDate,
  optional,
  readFields,
  reference,
  rupiah,
  seconds,
  shown,
  snapCode,
  soleValue,
  statusWord,
  time,
  zonedTime,
} from '../../src/lib/fields';
import { bySize } from '../support/size';

const RUNS = { numRuns: bySize({ small: 500, full: 10_000 }) };
const read = (reader: z.ZodType, value: unknown): unknown => reader.safeParse(value).data;

const status = statusWord({ settlement: 'paid', pending: 'pending' });

it.each<[string, z.ZodType, unknown, unknown]>([
  ['rupiah', rupiah, '30074', 30_074],
  ['rupiah', rupiah, '30074.', 30_074],
  ['rupiah', rupiah, '30074.0', 30_074],
  ['rupiah', rupiah, '30074.00', 30_074],
  ['rupiah', rupiah, 30_074, 30_074],
  ['rupiah', rupiah, '0030074', 30_074],
  ['reference', reference(5), 'a b\u00e9', 'a b\u00e9'],
  ['reference', reference(5), 12_345, '12345'],
  ['reference', reference(1), '\u{1F600}', '\u{1F600}'],
  ['digits', digits(4, 6), '00123', '00123'],
  ['headerText', headerText(9), 'a.B-9_=+/', 'a.B-9_=+/'],
  ['hex', hex(4), 'aBc1', 'aBc1'],
  ['statusWord', status, 'SETTLEMENT', 'paid'],
  ['snapCode', snapCode(200), '2001800', { whole: '2001800', caseCode: '00' }],
  ['snapCode', snapCode(404), 40_401_601, { whole: '40401601', caseCode: '01' }],
  ['time', time, '2026-11-24 10:00:00', new Date('2026-11-24T03:00:00Z')],
  ['time', time, '2026-11-24T10:00:00', new Date('2026-11-24T03:00:00Z')],
  ['time', time, '2026-11-24T10:00:00+07:00', new Date('2026-11-24T03:00:00Z')],
  ['time', time, '2026-11-24T10:00:00+0700', new Date('2026-11-24T03:00:00Z')],
  ['time', time, '2026-11-24 10:00:00 +07', new Date('2026-11-24T03:00:00Z')],
  ['time', time, '2026-11-24T03:00:00.123456Z', new Date('2026-11-24T03:00:00.123Z')],
  ['time', time, '2026-11-24t03:00:00.5z', new Date('2026-11-24T03:00:00.500Z')],
  ['time', time, '2024-02-29 00:00:00', new Date('2024-02-28T17:00:00Z')],
  ['time', time, '2026-11-24T10:00+07:00', new Date('2026-11-24T03:00:00Z')],
  ['zonedTime', zonedTime, '2026-11-24 10:00:00 +0700', new Date('2026-11-24T03:00:00Z')],
  ['httpDate', httpDate, 'Sun, 06 Nov 1994 08:49:37 GMT', new Date('1994-11-06T08:49:37Z')],
  ['httpDate', httpDate, 'Sunday, 06-Nov-94 08:49:37 GMT', new Date('1994-11-06T08:49:37Z')],
  ['httpDate', httpDate, 'Sun Nov  6 08:49:37 1994', new Date('1994-11-06T08:49:37Z')],
  ['seconds', seconds(300), '900', 900],
  ['seconds', seconds(300), 899.5, 899.5],
  ['seconds', seconds(300), '9999999999', 31_536_000],
  ['seconds', seconds(300), '9'.repeat(400), 31_536_000],
  ['shown', shown(3), 'abcd', 'abc'],
  ['shown', shown(3), '\u{1F600}\u{1F601}\u{1F602}\u{1F603}', '\u{1F600}\u{1F601}\u{1F602}'],
  ['shown', shown(9), 'a\u0000b\nc', 'a b c'],
  ['shown', shown(9), 42, '42'],
])('%s reads %#', (_, reader, value, expected) => {
  expect(read(reader, value)).toEqual(expected);
});

const NO_TEXTS = [undefined, null, '', '  ', {}, [], ['1'], true, 1.5, 1e21, Number.NaN];

it.each<[string, z.ZodType, readonly unknown[]]>([
  ['rupiah', rupiah, ['1.5', '1.000', '1,000', '-1', '+1', '1e3', '0x1', '.00', '1 000', 'Rp1', '12345678901234', '١']],
  ['reference', reference(5), ['123456', 'a\u0000b', 'a\nb', 123_456]],
  ['digits', digits(4, 6), ['123', '1234567', '12 34', '12345a', '١٢٣٤', -1234]],
  ['headerText', headerText(9), ['a b', 'a\r\nb', '1234567890', 'é']],
  ['hex', hex(4), ['abc', 'abcde', 'abcg', 'abc1, abc1']],
  ['statusWord', status, ['paid', 'constructor', 'settle', 0]],
  ['snapCode', snapCode(200), ['4041800', '200180', '200180000', 'success', 2_001_800.5]],
  [
    'time',
    time,
    ['2026-02-30 10:00:00', '2026-13-01 10:00:00', '2026-11-24', '2026-11-24 24:00:00', '24/11/2026 10:00:00']
      .concat(['2026-11-24 10:00:60', '2026-11-24T10:00:00+25:00', '2026-11-24T10:00:00 WIB', '1764000000'])
      .concat('20261124100000'),
  ],
  ['zonedTime', zonedTime, ['2026-11-24T10:00.5Z', '2026-11-24T10:00:00', '2026-11-24', '2026-11-24T10:00:00 WIB']],
  ['httpDate', httpDate, ['in 5 minutes', '2026-11-24T10:00:00Z', 'Sun, 31 Foo 2026 08:49:37 GMT', 'May 5']],
])('%s rejects what is another value', (_, reader, values) => {
  for (const value of [...NO_TEXTS, ...values]) expect([value, read(reader, value)]).toEqual([value, undefined]);
});

it('a header has the value of its lines, and none if they differ', () => {
  expect(distinctValues(undefined)).toEqual([]);
  expect(distinctValues(['a', ' a', 'b'])).toEqual(['a', 'b']);
  expect([undefined, [], 'a ', ['a', 'a'], ['a', 'b']].map(soleValue)).toEqual([
    undefined,
    undefined,
    'a',
    'a',
    undefined,
  ]);
});

it('seconds has its default without a duration, and shown is null without a text', () => {
  for (const value of [undefined, null, '', {}, 0, -1, '-1', '1.5s', Infinity]) {
    expect([value, read(seconds(300), value)]).toEqual([value, 300]);
  }
  for (const value of [undefined, null, '', ' ', '\u0000', {}, 1.5]) expect(read(shown(9), value)).toBeNull();
});

const FORMS: ReadonlyArray<readonly [string, z.ZodType, fc.Arbitrary<string>]> = [
  [
    'rupiah',
    rupiah,
    fc.tuple(fc.integer({ min: 0, max: 1e12 }), fc.constantFrom('', '.', '.0', '.00')).map((parts) => parts.join('')),
  ],
  ['reference', reference(64), fc.stringMatching(/^[A-Za-z0-9._-]{1,64}$/)],
  ['statusWord', status, fc.mixedCase(fc.constantFrom('settlement', 'pending'))],
  [
    'time',
    time,
    fc.date({ min: new Date(0), max: new Date('2999-12-31'), noInvalidDate: true }).map((date) => date.toISOString()),
  ],
];

describe.each(FORMS)('an accepted %s', (_, reader, forms) => {
  it('an accepted field has one value, and white space around it changes nothing', () => {
    const property = fc.property(forms, fc.stringMatching(/^[ \t\r\n\u00a0\ufeff]*$/), (text, space) => {
      const value = read(reader, text);
      return value !== undefined && same(read(reader, space + text + space), value);
    });
    expect(fc.check(property, RUNS)).toMatchObject({ failed: false });
  });

  it('an accepted field with another digit has another value, or none', () => {
    const property = fc.property(forms, fc.nat(), fc.integer({ min: 1, max: 9 }), (text, chosen, step) => {
      const indexes = Array.from(text.matchAll(/\d/g), ({ index }) => index);
      const at = indexes[chosen % Math.max(1, indexes.length)];
      if (at === undefined) return true;
      const changed = `${text.slice(0, at)}${(Number(text[at]) + step) % 10}${text.slice(at + 1)}`;
      return !same(read(reader, changed), read(reader, text));
    });
    expect(fc.check(property, RUNS)).toMatchObject({ failed: false });
  });
});

const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

describe('the reason', () => {
  const schema = z.object({
    amount: z.object({ value: rupiah }),
    note: optional(reference(3)),
    refunds: absentOr(z.array(z.object({ refund_amount: rupiah }))),
  });
  const amount = { value: '1' };

  it.each<[unknown, string]>([
    [{ amount: { value: '30074.50' } }, 'amount.value "30074.50" is no whole rupiah'],
    [{ amount: {} }, 'amount.value (absent) is no whole rupiah'],
    [{ amount, refunds: [{ refund_amount: -1 }] }, 'refunds.0.refund_amount -1 is no whole rupiah'],
    [{ amount: { value: 'x'.repeat(99) } }, `amount.value "${'x'.repeat(38)}… is no whole rupiah`],
    [{ amount: { value: [1] } }, 'amount.value a list is no whole rupiah'],
    [[1], 'a list is no JSON object'],
    [undefined, '(absent) is no JSON object'],
  ])('the reason for %j names the field', (body, reason) => {
    expect(readFields(schema, body)).toEqual({ ok: false, reason });
  });

  it('optional fields have no reason', () => {
    for (const note of [undefined, null, '', 'abcd', {}]) {
      for (const refunds of [undefined, null, '']) {
        const fields = { amount: { value: 1 }, note: null, refunds: null };
        expect(readFields(schema, { amount, note, refunds })).toEqual({ ok: true, fields });
      }
    }
  });
});
