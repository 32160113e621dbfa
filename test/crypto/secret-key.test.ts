import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import type { Environment } from '../../src/config';
import { createSecretKey, maskSecretKey, parseSecretKey } from '../../src/crypto/secret-key';

const BASE62 = Array.from('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz');

const bits = fc.uint8Array({ minLength: 24, maxLength: 24 });
const cell = fc.constantFrom('00', '07', 'ZZ');
const environment = fc.constantFrom<Environment>('sandbox', 'production');

it('reads back what it has issued', () => {
  fc.assert(
    fc.property(environment, cell, bits, (environment, cell, bits) => {
      const { secret, ...traits } = createSecretKey(environment, cell, bits);
      const prefix = environment === 'production' ? 'sk_live_' : 'sk_test_';
      expect(secret).toMatch(new RegExp(`^${prefix}${cell}[0-9A-Za-z]{39}$`));
      expect(parseSecretKey(secret, environment)).toEqual(traits);
      expect(traits.secretSha256).toEqual(createHash('sha256').update(secret).digest());
    }),
  );
});

it('accepts a key from before cells', () => {
  expect(parseSecretKey('sk_test_04hRzgefUy8S7YcHUrJGoeiJTKldGueU32JeffA', 'sandbox')).toMatchObject({
    prefix: 'sk_test_',
  });
  expect(parseSecretKey('sk_test_04hRzgefUy8S7YcHUrJGoeiJTKldGueU32Jeffa', 'sandbox')).toBeUndefined();
});

it('issues another key for other bits', () => {
  fc.assert(
    fc.property(bits, bits, (one, other) => {
      fc.pre(!Buffer.from(one).equals(Buffer.from(other)));
      expect(createSecretKey('sandbox', '00', one).secret).not.toBe(createSecretKey('sandbox', '00', other).secret);
    }),
  );
  expect(createSecretKey('sandbox', '00').secret).not.toBe(createSecretKey('sandbox', '00').secret);
});

// CRC-32 finds every fault within 32 neighbouring bits, so these hold without exception.
it('refuses every key with one wrong character', () => {
  fc.assert(
    fc.property(environment, bits, (environment, bits) => {
      const { secret } = createSecretKey(environment, '00', bits);
      const accepted = Array.from(secret).flatMap((right, position) =>
        BASE62.filter((wrong) => wrong !== right)
          .map((wrong) => secret.slice(0, position) + wrong + secret.slice(position + 1))
          .filter((mistyped) => parseSecretKey(mistyped, environment) !== undefined),
      );
      expect(accepted).toEqual([]);
    }),
    { numRuns: 10 },
  );
});

it('refuses every key with two neighbours swapped', () => {
  fc.assert(
    fc.property(bits, fc.integer({ min: 0, max: 45 }), (bits, position) => {
      const { secret } = createSecretKey('sandbox', '00', bits);
      const [left = '', right = ''] = secret.slice(position, position + 2);
      fc.pre(left !== right);
      const swapped = secret.slice(0, position) + right + left + secret.slice(position + 2);
      expect(parseSecretKey(swapped, 'sandbox')).toBeUndefined();
    }),
  );
});

it('refuses any other text', () => {
  const { secret } = createSecretKey('sandbox', '00');
  for (const text of ['', 'sk_test_', `${secret} `, ` ${secret}`, `${secret}\n`, secret.slice(0, -1), `${secret}0`]) {
    expect(parseSecretKey(text, 'sandbox')).toBeUndefined();
  }
  expect(parseSecretKey(secret, 'production')).toBeUndefined();
  expect(parseSecretKey(secret.replace('sk_test_', 'sk_live_'), 'production')).toBeUndefined();
  fc.assert(fc.property(fc.string(), (text) => expect(parseSecretKey(text, 'sandbox')).toBeUndefined()));
});

it('shows no more than the prefix and the last four characters', () => {
  const key = createSecretKey('production', '00');
  expect(maskSecretKey(key)).toBe(`sk_live_…${key.secret.slice(-4)}`);
});
