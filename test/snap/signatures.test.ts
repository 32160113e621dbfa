import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import {
  bodyHash,
  callString,
  signHmac,
  signRsa,
  stripInsignificantWhitespace,
  tokenString,
  verifyBody,
  verifyRsa,
} from '../../src/snap/signatures';
import { MIDTRANS_PUBLIC_KEY, PUBLISHED_CALL, PUBLISHED_NOTIFICATION, PUBLISHED_TOKEN } from './published-vectors';

const publishedKey = createPublicKey({ key: Buffer.from(MIDTRANS_PUBLIC_KEY, 'base64'), format: 'der', type: 'spki' });

/** The same text with another character at this index. */
function changeAt(text: string, index: number): string {
  const changed = text[index] === 'x' ? 'y' : 'x';
  return text.slice(0, index) + changed + text.slice(index + 1);
}

describe('the vectors that Midtrans publishes', () => {
  const { secret, token, path, timestamp, body, hash, signature } = PUBLISHED_CALL;
  const signed = (change: Partial<typeof PUBLISHED_CALL> = {}): string => {
    const parts = { path, timestamp, token, body, secret, ...change };
    const text = callString({ method: 'POST', ...parts, bodyHash: bodyHash(Buffer.from(parts.body)) });
    return signHmac(parts.secret, text);
  };

  it('a call with a token: hash and signature', () => {
    expect(bodyHash(Buffer.from(body))).toBe(hash);
    expect(signed()).toBe(signature);
  });

  it.each(['path', 'timestamp', 'token', 'body', 'secret'] as const)('a call with another %s', (part) => {
    expect(signed({ [part]: changeAt(PUBLISHED_CALL[part], 3) })).not.toBe(signature);
  });

  it('a request for a token', () => {
    const { clientId, timestamp, signature } = PUBLISHED_TOKEN;
    expect(verifyRsa(publishedKey, tokenString(clientId, timestamp), signature)).toBe(true);
    expect(verifyRsa(publishedKey, tokenString(changeAt(clientId, 0), timestamp), signature)).toBe(false);
    expect(verifyRsa(publishedKey, tokenString(clientId, changeAt(timestamp, 5)), signature)).toBe(false);
  });

  it('a notification', () => {
    const { body, ...parts } = PUBLISHED_NOTIFICATION;
    const verify = (change: Partial<typeof PUBLISHED_NOTIFICATION> = {}): boolean => {
      const message = { ...parts, body, ...change };
      return verifyBody([publishedKey], { method: 'POST', ...message, bytes: Buffer.from(message.body) });
    };
    expect(verify()).toBe(true);
    expect(verify({ path: changeAt(parts.path, 4) })).toBe(false);
    expect(verify({ timestamp: changeAt(parts.timestamp, 18) })).toBe(false);
    expect(verify({ body: body.replace('102800.00', '102801.00') })).toBe(false);
    for (const signature of ['', 'AAAA', parts.signature.slice(4), `${parts.signature}=`, ` ${parts.signature}`, 'é']) {
      expect(verify({ signature })).toBe(false);
    }
  });
});

