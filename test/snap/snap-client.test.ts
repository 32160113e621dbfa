import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { indeterminate, type Indeterminate } from '../../src/domain/provider-call';
import { bodyHash, callString, signHmac, tokenString, verifyBody, verifyRsa } from '../../src/snap/signatures';
import { SnapClient, type SnapHttp, type SnapSigning } from '../../src/snap/snap-client';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
const publicKey = createPublicKey(privateKey);
const TOKEN_PATH = '/v1.0/access-token/b2b';
const HMAC: SnapSigning = { kind: 'hmac_with_token', tokenPath: TOKEN_PATH, clientSecret: 'client-secret' };

type Request = Parameters<SnapHttp['send']>[0];
type Response = readonly [httpStatus: number, responseCode: string] | Indeterminate;

/** A client whose connection has these responses to its calls, and always a new token. */
function openClient(signing: SnapSigning, responses: readonly Response[]) {
  const requests: Request[] = [];
  const left = [...responses];
  const http: SnapHttp = {
    send(request) {
      requests.push(request);
      const isToken = request.path === TOKEN_PATH;
      const response = isToken ? ([200, '2007300'] as const) : (left.shift() ?? indeterminate('no response'));
      if (!Array.isArray(response)) return Promise.resolve(indeterminate('no response'));
      const [httpStatus, responseCode] = response;
      const token = { accessToken: `token-${requests.length}`, expiresIn: '900' };
      return Promise.resolve({
        outcome: 'responded',
        httpStatus,
        text: JSON.stringify({ responseCode, ...(isToken && token) }),
      });
    },
  };
  const credentials = { clientId: 'client', partnerId: 'partner', channelId: '95221', privateKey };
  const client = new SnapClient({ http, credentials, signing });
  const call = (timeoutMs = 60_000) =>
    client.call(
      { service: 'interbank_transfer', path: '/v1.0/transfer-interbank', externalId: '1', body: { note: 'a/é 1.0' } },
      { signal: new AbortController().signal, deadlineAtMs: Date.now() + timeoutMs },
    );
  const calls = () => requests.filter(({ path }) => path !== TOKEN_PATH);
  const tokens = () => requests.filter(({ path }) => path === TOKEN_PATH);
  return { call, calls, tokens };
}

it('signs the bytes that it sends, with the token and the client secret', async () => {
  const { call, calls, tokens } = openClient(HMAC, [[200, '2001800']]);
  expect(await call()).toMatchObject({ outcome: 'responded', httpStatus: 200, caseCode: '00' });
  const [request] = calls();
  const [token] = tokens();
  const timestamp = request?.headers['x-timestamp'] ?? '';
  expect(timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+07:00$/);
  const hash = bodyHash(request?.bytes ?? Buffer.alloc(0));
  const text = callString({ method: 'POST', path: request?.path ?? '', token: 'token-1', bodyHash: hash, timestamp });
  expect(request?.headers).toMatchObject({
    authorization: 'Bearer token-1',
    'x-signature': signHmac('client-secret', text),
    'x-partner-id': 'partner',
    'x-external-id': '1',
    'channel-id': '95221',
  });
  const tokenText = tokenString('client', token?.headers['x-timestamp'] ?? '');
  expect(verifyRsa(publicKey, tokenText, token?.headers['x-signature'] ?? '')).toBe(true);
});

it('signs with its RSA key and without a token, if the acquirer has no tokens', async () => {
  const { call, calls, tokens } = openClient({ kind: 'rsa' }, [[200, '2001800']]);
  expect(await call()).toMatchObject({ outcome: 'responded' });
  expect(tokens()).toHaveLength(0);
  for (const { path, headers, bytes } of calls()) {
    const { 'x-timestamp': timestamp = '', 'x-signature': signature = '' } = headers;
    expect(headers).not.toHaveProperty('authorization');
    expect(verifyBody([publicKey], { method: 'POST', path, timestamp, signature, bytes })).toBe(true);
  }
});

it.each(['4011801', '4011803'])('repeats a call one time with a fresh token after %s', async (rejection) => {
  const once = openClient(HMAC, [
    [401, rejection],
    [200, '2001800'],
  ]);
  expect(await once.call()).toMatchObject({ httpStatus: 200 });
  expect(once.calls().map(({ headers }) => headers.authorization)).toEqual(['Bearer token-1', 'Bearer token-3']);
  const twice = openClient(HMAC, [
    [401, rejection],
    [401, rejection],
    [200, '2001800'],
  ]);
  expect(await twice.call()).toMatchObject({ httpStatus: 401 });
  expect(twice.calls()).toHaveLength(2);
});

it.each([
  ['a rejected signature', [401, '4011800']],
  ['no response', indeterminate('no response')],
] as const)('a client does not repeat a call after %s', async (_case, response) => {
  const { call, calls } = openClient(HMAC, [response, [200, '2001800']]);
  await call();
  expect(calls()).toHaveLength(1);
});

it('a client does not repeat a call shortly before its deadline', async () => {
  const { call, calls } = openClient(HMAC, [
    [401, '4011801'],
    [200, '2001800'],
  ]);
  expect(await call(299)).toMatchObject({ outcome: expect.any(String) });
  expect(calls().length).toBeLessThan(2);
});
