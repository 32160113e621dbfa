import { randomBytes } from 'node:crypto';
import { assert, nat, property, string } from 'fast-check';
import { createSealer } from '../src/sealing';

const newKey = () => randomBytes(32).toString('base64');

describe('sealing', () => {
  it('opens sealed texts, and seals equal texts differently', () => {
    const sealer = createSealer(newKey());
    assert(
      property(string({ unit: 'binary' }), (text) => {
        const sealed = sealer.seal(text, 'payment-details');
        expect(sealer.open(sealed, 'payment-details')).toBe(text);
        expect(sealer.seal(text, 'payment-details')).not.toBe(sealed);
      }),
    );
  });

  it('does not open a changed text', () => {
    const sealer = createSealer(newKey());
    const sealed = sealer.seal('a secret of some length', 'webhook-secret');
    assert(
      property(nat(sealed.length - 1), (index) => {
        const other = sealed[index] === 'A' ? 'B' : 'A';
        const changed = sealed.slice(0, index) + other + sealed.slice(index + 1);
        // The last character of base64url carries unused bits.
        if (index === sealed.length - 1) return;
        expect(() => sealer.open(changed, 'webhook-secret')).toThrow(/./);
      }),
    );
  });

  it('does not open a text with another key or for another purpose', () => {
    const sealer = createSealer(newKey());
    const sealed = sealer.seal('whsec_1', 'webhook-secret');
    expect(() => createSealer(newKey()).open(sealed, 'webhook-secret')).toThrow(/LUNAS_MASTER_KEY/);
    expect(() => sealer.open(sealed, 'provider-server-key')).toThrow(/auth/);
  });
});
