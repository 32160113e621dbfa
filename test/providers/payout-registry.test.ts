import { generateKeyPairSync } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { createSealer } from '../../src/crypto/sealing';
import { createPool, type Pool } from '../../src/db/connection/pool';
import { freePort } from '../../src/local-stack/ports';
import { createPayoutRegistry } from '../../src/providers/payout-registry';
import { addPayoutsAccount } from '../../src/services/provider-accounts/payouts-account';
import { newPayoutReference } from '../sandbox/bank/bank-under-test';
import { SILENT } from '../support/collect-log';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { newMasterKey } from '../support/service';

const NUMBER = '1234567890';

let database: TestDatabase;
let db: Pool;
let bank: Server;
let baseUrl: string;

beforeAll(async () => {
  database = await createTestDatabase();
  db = createPool(database.url, { max: 2 });
  bank = createServer((request, response) => void respond(request, response));
  const port = await freePort();
  await new Promise<void>((resolve) => bank.listen(port, '127.0.0.1', resolve));
  baseUrl = `http://127.0.0.1:${port}`;
});
afterAll(async () => {
  await new Promise((resolve) => bank.close(resolve));
  await db.end();
  await database.drop();
});

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { status, json } = echo(request, await text(request));
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json));
}

/** A bank that rejects everything, and repeats the number in its reason. */
function echo({ url = '' }: IncomingMessage, body: string): { readonly status: number; readonly json: object } {
  if (url.includes('access-token')) {
    return { status: 200, json: { responseCode: '2007300', accessToken: 'token', expiresIn: '900' } };
  }
  const responseMessage = `Invalid account ${NUMBER}`;
  if (url.endsWith('/status')) {
    const amount = { value: '250000.00', currency: 'IDR' };
    const found = { originalPartnerReferenceNo: JSON.parse(body).originalPartnerReferenceNo, amount };
    const failed = { latestTransactionStatus: '06', transactionStatusDesc: responseMessage };
    return { status: 200, json: { responseCode: '2003600', responseMessage: 'Successful', ...found, ...failed } };
  }
  const service = url.includes('inquiry') ? '16' : '18';
  return { status: 404, json: { responseCode: `404${service}11`, responseMessage } };
}

/** What a bank issues with an account. */
function issued(): string {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  return JSON.stringify({
    clientId: 'client',
    clientSecret: 'secret-of-the-client',
    partnerId: 'partner',
    channelId: '95221',
    merchantKey: 'merchant-key',
    privateKey,
    sourceAccountNo: '0000000000',
    acquirerPublicKeys: [publicKey],
  });
}

it('a bank that repeats the account number in its reason does not bring it into rows and logs', async () => {
  const sealer = createSealer(newMasterKey());
  const { id } = await addPayoutsAccount(db, sealer, {
    adapter: 'snap-midtrans',
    baseUrl,
    credentials: issued(),
    environment: 'sandbox',
    isProposed: false,
  });
  const registry = createPayoutRegistry({ db, sealer, log: SILENT, slotsPerAccount: 3 });
  const found = await registry.findAccount(id);
  if (!found) throw new Error('The account is not registered');
  const call = { signal: new AbortController().signal, deadlineAtMs: Date.now() + 30_000 };
  const [referenceId, submittedAt] = [newPayoutReference(), new Date()];
  const account = { bankCode: '014', number: NUMBER };
  const order = { referenceId, sendNumber: 1, amountRupiah: 250_000, account, holderName: 'TOKO', submittedAt };
  const outcomes = [
    await found.provider.inquireAccount(account, call),
    await found.provider.sendPayout(order, call),
    await found.provider.findPayout({ referenceId, bankReference: null, submittedAt }, call),
  ];
  await registry.close();
  const texts = outcomes.map((outcome) => JSON.stringify(outcome));
  expect(texts.filter((outcome) => !outcome.includes('••••7890'))).toEqual([]);
  expect(texts.filter((outcome) => outcome.includes(NUMBER))).toEqual([]);
});

it('production refuses a bank with an unconfirmed profile, a sandbox does not', async () => {
  const account = { adapter: 'snap-faspay', credentials: issued(), isProposed: true } as const;
  const sealer = createSealer(newMasterKey());
  const production = { ...account, baseUrl: 'https://bank.example', environment: 'production' } as const;
  await expect(addPayoutsAccount(db, sealer, production)).rejects.toMatchObject({
    reason: 'not_allowed',
    message: expect.stringContaining('has not confirmed: statuses'),
  });
  expect(await addPayoutsAccount(db, sealer, { ...account, baseUrl, environment: 'sandbox' })).toMatchObject({
    adapter: 'snap-faspay',
    status: 'proposed',
  });
});
