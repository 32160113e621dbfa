import * as fc from 'fast-check';
import { crc16 } from '../../src/qris/crc';
import { parsePayload, serializePayload, templateOf, valueOf, type EmvPayload } from '../../src/qris/payload';
import type { QrisResult } from '../../src/qris/result';

/** EMVCo, QR Code Specification for Payment Systems: Merchant-Presented Mode, the worked example. */
const EMVCO_EXAMPLE =
  '00020101021229300012D156000000000510A93FO3230Q31280012D15600000001030812345678520441115802CN5914BEST' +
  ' TRANSPORT6007BEIJING64200002ZH0104最佳运输0202北京540523.7253031565502016233030412340603***0708A600866709' +
  '02ME91320016A0112233449988770708123456786304A13A';

function valueOrFail<T>(result: QrisResult<T>): T {
  if (!result.ok) throw new Error(`unexpected error: ${result.error.message}`);
  return result.value;
}

function errorOf(result: QrisResult<unknown>) {
  if (result.ok) throw new Error('unexpectedly valid');
  return result.error;
}

function sealed(covered: string): string {
  return `${covered}6304${crc16(`${covered}6304`)}`;
}

const twoDigits = fc.integer({ min: 0, max: 99 }).map((number) => String(number).padStart(2, '0'));
const text = (maxLength: number) =>
  fc.string({ unit: 'grapheme', maxLength }).filter((it) => Array.from(it).length <= 99);
const isAccount = (tag: string) => /^(2[6-9]|3\d|4\d|5[01])$/.test(tag);
const isTemplate = (tag: string) => isAccount(tag) || /^(62|64|[89]\d)$/.test(tag);

const lengthOf = (objects: readonly { value: string }[]) => Array.from(objects.map((it) => it.value).join('')).length;

/** Any payload within the limits, with any order of tags. */
const payloads: fc.Arbitrary<EmvPayload> = fc
  .uniqueArray(
    twoDigits.filter((tag) => tag !== '63' && tag !== '00'),
    { maxLength: 8 },
  )
  .chain((tags) =>
    fc.tuple(
      ...tags.map((tag) =>
        isTemplate(tag)
          ? fc
              .uniqueArray(fc.record({ tag: twoDigits, value: text(6) }), { selector: (it) => it.tag, maxLength: 3 })
              // A template of an account names its network; without it an account is text.
              .map((objects) =>
                isAccount(tag) ? objects.map((it, at) => (at === 0 ? { ...it, tag: '00' } : it)) : objects,
              )
              .filter((objects) => new Set(objects.map((it) => it.tag)).size === objects.length)
              .map((objects) => (isAccount(tag) && objects.length === 0 ? { tag, value: '' } : { tag, objects }))
              .filter((it) => !('objects' in it) || lengthOf(it.objects) <= 80)
          : text(20).map((value) => ({ tag, value })),
      ),
    ),
  )
  .chain((objects) => fc.shuffledSubarray([{ tag: '00', value: '01' }, ...objects], { minLength: objects.length + 1 }));

describe('crc16', () => {
  it('crc16 has the published check value', () => {
    expect(crc16('123456789')).toBe('29B1');
  });

  it('counts the UTF-8 bytes of a character beyond ASCII', () => {
    expect(crc16('é')).toBe(crc16(Buffer.from([0xc3, 0xa9]).toString('utf8')));
    expect(crc16('é')).not.toBe(crc16('e'));
  });
});