describe('a signed body', () => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
  const parts = { method: 'POST', path: '/v1.0/notify', timestamp: '2026-11-24T10:00:00+07:00' } as const;
  /** Its properties return whether they hold: `expect` takes most of the time of so many runs. */
  const RUNS = { numRuns: 10_000 };
  const RSA_RUNS = { numRuns: 200 };

  /** JSON as acquirers write it: escapes that JavaScript would not use, decimals, and a key twice. */
  const token = fc.oneof(
    fc.string().map((text) => JSON.stringify(text)),
    fc.constantFrom('"a\\/b"', '1.0', '"\\u00e9"', '"\u2028"', '"\\\\"', '" \\" "', '1e3', 'true', 'null', '-0.50'),
  );
  const members = (pairs: readonly (readonly [string, string])[]): string[] =>
    pairs.flatMap(([key, value]) => [',', key.startsWith('"') ? key : '"key"', ':', value]).slice(1);
  const tokens = fc
    .array(fc.tuple(token, token), { minLength: 1, maxLength: 6 })
    .map((pairs) => ['{'].concat(members(pairs), '}'));
  const whitespace = fc.stringMatching(/^[ \t\r\n]{0,3}$/);
  const spaced = tokens.chain((texts) =>
    fc.array(whitespace, { minLength: texts.length + 1, maxLength: texts.length + 1 }).map((spaces) => ({
      compact: Buffer.from(texts.join('')),
      spaced: Buffer.from(texts.map((text, index) => (spaces[index] ?? '') + text).join('') + spaces.at(-1)),
    })),
  );

  const signatureOf = (bytes: Buffer) =>
    signRsa(privateKey, callString({ ...parts, token: null, bodyHash: bodyHash(bytes) }));

  it('a stripped body has no white space outside of strings, and stripping twice changes nothing', () => {
    const property = fc.property(spaced, ({ compact, spaced: bytes }) => {
      const stripped = stripInsignificantWhitespace(bytes);
      const again = stripInsignificantWhitespace(stripped);
      const isSameJson = isDeepStrictEqual(JSON.parse(stripped.toString()), JSON.parse(bytes.toString()));
      return stripped.equals(compact) && again.equals(compact) && isSameJson;
    });
    expect(() => fc.assert(property, RUNS)).not.toThrow();
  });

  it('a stripped body loses no byte of anything else, also if it is no JSON', () => {
    const property = fc.property(fc.uint8Array({ maxLength: 64 }), (array) => {
      const bytes = Buffer.from(array);
      const stripped = stripInsignificantWhitespace(bytes);
      const withoutSpace = (buffer: Buffer) => buffer.filter((byte) => ![0x20, 0x09, 0x0a, 0x0d].includes(byte));
      const keepsAll = isDeepStrictEqual(withoutSpace(stripped), withoutSpace(bytes));
      return keepsAll && stripInsignificantWhitespace(stripped).equals(stripped);
    });
    expect(() => fc.assert(property, RUNS)).not.toThrow();
  });

  it('verifies as it is, and with any white space outside of strings', async () => {
    await fc.assert(
      fc.asyncProperty(spaced, async ({ compact, spaced: bytes }) => {
        const signature = await signatureOf(compact);
        expect(verifyBody([publicKey], { ...parts, bytes: compact, signature })).toBe(true);
        expect(verifyBody([publicKey], { ...parts, bytes, signature })).toBe(true);
        const ofSpaced = await signatureOf(bytes);
        expect(verifyBody([publicKey], { ...parts, bytes, signature: ofSpaced })).toBe(true);
      }),
      RSA_RUNS,
    );
  });

  it('a signed body does not verify with another byte', async () => {
    const changed = spaced.chain(({ compact }) =>
      fc.tuple(fc.constant(compact), fc.nat(compact.length - 1), fc.integer({ min: 0x21, max: 0x7e })),
    );
    await fc.assert(
      fc.asyncProperty(changed, async ([compact, index, byte]) => {
        const bytes = Buffer.from(compact);
        fc.pre(bytes[index] !== byte);
        bytes[index] = byte;
        expect(verifyBody([publicKey], { ...parts, bytes, signature: await signatureOf(compact) })).toBe(false);
      }),
      RSA_RUNS,
    );
  });

  it.each(['{"a":"b\\/c"}', '{"a":1.0}', '{"a":"\\u00e9"}', '{"a":"\\u2028"}', '{"a":1,"a":2}'])(
    'a signed body does not verify if it is parsed and serialised again: %s',
    async (text) => {
      const bytes = Buffer.from(JSON.stringify(JSON.parse(text)));
      const signature = await signatureOf(Buffer.from(text));
      expect(verifyBody([publicKey], { ...parts, bytes: Buffer.from(text), signature })).toBe(true);
      expect(verifyBody([publicKey], { ...parts, bytes, signature })).toBe(false);
    },
  );

  it('a signed body does not verify if its bytes are no UTF-8, although the key signed them', async () => {
    const bytes = Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]);
    expect(verifyBody([publicKey], { ...parts, bytes, signature: await signatureOf(bytes) })).toBe(false);
  });

  it('verifies with each of two keys, and with no other', async () => {
    const other = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey;
    const bytes = Buffer.from('{}');
    const signature = await signatureOf(bytes);
    expect(verifyBody([other, publicKey], { ...parts, bytes, signature })).toBe(true);
    expect(verifyBody([other], { ...parts, bytes, signature })).toBe(false);
    expect(verifyBody([], { ...parts, bytes, signature })).toBe(false);
  });
});
