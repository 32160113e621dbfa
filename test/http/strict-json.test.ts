import { assert, constantFrom, json, property, string } from 'fast-check';
import { NumberToken, parseStrictJson } from '../../src/http/strict-json';

const parse = (text: string) => parseStrictJson(Buffer.from(text));

/** The value of a JSON text, numbers by their value. */
function plain(value: unknown): unknown {
  if (value instanceof NumberToken) return Number(value.token);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, plain(member)]));
}

describe('strict JSON', () => {
  it('strict JSON has the value of JSON.parse', () => {
    assert(
      property(json({ maxDepth: 5 }), (text) => {
        if (/__proto__|\\u0000|\\ud[89a-f]/i.test(text)) return;
        expect(plain(parse(text))).toEqual(plain(JSON.parse(text)));
      }),
    );
  });

  it('rejects every text that JSON.parse rejects, with an API error only', () => {
    const pieces = constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '1',
      '-',
      '.5',
      'e9',
      'true',
      'null',
      '//',
      '\\u',
      ' ',
    );
    const soup = string({ unit: pieces, maxLength: 12 });
    const isJson = (text: string) => {
      try {
        return [JSON.parse(text)].length === 1;
      } catch {
        return false;
      }
    };
    assert(
      property(soup, (text) => {
        if (isJson(text)) return;
        expect(() => parse(text)).toThrow(/JSON/);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each(['{"a":1,"a":1}', '{"a":1,"a":2}', '{"b":{"a":[],"a":[]}}', '[{"":0,"":0}]'])(
    'rejects the duplicate key of %s',
    (text) => {
      expect(() => parse(text)).toThrow(/twice/);
    },
  );

  it('treats a key named __proto__ as an ordinary one', () => {
    const value = parse('{"__proto__":{"amount":5}}');
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(value).not.toHaveProperty('amount');
  });

  it.each(['1e3', '1.0', '-0', '9007199254740993', '0.5'])('%s is no integer in strict JSON', (token) => {
    expect(parse(token)).toEqual(new NumberToken(token));
  });

  it.each([1, 16])('accepts %i levels', (depth) => {
    expect(() => parse('['.repeat(depth) + ']'.repeat(depth))).not.toThrow();
  });

  it.each([17, 100_000])('rejects %i levels', (depth) => {
    expect(() => parse('['.repeat(depth) + ']'.repeat(depth))).toThrow(/nested|JSON/);
  });
});