describe('parsePayload', () => {
  it("parses EMVCo's published example with its Chinese name", () => {
    const payload = valueOrFail(parsePayload(EMVCO_EXAMPLE));
    expect(valueOf(payload, '59')).toBe('BEST TRANSPORT');
    expect(valueOf(payload, '54')).toBe('23.72');
    expect(templateOf(payload, '64')?.get('01')).toBe('最佳运输');
    expect(templateOf(payload, '62')?.get('07')).toBe('A6008667');
    expect(templateOf(payload, '91')?.get('07')).toBe('12345678');
    expect(serializePayload(payload)).toEqual({ ok: true, value: EMVCO_EXAMPLE });
  });

  it('counts a character beyond the basic plane as one', () => {
    const text = sealed('0002015902💸a');
    expect(valueOf(valueOrFail(parsePayload(text)), '59')).toBe('💸a');
    const payload = [
      { tag: '00', value: '01' },
      { tag: '59', value: '💸a' },
    ];
    expect(valueOrFail(serializePayload(payload))).toBe(text);
  });

  it.each([
    ['white space around it', ` ${sealed('0002015802ID')}\r\n`, sealed('0002015802ID')],
    ['a CRC in lower case', `0002015802ID6304${crc16('0002015802ID6304').toLowerCase()}`, sealed('0002015802ID')],
    ['plain text in tag 80', sealed('0002018013QRIS-MERCHANT'), sealed('0002018013QRIS-MERCHANT')],
    ['a single character in tag 99', sealed('0002019901x'), sealed('0002019901x')],
    ['an account that is plain text', sealed('0002012610SHOP-12345'), sealed('0002012610SHOP-12345')],
    ['an account without a network', sealed('00020126060102AB'), sealed('00020126060102AB')],
    ['an empty account', sealed('0002012600'), sealed('0002012600')],
  ])('accepts %s, and serializes it to the same objects', (_, text, serialized) => {
    expect(valueOrFail(serializePayload(valueOrFail(parsePayload(text))))).toBe(serialized);
  });

  it('reads lengths that count the bytes of UTF-8, in a template too', () => {
    const payload = valueOrFail(parsePayload(sealed('0002015905Café62090105Café')));
    expect(valueOf(payload, '59')).toBe('Café');
    expect(templateOf(payload, '62')).toEqual(new Map([['01', 'Café']]));
  });

  it('rejects lengths in bytes without a valid CRC, or that end within a character', () => {
    expect(errorOf(parsePayload('0002015905Café6304FFFF'))).toMatchObject({ code: 'crc_mismatch' });
    expect(errorOf(parsePayload(sealed('0002015904Café6002x')))).toMatchObject({ code: expect.any(String) });
  });

  it('the error of a payload is that of the reading, by characters or by bytes, that came further', () => {
    expect(errorOf(parsePayload(sealed('0002015905Café5802IDX1')))).toMatchObject({
      code: 'tag_invalid',
      position: 21,
    });
    expect(errorOf(parsePayload(sealed('0002015904Café5802IDX1')))).toMatchObject({
      code: 'tag_invalid',
      position: 20,
    });
  });

  it('parses every serialized payload', () => {
    fc.assert(
      fc.property(payloads, (payload) => {
        const printed = serializePayload(payload);
        fc.pre(printed.ok);
        expect(parsePayload(valueOrFail(printed))).toEqual({ ok: true, value: payload });
      }),
    );
  });

  it('serializes every valid text to the same text, for any order of its tags', () => {
    fc.assert(
      fc.property(payloads, (payload) => {
        const printed = serializePayload(payload);
        fc.pre(printed.ok);
        const text = valueOrFail(printed);
        expect(serializePayload(valueOrFail(parsePayload(text)))).toEqual({ ok: true, value: text });
      }),
    );
  });

  it('detects every change of a single character', () => {
    const characters = Array.from(EMVCO_EXAMPLE);
    fc.assert(
      fc.property(
        fc.nat(characters.length - 1),
        fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: 1 }),
        (at, other) => {
          // The CRC may have either case.
          fc.pre(characters[at]?.toUpperCase() !== other.toUpperCase());
          const changed = characters.with(at, other).join('');
          expect(parsePayload(changed).ok).toBe(false);
        },
      ),
      // For changes of more than one byte, a two-byte checksum detects almost all.
      { numRuns: 500, examples: [[20, 'é']] },
    );
  });

  it('detects a truncated text', () => {
    const characters = Array.from(EMVCO_EXAMPLE);
    for (let length = 0; length < characters.length; length++) {
      expect(parsePayload(characters.slice(0, length).join('')).ok).toBe(false);
    }
  });

  it('returns a payload or an error for any text, and never throws', () => {
    const anyText = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: 'grapheme', maxLength: 600 }),
      fc.array(fc.nat(0xffff), { maxLength: 300 }).map((units) => String.fromCharCode(...units)),
      fc
        .array(fc.tuple(twoDigits, twoDigits, fc.string({ maxLength: 20 })), { maxLength: 20 })
        .map((it) => it.flat().join('')),
      fc.string({ maxLength: 200 }).map((it) => sealed(`000201${it}`)),
    );
    fc.assert(
      fc.property(anyText, (text) => {
        const result = parsePayload(text);
        expect(result.ok ? 'Sound.' : result.error.message).toMatch(/^[A-Z].*\.$/su);
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    ['a megabyte', 'x'.repeat(1_000_000), 'too_long', null],
    [
      '513 characters',
      sealed(
        '000201' +
          '0399' +
          'a'.repeat(99) +
          ('0499' + 'a'.repeat(99)) +
          ('0599' + 'a'.repeat(99)) +
          ('0699' + 'a'.repeat(99)) +
          ('0783' + 'a'.repeat(83)),
      ),
      'too_long',
      null,
    ],
    ['half a character', sealed('00020103021\ud800'), 'not_unicode', null],
    ['nothing', '', 'crc_missing', '63'],
    ['no CRC', '000201', 'crc_missing', '63'],
    ['a CRC of three digits', '0002016303ABC', 'crc_missing', '63'],
    ['something after the CRC', `${sealed('000201')}5802ID`, 'crc_missing', '63'],
    ['a wrong CRC', '00020163040000', 'crc_mismatch', '63'],
    ['a tag that is no number', sealed('000201X102ID'), 'tag_invalid', null],
    ['a length that is no number', sealed('00020158-2ID'), 'length_invalid', '58'],
    ['a length beyond the end', sealed('0002015899ID'), 'truncated', '58'],
    ['a tag that comes twice', sealed('0002015802ID5802ID'), 'tag_repeated', '58'],
    ['a subtag that comes twice', sealed('00020162100101101012'), 'tag_repeated', '62-01'],
    ['a subtag beyond its template', sealed('00020162060199ab'), 'truncated', '62-01'],
    ['a subtag of an account that comes twice', sealed('00020126170003ABC0101x0101y'), 'tag_repeated', '26-01'],
    ['a subtag of an unreserved template that comes twice', sealed('00020180100101101012'), 'tag_repeated', '80-01'],
    ['no format indicator', sealed('5802ID'), 'tag_missing', '00'],
    ['another format', sealed('000202'), 'tag_missing', '00'],
  ])('names what is wrong with %s', (_, text, code, tag) => {
    expect(errorOf(parsePayload(text))).toMatchObject({ code, tag });
  });

  it('an error has its position, in characters', () => {
    expect(errorOf(parsePayload(sealed('0002015903💸a5X102ID'.replace('💸a', '💸ab'))))).toMatchObject({
      position: 13,
    });
    expect(errorOf(parsePayload(sealed('00020162060199ab')))).toMatchObject({ tag: '62-01', position: 10 });
  });

  it('parses nested or repeated invalid input fast', () => {
    const nested = '62'.repeat(500);
    expect(parsePayload(nested).ok).toBe(false);
    expect(parsePayload(`000201${'6299'.repeat(126)}`).ok).toBe(false);
  });
});

