import { createHash, createHmac, createSign, randomInt } from 'node:crypto';
import { Client } from 'pg';
import { MAGIC_ACCOUNTS } from '../../../src/sandbox/bank/magic-accounts';
import { eventually } from '../../support/eventually';
import type { Json } from '../sandbox-under-test';
import { newPayoutReference, openBank, type BankMerchant, type BankUnderTest } from './bank-under-test';

const TOKEN_PATH = '/v1.0/access-token/b2b';
const TRANSFER = '/v1.0/transfer-interbank';
const INQUIRY = '/v1.0/account-inquiry-external';
const STATUS = '/v1.0/transfer/status';

let bank: BankUnderTest;
let merchant: BankMerchant;
let token: string;

beforeAll(async () => {
  bank = await openBank();
  merchant = await bank.register('midtrans');
  token = (await requestToken()).accessToken;
});

afterAll(() => bank.sandbox.close());

const wib = (offsetMs = 0): string =>
  new Date(Date.now() + 7 * 3_600_000 + offsetMs).toISOString().replace(/\.\d+Z$/, '+07:00');
const newExternalId = (): string => `${Date.now()}${randomInt(10 ** 9)}`;

interface Change {
  readonly path?: string;
  /** What is signed instead of what is sent. */
  readonly signed?: { path?: string; body?: string; token?: string; method?: string; hash?: (hex: string) => string };
  readonly encoding?: 'base64' | 'hex';
  readonly secret?: string;
  /** Undefined removes it. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string;
}

const transferBody = (change: object = {}): string =>
  JSON.stringify({
    partnerReferenceNo: newPayoutReference(),
    amount: { value: '250000.00', currency: 'IDR' },
    beneficiaryAccountName: 'TOKO DEMO LUNAS',
    beneficiaryAccountNo: '1234567890',
    beneficiaryBankCode: '014',
    sourceAccountNo: '0000000000',
    transactionDate: wib(),
    ...change,
  });

/** A call that is right except for the change. Written from the standard, with no code of the service. */
async function call({ path = TRANSFER, body = transferBody(), headers = {}, signed = {}, ...change }: Change = {}) {
  const timestamp = headers['x-timestamp'] ?? wib();
  const { hash = (hex: string) => hex } = signed;
  const digest = hash(
    createHash('sha256')
      .update(signed.body ?? body)
      .digest('hex'),
  );
  const text = [signed.method ?? 'POST', signed.path ?? path, signed.token ?? token, digest, timestamp].join(':');
  const signature = createHmac('sha512', change.secret ?? merchant.clientSecret)
    .update(text)
    .digest(change.encoding ?? 'base64');
  const all = {
    'content-type': 'application/json',
    authorization: `Bearer ${token}`,
    'x-timestamp': timestamp,
    'x-signature': signature,
    'x-partner-id': merchant.partnerId,
    'x-external-id': newExternalId(),
    'channel-id': merchant.channelId,
    ...headers,
  };
  return post(merchant.baseUrl + path, body, all);
}

async function post(url: string, body: string, headers: Readonly<Record<string, string | undefined>>): Promise<Json> {
  const given = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, value]],
  );
  const response = await fetch(url, { method: 'POST', body, headers: given, signal: AbortSignal.timeout(30_000) });
  const parsed: Json = await response.json();
  expect(parsed.responseCode?.slice(0, 3)).toBe(String(response.status));
  return parsed;
}

async function requestToken(change: { timestamp?: string; clientId?: string; body?: string; text?: string } = {}) {
  const { timestamp = wib(), clientId = merchant.clientId } = change;
  const text = change.text ?? `${clientId}|${timestamp}`;
  const signature = createSign('sha256').update(text).sign(merchant.privateKeyPem, 'base64');
  return post(merchant.baseUrl + TOKEN_PATH, change.body ?? '{"grantType":"client_credentials"}', {
    'content-type': 'application/json',
    'x-timestamp': timestamp,
    'x-client-key': clientId,
    'x-signature': signature,
  });
}

const codeOf = async (change?: Change): Promise<string> => (await call(change)).responseCode;

