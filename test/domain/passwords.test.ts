import { assert, property, string } from 'fast-check';
import { normalisePassword, passwordViolation } from '../../src/domain/passwords';

const OWNER = { email: 'dewi@toko.example', names: ['Dewi Lestari', 'Wedang Uwuh Ndalem'] };
const violationOf = (password: string) => passwordViolation(password, OWNER);

it.each([
  ['kopi tubruk di teras', null],
  ['saya dan DEWI 2026', 'contains_email'],
  ['ｘ７ｋｐ２ｍｑ９ｖｔ４ｚ', null],
  ['abcde fghij', 'too_short'],
  ['🙂🙃😀😁😂', 'too_short'],
  ['🙂🙃😀😁😂🤣😃😄😅😆😉😊', null],
  ['aaaabbbbccccdddd', 'too_uniform'],
  ['é'.repeat(65), 'too_long'],
] as const)('%s: %s', (password, violation) => {
  expect(violationOf(password)).toBe(violation);
});

describe('attack: a password that strangers try', () => {
  it.each([
    'password1234',
    'qwerty123456',
    'Jakarta123456',
    'Indonesia2026',
    'passwordpassword',
    'P4$$w0rd2026!',
    'ａｂｃｄｅｆｇｈｉｊｋｌ',
    '1qaz2wsx3edc',
    'poiuytrewq09',
    '081234567890',
    'bismillah123',
    'iloveyou 1708',
    'RahasiaRahasia99',
    'lunas qris 2026',
    'katasandi-12345',
    'WedangUwuhNdalem26',
    'ndalem uwuh ndalem',
    'lestari20081998',
    'xk7xk7xk7xk7xk7 2',
  ])('%s is too common', (password) => {
    expect(violationOf(password)).toBe('common');
  });

  it.each([
    'teh botol dingin 88',
    'Bandung#8291Ab',
    'x7Kp2mQ9vT4z',
    'empat kucing di atap',
    'sayang jakarta merdeka qris',
  ])('%s is not', (password) => {
    expect(violationOf(password)).toBeNull();
  });

  it('the name of another merchant is no rule', () => {
    expect(passwordViolation('WedangUwuhNdalem26', { ...OWNER, names: [] })).toBeNull();
  });
});

it('a local part of two characters is in good passwords by chance', () => {
  expect(passwordViolation('kopi tubruk di teras', { ...OWNER, email: 'di@toko.example' })).toBeNull();
});

it('the rules compare the form that is hashed', () => {
  assert(
    property(string({ unit: 'binary', maxLength: 140 }), (password) => {
      expect(violationOf(normalisePassword(password))).toBe(violationOf(password));
    }),
  );
});

it('an accepted password has 12 characters or more, at most 128 bytes, and 5 different characters', () => {
  assert(
    property(string({ unit: 'grapheme', maxLength: 140 }), (password) => {
      if (violationOf(password) !== null) return;
      const text = normalisePassword(password);
      expect(Array.from(text).length).toBeGreaterThanOrEqual(12);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(128);
      expect(new Set(text).size).toBeGreaterThanOrEqual(5);
    }),
  );
});
