import { randomBytes } from 'node:crypto';
import { assert, nat, property, string } from 'fast-check';
import { createSealer, type SealBinding } from '../../src/crypto/sealing';

const newKey = () => randomBytes(32).toString('base64');
const DETAILS: SealBinding = ['payment-details', 'p1'];
const SECRET: SealBinding = ['webhook-secret', 's1'];

describe('sealing', () => {
  it('opens sealed texts, and seals equal texts differently', () => {
    const sealer = createSealer(newKey());
    assert(
      property(string({ unit: 'binary' }), (text) => {
        const sealed = sealer.seal(text, DETAILS);
        expect(sealer.open(sealed, DETAILS)).toBe(text);
        expect(sealer.seal(text, DETAILS)).not.toBe(sealed);
      }),
    );
  });

  it('a sealer does not open a changed text', () => {
    const sealer = createSealer(newKey());
    const sealed = sealer.seal('a secret of some length', SECRET);
    assert(
      property(nat(sealed.length - 1), (index) => {
        const other = sealed[index] === 'A' ? 'B' : 'A';
        const changed = sealed.slice(0, index) + other + sealed.slice(index + 1);
        // The last character of base64url carries unused bits.
        if (index === sealed.length - 1) return;
        expect(() => sealer.open(changed, SECRET)).toThrow(/./);
      }),
    );
  });

  it('a sealer does not open a text with another key, purpose, row or column', () => {
    const sealer = createSealer(newKey());
    const sealed = sealer.seal('whsec_1', SECRET);
    expect(() => createSealer(newKey()).open(sealed, SECRET)).toThrow(/LUNAS_MASTER_KEY/);
    expect(() => sealer.open(sealed, ['payment-details', 's1'])).toThrow(/auth/);
    expect(() => sealer.open(sealed, ['webhook-secret', 's2'])).toThrow(/auth/);
    const serverKey = sealer.seal('key', ['provider-server-key', 'a1', 'midtrans', 'https://api.midtrans.com']);
    expect(() => sealer.open(serverKey, ['provider-server-key', 'a1', 'midtrans', 'https://evil.example'])).toThrow(
      /auth/,
    );
  });

  it('opens with an old master key, and seals with the current one', () => {
    const [old, current] = [newKey(), newKey()];
    const sealed = createSealer(old).seal('whsec_1', SECRET);
    const both = createSealer(current, [old]);
    expect(both.open(sealed, SECRET)).toBe('whsec_1');
    expect(createSealer(current).open(both.seal('whsec_1', SECRET), SECRET)).toBe('whsec_1');
  });

  it('attack: a text that was cut to the first 4 bytes of its tag does not open', () => {
    const sealer = createSealer(newKey());
    const [format, keyId, body = ''] = sealer.seal('', SECRET).split('.');
    const cut = Buffer.from(body, 'base64url').subarray(0, 16).toString('base64url');
    expect(() => sealer.open([format, keyId, cut].join('.'), SECRET)).toThrow('too short');
  });
});
