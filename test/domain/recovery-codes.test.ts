import { assert, property, string, uint8Array } from 'fast-check';
import { formatRecoveryCode, parseRecoveryCode } from '../../src/domain/recovery-codes';

const bits = uint8Array({ minLength: 10, maxLength: 10 });

it('a recovery code is 16 characters in four groups, and different for different bits', () => {
  assert(
    property(bits, bits, (one, other) => {
      expect(formatRecoveryCode(one)).toMatch(/^(?:[0-9A-HJKMNP-TV-Z]{4}-){3}[0-9A-HJKMNP-TV-Z]{4}$/);
      const isSame = Buffer.from(one).equals(Buffer.from(other));
      expect(formatRecoveryCode(one) === formatRecoveryCode(other)).toBe(isSame);
    }),
  );
});

it('a recovery code is read as users type it', () => {
  assert(
    property(bits, (random) => {
      const code = formatRecoveryCode(random);
      const typed = [code.toLowerCase(), code.replaceAll('-', ''), ` ${code.replaceAll('-', '  ')} `];
      const confused = code.replaceAll('0', 'o').replaceAll('1', 'l');
      for (const text of [code, ...typed, confused]) expect(parseRecoveryCode(text)).toBe(code);
    }),
  );
});

it('any other text is none', () => {
  assert(
    property(string(), (text) => {
      const parsed = parseRecoveryCode(text);
      expect(parsed === undefined || parseRecoveryCode(parsed) === parsed).toBe(true);
    }),
  );
  for (const text of ['', 'U000-0000-0000-0000', '0000-0000-0000-000', '0000-0000-0000-00000']) {
    expect(parseRecoveryCode(text)).toBeUndefined();
  }
});
