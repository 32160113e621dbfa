import { assert, property, string } from 'fast-check';
import { normalisePassword, passwordViolation } from '../../src/domain/passwords';

const EMAIL = 'dewi@toko.example';

it.each([
  ['kopi tubruk di teras', null],
  ['saya dan DEWI 2026', 'contains_email'],
  ['ａｂｃｄｅｆｇｈｉｊｋｌ', null],
  ['abcde fghij', 'too_short'],
  ['🙂🙃😀😁😂', 'too_short'],
  ['🙂🙃😀😁😂🤣😃😄😅😆😉😊', null],
  ['aaaabbbbccccdddd', 'too_uniform'],
  ['é'.repeat(65), 'too_long'],
] as const)('%s: %s', (password, violation) => {
  expect(passwordViolation(password, EMAIL)).toBe(violation);
});

it('a local part of two characters is in good passwords by chance', () => {
  expect(passwordViolation('kopi tubruk di teras', 'di@toko.example')).toBeNull();
});

it('the rules compare the form that is hashed', () => {
  assert(
    property(string({ unit: 'binary', maxLength: 140 }), (password) => {
      expect(passwordViolation(normalisePassword(password), EMAIL)).toBe(passwordViolation(password, EMAIL));
    }),
  );
});

it('an accepted password has 12 characters or more, at most 128 bytes, and 5 different characters', () => {
  assert(
    property(string({ unit: 'grapheme', maxLength: 140 }), (password) => {
      if (passwordViolation(password, EMAIL) !== null) return;
      const text = normalisePassword(password);
      expect(Array.from(text).length).toBeGreaterThanOrEqual(12);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(128);
      expect(new Set(text).size).toBeGreaterThanOrEqual(5);
    }),
  );
});