describe('a request for a token', () => {
  it('gets one for 900 seconds, with either name of the grant', async () => {
    const expected = { responseCode: '2007300', tokenType: 'Bearer', expiresIn: '900' };
    expect(await requestToken()).toMatchObject(expected);
    expect(await requestToken({ body: '{"grant_type":"client_credentials"}' })).toMatchObject(expected);
  });

  it.each([
    ['another text was signed', { text: 'another' }, '4017300'],
    ['the client is unknown', { clientId: 'unknown' }, '4017300'],
    ['there is no grant', { body: '{}' }, '4007302'],
    ['the body is no JSON', { body: '{' }, '4007301'],
    ['the timestamp is old', { timestamp: wib(-6 * 60_000) }, '4007301'],
    ['the timestamp has no zone', { timestamp: '2026-11-24T10:00:00' }, '4007301'],
  ])('a request for a token is rejected if %s', async (_case, change, responseCode) => {
    expect(await requestToken(change)).toMatchObject({ responseCode });
  });
});

describe('a call', () => {
  it('a call that is right is accepted', async () => {
    expect(await call()).toMatchObject({ responseCode: '2001800', responseMessage: 'Successful' });
  });

  it('a call whose signed body was compact is accepted with white space outside of strings', async () => {
    const body = transferBody({ beneficiaryAccountName: 'a "b"  c' });
    const spaced = JSON.stringify(JSON.parse(body), null, 2);
    expect(await codeOf({ body: spaced, signed: { body } })).toBe('2001800');
  });

  it.each<[string, Change, string]>([
    ['another secret', { secret: 'another' }, '4011800'],
    ['another path', { signed: { path: '/v1.0/transfer-intrabank' } }, '4011800'],
    ['the path with the mount', { signed: { path: `/snap/midtrans${TRANSFER}` } }, '4011800'],
    ['another method', { signed: { method: 'GET' } }, '4011800'],
    ['another body', { signed: { body: '{}' } }, '4011800'],
    ['another token', { signed: { token: 'another' } }, '4011800'],
    ['a signature in hex', { encoding: 'hex' }, '4011800'],
    ['a hash in upper case', { signed: { hash: (hex) => hex.toUpperCase() } }, '4011800'],
    ['an empty signature', { headers: { 'x-signature': '' } }, '4001802'],
    ['a signature that is no base64', { headers: { 'x-signature': '*' } }, '4011800'],
    ['another partner', { headers: { 'x-partner-id': '1' } }, '4011800'],
    ['an unknown token', { headers: { authorization: 'Bearer unknown' } }, '4011803'],
    ['no token', { headers: { authorization: undefined } }, '4001802'],
    ['no timestamp', { headers: { 'x-timestamp': '' } }, '4001802'],
    ['an old timestamp', { headers: { 'x-timestamp': wib(-6 * 60_000) } }, '4001801'],
    ['a timestamp in the future', { headers: { 'x-timestamp': wib(6 * 60_000) } }, '4001801'],
    ['a timestamp without a zone', { headers: { 'x-timestamp': wib().slice(0, 19) } }, '4001801'],
    ['no external id', { headers: { 'x-external-id': undefined } }, '4001802'],
    ['letters in the external id', { headers: { 'x-external-id': 'LP1' } }, '4001801'],
    ['37 digits in the external id', { headers: { 'x-external-id': '1'.repeat(37) } }, '4001801'],
    ['a channel of four digits', { headers: { 'channel-id': '1234' } }, '4001801'],
    ['another content type', { headers: { 'content-type': 'text/plain' } }, '4001801'],
    ['no JSON', { body: '{' }, '4001801'],
    ['a cut reference', { body: transferBody({ partnerReferenceNo: '' }) }, '4001801'],
    ['no reference', { body: transferBody({ partnerReferenceNo: undefined }) }, '4001802'],
    ['an amount without a fraction', { body: transferBody({ amount: { value: '1', currency: 'IDR' } }) }, '4001801'],
    ['an amount of 0', { body: transferBody({ amount: { value: '0.00', currency: 'IDR' } }) }, '4001801'],
    ['another currency', { body: transferBody({ amount: { value: '1.00', currency: 'USD' } }) }, '4001801'],
    ['no currency', { body: transferBody({ amount: { value: '1.00' } }) }, '4001802'],
    ['no date', { body: transferBody({ transactionDate: undefined }) }, '4001802'],
    ['letters in the account number', { body: transferBody({ beneficiaryAccountNo: '12345x' }) }, '4001801'],
  ])('a call with %s gets its code', async (_case, change, responseCode) => {
    expect(await codeOf(change)).toBe(responseCode);
  });

  it('a call with an external id of today is rejected, whatever the service and the body', async () => {
    const headers = { 'x-external-id': newExternalId() };
    const body = transferBody();
    expect(await codeOf({ headers, body })).toBe('2001800');
    expect(await codeOf({ headers, body })).toBe('4091800');
    expect(await codeOf({ headers })).toBe('4091800');
    const inquiry = JSON.stringify({ beneficiaryBankCode: '014', beneficiaryAccountNo: '1234567890' });
    expect(await codeOf({ path: INQUIRY, headers, body: inquiry })).toBe('4091600');
    expect(await codeOf({ path: INQUIRY, body: inquiry })).toBe('2001600');
  });

  it('a call whose signature is wrong uses no external id', async () => {
    const headers = { 'x-external-id': newExternalId() };
    expect(await codeOf({ headers, secret: 'another' })).toBe('4011800');
    expect(await codeOf({ headers })).toBe('2001800');
  });

  it('a call with a reference that was accepted is rejected, also with another amount', async () => {
    const partnerReferenceNo = newPayoutReference();
    expect(await codeOf({ body: transferBody({ partnerReferenceNo }) })).toBe('2001800');
    expect(await codeOf({ body: transferBody({ partnerReferenceNo }) })).toBe('4091801');
    const body = transferBody({ partnerReferenceNo, amount: { value: '1.00', currency: 'IDR' } });
    expect(await codeOf({ body })).toBe('4091801');
    expect(await bank.findTransfer(partnerReferenceNo)).toMatchObject({ send_calls: 3, amount_rupiah: 250_000 });
  });

  it('a call for the status of another merchant finds nothing', async () => {
    const partnerReferenceNo = newPayoutReference();
    const body = JSON.stringify({ originalPartnerReferenceNo: partnerReferenceNo, serviceCode: '18' });
    expect(await codeOf({ path: STATUS, body })).toBe('4043601');
    await call({ body: transferBody({ partnerReferenceNo }) });
    expect(await codeOf({ path: STATUS, body })).toBe('2003600');
    const [ours, ourToken] = [merchant, token];
    merchant = await bank.register('midtrans');
    token = (await requestToken()).accessToken;
    expect(await codeOf({ path: STATUS, body })).toBe('4043601');
    expect(await codeOf({ headers: { authorization: `Bearer ${ourToken}` } })).toBe('4011800');
    [merchant, token] = [ours, ourToken];
  });

  it('a call with an expired token gets 401 01, and with a revoked one 401 03', async () => {
    await bank.sandbox.call('PUT', '/simulator/snap', { token_seconds: 0.001 });
    const { accessToken } = await requestToken();
    await bank.sandbox.call('PUT', '/simulator/snap', { token_seconds: 900 });
    const valid = token;
    token = accessToken;
    expect(await codeOf()).toBe('4011801');
    token = valid;
    expect(await codeOf()).toBe('2001800');
    await bank.sandbox.call('DELETE', '/simulator/snap/tokens');
    expect(await codeOf()).toBe('4011803');
    token = (await requestToken()).accessToken;
  });
});

