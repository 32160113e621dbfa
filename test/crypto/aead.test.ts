import { createSecretKey, randomBytes } from 'node:crypto';
import { decrypt, encrypt, OVERHEAD_BYTES } from '../../src/crypto/aead';

const key = createSecretKey(randomBytes(32));
const text = Buffer.from('rahasia');

it('decrypts with the same key and associated data only', () => {
  const encrypted = encrypt(key, text, 'row 1');
  expect(encrypted).toHaveLength(OVERHEAD_BYTES + text.length);
  expect(decrypt(key, encrypted, 'row 1')).toEqual(text);
  expect(() => decrypt(key, encrypted, 'row 2')).toThrow(/authenticate/);
  expect(() => decrypt(createSecretKey(randomBytes(32)), encrypted, 'row 1')).toThrow(/authenticate/);
});

it('encrypts equal texts differently', () => {
  expect(encrypt(key, text, '')).not.toEqual(encrypt(key, text, ''));
});

it('decrypts the standard vector of AES-256-GCM', () => {
  // The GCM specification, test case 14: zeros, no associated data. The order here is iv, tag, ciphertext.
  const vector = `${'0'.repeat(24)}d0d1c8a799996bf0265b98b5d48ab919cea7403d4d606b6e074ec5d3baf39d18`;
  const zeros = createSecretKey(Buffer.alloc(32));
  expect(decrypt(zeros, Buffer.from(vector, 'hex'), '')).toEqual(Buffer.alloc(16));
});

it('attack: nothing that is shorter than a tag decrypts, and no byte can change', () => {
  const encrypted = encrypt(key, text, '');
  expect(() => decrypt(key, encrypted.subarray(0, OVERHEAD_BYTES - 12), '')).toThrow('too short');
  for (let index = 0; index < encrypted.length; index += 1) {
    const changed = Buffer.from(encrypted);
    changed[index] = (changed[index] ?? 0) ^ 1;
    expect(() => decrypt(key, changed, '')).toThrow(/authenticate/);
  }
});