describe('serializePayload', () => {
  const version = { tag: '00', value: '01' };

  it.each<[string, EmvPayload, string]>([
    ['a value of 100 characters', [version, { tag: '59', value: 'a'.repeat(100) }], 'length_invalid'],
    ['a tag of one digit', [version, { tag: '5', value: 'a' }], 'tag_invalid'],
    ['a CRC of its own', [version, { tag: '63', value: '0000' }], 'tag_invalid'],
    ['a tag twice', [version, { tag: '59', value: 'a' }, { tag: '59', value: 'b' }], 'tag_repeated'],
    ['half a character', [version, { tag: '59', value: '\udc00' }], 'not_unicode'],
    ['text instead of a template', [version, { tag: '62', value: 'a' }], 'value_invalid'],
    ['a template instead of text', [version, { tag: '59', objects: [] }], 'value_invalid'],
    [
      'a template that is too long',
      [version, { tag: '62', objects: [{ tag: '01', value: 'a'.repeat(96) }] }],
      'length_invalid',
    ],
    ['no format indicator', [{ tag: '58', value: 'ID' }], 'tag_missing'],
    [
      'more than 512 characters',
      [version, ...['02', '03', '04', '05', '06'].map((tag) => ({ tag, value: 'a'.repeat(99) }))],
      'too_long',
    ],
  ])('rejects %s with an error', (_, payload, code) => {
    expect(errorOf(serializePayload(payload)).code).toBe(code);
  });
});