describe('the controls of the bank', () => {
  const change = (reference: string, verb: string) =>
    bank.sandbox.call('POST', `/simulator/transfers/${reference}/${verb}`);

  it('change a transfer only in the ways of a bank', async () => {
    const partnerReferenceNo = newPayoutReference();
    expect(await change(partnerReferenceNo, 'complete')).toMatchObject({ http: 404 });
    await call({ body: transferBody({ partnerReferenceNo, beneficiaryAccountNo: '9900000020' }) });
    const verbs = ['return', 'complete', 'complete', 'fail', 'return', 'return', 'complete'];
    const codes: number[] = [];
    for (const verb of verbs) codes.push((await change(partnerReferenceNo, verb)).http);
    expect(codes).toEqual([409, 200, 409, 409, 200, 409, 409]);
    const { executions } = await bank.findTransfer(partnerReferenceNo);
    expect(executions.map(({ direction }: Json) => direction)).toEqual(['out', 'back']);
  });

  it('let the bank forget references: it executes the same order a second time', async () => {
    const partnerReferenceNo = newPayoutReference();
    const body = () => transferBody({ partnerReferenceNo, beneficiaryAccountNo: '9900000020' });
    await bank.sandbox.call('PUT', '/simulator/bank-account', { forgets_references: true });
    expect([await codeOf({ body: body() }), await codeOf({ body: body() })]).toEqual(['2001800', '2001800']);
    await bank.sandbox.call('PUT', '/simulator/bank-account', { forgets_references: false });
    await change(partnerReferenceNo, 'complete');
    const { executions } = await bank.findTransfer(partnerReferenceNo);
    expect(executions.map(({ direction }: Json) => direction)).toEqual(['out', 'out']);
  });

  it('take the cover of a transfer: it fails at its step, and the others go on', async () => {
    const [large, small] = [newPayoutReference(), newPayoutReference()];
    const { balance_rupiah: balanceRupiah } = await bank.sandbox.call('GET', '/simulator/bank-account');
    await call({ body: transferBody({ partnerReferenceNo: large }) });
    const amount = { value: '100000.00', currency: 'IDR' };
    await call({ body: transferBody({ partnerReferenceNo: small, amount }) });
    await bank.sandbox.call('PUT', '/simulator/bank-account', { balance_rupiah: 100_000 });
    const ended = async () => [await bank.findTransfer(large), await bank.findTransfer(small)];
    const [failed, completed] = await eventually(ended, (both) => both.every(({ status }) => status !== 'pending'));
    await bank.sandbox.call('PUT', '/simulator/bank-account', { balance_rupiah: balanceRupiah });
    expect([failed.status, failed.executions]).toEqual(['failed', []]);
    expect([completed.status, completed.executions.length]).toEqual(['completed', 1]);
  });

  it('list the executions of a transfer, and none of another merchant with the same reference', async () => {
    const partnerReferenceNo = newPayoutReference();
    const body = () => transferBody({ partnerReferenceNo, beneficiaryAccountNo: '9900000020' });
    await call({ body: body() });
    await change(partnerReferenceNo, 'complete');
    const [ours, ourToken] = [merchant, token];
    merchant = await bank.register('midtrans');
    token = (await requestToken()).accessToken;
    expect(await codeOf({ body: body() })).toBe('2001800');
    [merchant, token] = [ours, ourToken];
    const { transfers } = await bank.sandbox.call('GET', '/simulator/transfers');
    const found = transfers.filter((transfer: Json) => transfer.partner_reference_no === partnerReferenceNo);
    expect(found.map(({ status, executions }: Json) => [status, executions.length])).toEqual([
      ['pending', 0],
      ['completed', 1],
    ]);
  });

  it('reject wrong values, and list the numbers with a behaviour of their own', async () => {
    const wrong = [{ balance_rupiah: -1 }, { balance_rupiah: 1.5 }, { balance: 1 }];
    for (const body of wrong) {
      expect(await bank.sandbox.call('PUT', '/simulator/bank-account', body)).toMatchObject({ http: 400 });
    }
    const registration = { profile: 'midtrans', public_key: 'no key' };
    expect(await bank.sandbox.call('POST', '/simulator/snap/merchants', registration)).toMatchObject({ http: 400 });
    const { numbers } = await bank.sandbox.call('GET', '/simulator/bank-account/numbers');
    expect(numbers).toHaveLength(MAGIC_ACCOUNTS.length);
  });

  it('neither the controls of the bank nor a client of the database change or delete an execution', async () => {
    await call({ body: transferBody() });
    const client = new Client({ connectionString: bank.sandbox.databaseUrl });
    await client.connect();
    for (const statement of ['update transfer_executions set amount_rupiah = 1', 'delete from transfer_executions']) {
      await expect(client.query(statement)).rejects.toThrow('transfer_executions is append-only');
    }
    await expect(client.query('truncate transfer_executions')).rejects.toThrow('append-only');
    await client.end();
  });
});
