import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { parseSecretKey } from '../../src/crypto/secret-key';
import { createPool } from '../../src/db/connection/pool';
import { findApiKey } from '../../src/db/merchants/find-api-key';
import { replaceLogo } from '../../src/db/merchants/merchant-logos';
import { dataDirectoryAt, lockDataDirectory, unlockDataDirectory } from '../../src/local-stack/data-directory';
import { readRunFile, writeRunFile } from '../../src/local-stack/run-file';
import { openSandbox } from '../sandbox/sandbox-under-test';
import { createProductionDatabase, createTestDatabase, type TestDatabase } from '../support/database';
import { productionOperator } from '../support/production';
import { runLunas, type Outcome } from './run-lunas';

const UNKNOWN_ID = '0193e5c0-0000-7000-8000-000000000000';

let database: TestDatabase;
let home: string;
let environment: NodeJS.ProcessEnv;

beforeAll(async () => {
  database = await createTestDatabase();
  home = await mkdtemp(path.join(os.tmpdir(), 'lunas-cli-'));
  environment = {
    DATABASE_URL: database.urlOf('lunas_local_operator'),
    LUNAS_HOME: home,
    LUNAS_MASTER_KEY: randomBytes(32).toString('base64'),
  };
});

afterAll(async () => {
  await database.drop();
  await rm(home, { recursive: true });
});

/** Arguments as in a shell; no argument of these tests contains a space. */
const lunas = (line: string, changes: NodeJS.ProcessEnv = {}): Promise<Outcome> =>
  runLunas(line.split(' '), { ...environment, ...changes });

// Tests read any result.
// oxlint-disable-next-line typescript/no-explicit-any
async function json(line: string, changes: NodeJS.ProcessEnv = {}): Promise<any> {
  const { exitCode, stdout, stderr } = await lunas(`${line} --json`, changes);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return JSON.parse(stdout);
}

const newMerchant = async (): Promise<string> => (await json('merchants create --name Toko --approve')).merchant.id;

describe('as JSON', () => {
  it('registers a merchant and changes it', async () => {
    const { merchant } = await json(
      'merchants create --name Toko --fee-payer buyer --provider shopeepay --provider gopay',
    );
    expect(merchant).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      code: expect.stringMatching(/^[0-9A-Z]{8}$/),
      name: 'Toko',
      time_zone: 'Asia/Jakarta',
      status: 'pending',
      fee_payer: 'buyer',
      providers: ['shopeepay', 'gopay'],
      payment_method: 'active',
      held_at: null,
      return_url: null,
      contact: null,
      checkout_origins: [],
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/),
    });
    expect((await json(`merchants approve ${merchant.id}`)).merchant.status).toBe('approved');
    expect((await json(`merchants suspend ${merchant.id}`)).merchant.status).toBe('suspended');
    const set = await json(
      `merchants set ${merchant.id} --fee-payer merchant --provider gopay --payment-method inactive`,
    );
    expect(set.merchant).toMatchObject({ fee_payer: 'merchant', providers: ['gopay'], payment_method: 'inactive' });
    expect((await json('merchants list')).merchants).toContainEqual(set.merchant);
  });

  it('sets and removes the return URL, the contact and the origins of the checkout page', async () => {
    const set = `merchants set ${await newMerchant()}`;
    const returnUrl = 'https://shop.example/orders/{merchant_reference_id}?from=pay';
    const origins = ['https://shop.example', 'http://localhost:3000'];
    const contact = 'halo@shop.example';
    const framing = origins.map((origin) => `--checkout-origin ${origin}`).join(' ');
    const options = `--return-url ${returnUrl} --contact ${contact} ${framing}`;
    const page = { return_url: returnUrl, contact, checkout_origins: origins };
    expect((await json(`${set} ${options}`)).merchant).toMatchObject(page);
    expect((await json(`${set} --fee-payer buyer`)).merchant).toMatchObject(page);
    expect((await json(`${set} --return-url none --contact none --checkout-origin none`)).merchant).toMatchObject({
      return_url: null,
      contact: null,
      checkout_origins: [],
    });
  });

  it('removes a logo, with a notice to the owners of the merchant', async () => {
    const merchant = await newMerchant();
    const remove = `merchants remove-logo ${merchant} --note case-4711`;
    const owner = createPool(database.url, { max: 1 });
    try {
      await replaceLogo(owner, merchant, { png: randomBytes(9), width: 3, height: 3 });
      expect(await json(remove)).toEqual({ merchant_id: merchant });
      expect((await owner.query('select 1 from merchant_logos')).rows).toEqual([]);
      const { rows } = await owner.query('select kind, count from merchant_notices where merchant_id = $1', [merchant]);
      expect(rows).toEqual([{ kind: 'security.logo_changed', count: 2 }]);
    } finally {
      await owner.end();
    }
    expect(await lunas(remove)).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('no logo of merchant') });
  });

  const MISPLACED = 'may have {merchant_reference_id} in its path and its query only';
  it.each([
    ['--return-url shop', 'must be absolute and begin with http:// or https://: shop'],
    ['--return-url https://user:secret@shop.example', 'must not contain a user name or password'],
    ['--return-url https://{merchant_reference_id}.example/', MISPLACED],
    ['--return-url https://shop.example{merchant_reference_id}/orders', MISPLACED],
    ['--return-url https:shop.example/orders', 'must be absolute'],
    ['--return-url https:\\\\shop.example\\orders', 'must be absolute'],
    ['--return-url https://shop.example\\orders', 'must not contain white space, a backslash'],
    ['--return-url https://shop.example/#{merchant_reference_id}', MISPLACED],
    ['--return-url https://shop.example:{merchant_reference_id}/', 'must be absolute'],
    ['--return-url https://{merchant_reference_id}@shop.example/', 'must not contain a user name or password'],
    ['--return-url {merchant_reference_id}://shop.example/', 'must be absolute'],
    ['--checkout-origin https://shop.example/orders', 'must be an origin such as https://shop.example, without a path'],
    ['--checkout-origin https://shop.example;x', 'must be an origin such as'],
    ['--checkout-origin https://*.shop.example', 'must be an origin such as'],
  ])('merchants set rejects %s', async (options, violation) => {
    const { exitCode, stdout, stderr } = await lunas(`merchants set ${await newMerchant()} ${options}`);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toContain(`The URL ${violation}`);
  });

  it('creates a key for the API, prints its secret once, and revokes it', async () => {
    const merchant = await newMerchant();
    const { key } = await json(`keys create --merchant ${merchant} --allow-ip 203.0.113.0/24 --allow-ip 198.51.100.7`);
    const parsed = parseSecretKey(key.secret, 'sandbox');
    const db = createPool(database.url, { max: 1 });
    const found = parsed && (await findApiKey(db, parsed.secretSha256, '198.51.100.7'));
    await db.end();
    expect(found).toMatchObject({ merchantId: merchant, merchantStatus: 'approved', addressAllowed: true });

    const { keys } = await json(`keys list --merchant ${merchant}`);
    const { secret, ...withoutSecret } = key;
    expect(secret).toMatch(/^sk_test_/);
    expect(keys).toEqual([withoutSecret]);
    expect((await json(`keys revoke ${key.id}`)).key.revoked_at).not.toBeNull();
  });

  it('creates a key with scopes and an expiry, and lists them with its last use', async () => {
    const merchant = await newMerchant();
    const { key } = await json(`keys create --merchant ${merchant} --scopes read,create --expires 90d`);
    expect(key).toMatchObject({ scopes: ['read', 'create'], last_used_at: null });
    const leftDays = (Date.parse(key.expires_at) - Date.now()) / 86_400_000;
    expect(leftDays).toBeGreaterThan(89.9);
    expect(leftDays).toBeLessThanOrEqual(90);
    const until = await json(`keys create --merchant ${merchant} --expires 2099-01-31T09:00:00Z`);
    expect(until.key).toMatchObject({ scopes: null, expires_at: '2099-01-31T09:00:00.000Z' });
    const { stdout } = await lunas(`keys list --merchant ${merchant}`);
    expect(stdout).toMatch(/^ID +NAME +KEY +FROM +SCOPES +EXPIRES +LAST USED +CREATED +BY +REVOKED$/m);
    expect(stdout).toMatch(/anywhere +read, create +\d{4}-\S+ +- +\d{4}/);
    expect(stdout).toMatch(/anywhere +all +2099-01-31T09:00:00.000Z/);
  });

  it('creates an operator with an allowlist, scopes and an expiry', async () => {
    const restrictions = '--allow-ip 10.1.0.0/16 --scopes read,settle --expires 1d';
    const { operator } = await json(`operators create --name reader ${restrictions}`);
    expect(operator).toMatchObject({ allowed_networks: ['10.1.0.0/16'], scopes: ['read', 'settle'] });
    const { secret, ...withoutSecret } = operator;
    expect(secret).toMatch(/^op_test_/);
    expect((await json('operators list')).operators).toContainEqual(withoutSecret);
    expect((await lunas('operators list')).stdout).toMatch(
      /^ID +NAME +LOGIN +KEY +KEY SET BY +FROM +SCOPES +EXPIRES +APPROVED +CREATED +CREATED BY +REVOKED$/m,
    );
  });

  it('creates live keys in production', async () => {
    const production = await createProductionDatabase();
    const changes = await productionOperator(production.url);
    try {
      const { merchant } = await json('merchants create --name Toko --note contract', changes);
      const { key } = await json(`keys create --merchant ${merchant.id} --note contract`, changes);
      expect(key.secret).toMatch(/^sk_live_/);
    } finally {
      await production.drop();
    }
  });

  it('registers an endpoint and prints its secret once', async () => {
    const merchant = await newMerchant();
    const url = 'http://127.0.0.1:9/webhooks';
    const { endpoint } = await json(`webhooks create --merchant ${merchant} --url ${url} --event payment.paid`);
    expect(endpoint).toMatchObject({ merchant_id: merchant, url, events: ['payment.paid'], status: 'enabled' });
    const { secret, duplicate_of: duplicateOf, ...withoutSecret } = endpoint;
    expect([secret, duplicateOf]).toEqual([expect.stringMatching(/^whsec_/), null]);
    expect((await json('webhooks list')).endpoints).toContainEqual(withoutSecret);
  });

  it('writes the next version of a policy', async () => {
    const { policy } = await json(
      'catalog set --provider gopay --channel qris --fee-bps 0 --fee-flat 1500 --settlement manual ' +
        '--settlement-delay 2d --expires-in 3s',
    );
    expect(policy).toMatchObject({
      provider: 'gopay',
      channel: 'qris',
      version: 1,
      fee_basis_points: 0,
      fee_flat_rupiah: 1_500,
      settlement_kind: 'manual',
      settlement_delay_seconds: 172_800,
      expires_in_seconds: 3,
    });
    const next = await json('catalog set --provider gopay --channel qris --expires-in 15m');
    expect(next.policy).toMatchObject({ version: 2, fee_flat_rupiah: 1_500, expires_in_seconds: 900 });
    expect((await json('catalog list')).policies).toEqual([next.policy]);
  });

  it('registers an account with the server key of the named variable, and disables it', async () => {
    const line =
      'accounts add --provider gopay --adapter midtrans --server-key-env KEY --base-url http://127.0.0.1:9 --weight 3';
    const added = await lunas(`${line} --json`, { KEY: 'SB-Mid-server-of-the-test' });
    expect(added.stdout).not.toContain('SB-Mid-server');
    const { account } = JSON.parse(added.stdout);
    expect(account).toMatchObject({ provider: 'gopay', base_url: 'http://127.0.0.1:9', weight: 3, status: 'enabled' });
    expect((await json('accounts list')).accounts).toEqual([account]);
    expect((await json(`accounts disable ${account.id}`)).account.status).toBe('disabled');
  });

  it('lists payments', async () => {
    expect(await json('payments list --status paid --limit 5')).toEqual({ payments: [], searched_to: null });
  });
});

describe('as text', () => {
  it('prints the created object, with a warning that the secret is not shown again', async () => {
    const merchant = await newMerchant();
    const key = await lunas(`keys create --merchant ${merchant}`);
    expect(key).toMatchObject({ exitCode: 0, stderr: '' });
    expect(key.stdout).toMatch(/^Secret key +sk_test_\w+$/m);
    expect(key.stdout).toContain('not shown again');
    const list = await lunas(`keys list --merchant ${merchant}`);
    expect(list.stdout).toMatch(/^ID +NAME +KEY +FROM/);
    expect(list.stdout).toMatch(/sk_test_….{4} +anywhere/);
  });

  it.each(['--help', 'help', 'merchants --help', 'keys create --help', 'sandbox pay --help'])(
    'helps with %s',
    async (line) => {
      const { exitCode, stdout, stderr } = await lunas(line);
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
      expect(stdout).toMatch(/^Usage: lunas /);
    },
  );

  it('lists every command under --help', async () => {
    const { stdout } = await lunas('--help');
    const names =
      'up services api worker dashboard sandbox codec migrate merchants keys webhooks catalog accounts operators ' +
      'attention payments refunds exceptions doctor ledger';
    for (const name of names.split(' ')) expect(stdout).toMatch(new RegExp(`^  ${name} .*\\w`, 'm'));
  });
});

describe('errors', () => {
  it.each([
    [`merchants approve ${UNKNOWN_ID}`, `There is no merchant ${UNKNOWN_ID}`],
    [`payments list --merchant ${UNKNOWN_ID}`, `There is no merchant ${UNKNOWN_ID}`],
    [`payouts list --merchant ${UNKNOWN_ID}`, `There is no merchant ${UNKNOWN_ID}`],
    [`keys create --merchant ${UNKNOWN_ID}`, `There is no merchant ${UNKNOWN_ID}`],
    [`keys revoke ${UNKNOWN_ID}`, `There is no key ${UNKNOWN_ID}`],
    [`webhooks create --merchant ${UNKNOWN_ID} --url https://shop.example/`, `There is no merchant ${UNKNOWN_ID}`],
    [`accounts disable ${UNKNOWN_ID}`, `There is no provider account ${UNKNOWN_ID}`],
    ['accounts add --provider gopay --adapter midtrans --server-key-env NO_SUCH_KEY', 'NO_SUCH_KEY'],
    ['payments show LN0000000000000000', 'There is no payment LN0000000000000000'],
  ])('%s: prints the reason in one line and exits with 1', async (line, reason) => {
    const { exitCode, stdout, stderr } = await lunas(line);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toMatch(/^error: .+\n$/);
    expect(stderr).toContain(reason);
  });

  it('a URL of another protocol is rejected with the rule that it breaks', async () => {
    const line = `webhooks create --merchant ${await newMerchant()} --url ftp://shop.example/`;
    const { exitCode, stdout, stderr } = await lunas(line);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toMatch(/^error: The URL must be absolute and begin with http:\/\/.+\n$/);
  });

  it.each([
    ['merchants', 'Usage: lunas merchants'],
    ['payments list --from 2026-01-05T03:00:00Z --to 2026-01-04T03:00:00Z', '--from must not be after --to'],
    ['nonsense', "unknown command 'nonsense'"],
    ['merchants list --nonsense', "unknown option '--nonsense'"],
    ['merchants create', "'--name <name>' not specified"],
    ['merchants create --name', 'argument missing'],
    ['merchants create --name T --fee-payer seller', "--fee-payer must be buyer or merchant, not 'seller'"],
    ['merchants create --name T --provider paypal', "--provider must be gopay or shopeepay, not 'paypal'"],
    ['merchants approve 17', "merchant-id must be a UUID, not '17'"],
    [`merchants set ${UNKNOWN_ID}`, 'set needs --fee-payer, --provider, --payment-method, --return-url'],
    [`merchants set ${UNKNOWN_ID} --contact javascript:alert(1)`, '--contact must be an e-mail address, a telephone'],
    [`keys create --merchant ${UNKNOWN_ID} --allow-ip 10.0.0.300`, '--allow-ip must be an IP address or a network'],
    [
      `keys create --merchant ${UNKNOWN_ID} --scopes read,settle`,
      '--scopes must be a list of read, create, cancel, refund',
    ],
    [`keys create --merchant ${UNKNOWN_ID} --expires 2020-01-31T09:00:00Z`, '--expires must be a duration such as 90d'],
    [`keys create --merchant ${UNKNOWN_ID} --expires tomorrow`, '--expires must be a duration such as 90d'],
    ['operators create --name x --scopes create', '--scopes must be a list of read, settle'],
    [`webhooks create --merchant ${UNKNOWN_ID} --url http://x --event payment.lost`, '--event must be payment.created'],
    [
      'catalog set --provider gopay --channel qris --fee-bps -1',
      "--fee-bps must be a whole number from 0 to 10000, not '-1'",
    ],
    ['catalog set --provider gopay --channel qris --fee-flat 1.5', '--fee-flat must be a whole number from 0 to'],
    ['catalog set --provider gopay --channel qris --expires-in 0s', '--expires-in must be a duration from 1s to 365d'],
    ['catalog set --provider gopay --channel qris --settlement-delay 1w', '--settlement-delay must be a duration'],
    [
      'accounts add --provider gopay --adapter midtrans --server-key-env K --weight 0',
      '--weight must be a whole number',
    ],
    ['payments list --limit 0', '--limit must be a whole number from 1 to 1000'],
    ['payments list --status lost', '--status must be created'],
    ['payments list --amount 50000', '--amount needs --merchant or --reference'],
    ['payments list --search meja', '--search needs --merchant'],
    [`payments list --merchant ${UNKNOWN_ID} --search meja --status paid`, '--search takes only --merchant and'],
    ['recover LN1 --from-start', 'takes either payments and payouts, or --since and --from-start'],
    ['payments list --from monday', '--from must be a timestamp such as'],
    ['payments list --overdue --reference ORDER-1', '--overdue takes only --merchant, --status and --limit'],
  ])('%s: prints the violation and exits with 2', async (line, message) => {
    const { exitCode, stdout, stderr } = await lunas(line);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(message);
  });

  it('names the invalid environment variable', async () => {
    const { exitCode, stderr } = await lunas('merchants list', { PORT: 'x' });
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining('PORT') });
  });

  it.each([
    ['/no_such_database', 'has no such database'],
    ['/postgres', 'Run `lunas migrate`'],
  ])('prints a remedy for the database %s', async (pathname, remedy) => {
    const url = new URL(database.url);
    url.pathname = pathname;
    const { exitCode, stderr } = await lunas('merchants list', { DATABASE_URL: url.href });
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining(remedy) });
    expect(stderr).not.toContain(url.password);
  });

  it('prints that no database responds at the address', async () => {
    const { stderr } = await lunas('merchants list', { DATABASE_URL: 'postgresql://127.0.0.1:1/lunas' });
    expect(stderr).toBe(
      'error: PostgreSQL at 127.0.0.1:1/lunas does not respond. Start it, or correct DATABASE_URL.\n',
    );
  });
});

describe('with a running `lunas up`', () => {
  const run = {
    api_url: 'http://127.0.0.1:3000',
    operator_url: 'http://127.0.0.1:3002',
    sandbox_url: 'http://127.0.0.1:3001',
    temporal_address: '127.0.0.1:7233',
    temporal_ui_url: null,
    secret_key: 'sk_test_x',
    webhook_secret: null,
    pid: process.pid,
  };

  beforeEach(() => lockDataDirectory(dataDirectoryAt(home)));
  afterEach(() => unlockDataDirectory(dataDirectoryAt(home)));

  it('uses the running database, and prints what to start if none runs', async () => {
    const without = { DATABASE_URL: '' };
    const before = await lunas('merchants list', without);
    expect(before.exitCode).toBe(1);
    expect(before.stderr).toMatch(/^error: DATABASE_URL is not set .* Start `lunas up`, or set DATABASE_URL\.\n$/);
    await writeRunFile(dataDirectoryAt(home), { ...run, database_url: database.url, merchant_id: UNKNOWN_ID });
    expect((await lunas('merchants list', without)).exitCode).toBe(0);
  });

  it('listens at its API, wherever that is, and names the option for another address', async () => {
    const api = createServer((_, response) => response.writeHead(404).end()).listen(0, '127.0.0.1');
    await once(api, 'listening');
    const { port } = z.object({ port: z.number() }).parse(api.address());
    const url = `http://127.0.0.1:${port}`;
    const runFile = { ...run, api_url: url, database_url: database.url, merchant_id: UNKNOWN_ID };
    await writeRunFile(dataDirectoryAt(home), runFile);
    const { stderr } = await lunas('listen --forward-to http://127.0.0.1:9/', { LUNAS_KEY: 'sk_test_x' });
    expect(stderr).toBe(`error: ${url} has no event stream. If the API has another address, give it with --api-url.\n`);
    api.close();
  });

  it('uses the stored master key, and names the directory if there is none', async () => {
    const line = `webhooks create --merchant ${await newMerchant()} --url http://127.0.0.1:9/`;
    const { stderr } = await lunas(line, { LUNAS_MASTER_KEY: '' });
    expect(stderr).toBe(
      `error: LUNAS_MASTER_KEY is not set and ${home} has none. Start \`lunas up\` once, or set LUNAS_MASTER_KEY.\n`,
    );
  });

  it("writes the secret of the demo merchant's newest endpoint into run.json", async () => {
    const [demo, other] = [await newMerchant(), await newMerchant()];
    await writeRunFile(dataDirectoryAt(home), { ...run, database_url: database.url, merchant_id: demo });
    await json(`webhooks create --merchant ${other} --url http://127.0.0.1:9/`);
    expect((await readRunFile(dataDirectoryAt(home)))?.webhook_secret).toBeNull();
    const { endpoint } = await json(`webhooks create --merchant ${demo} --url http://127.0.0.1:9/`);
    expect((await readRunFile(dataDirectoryAt(home)))?.webhook_secret).toBe(endpoint.secret);
  });
});

describe('lunas sandbox pay', () => {
  it('pays an order of the running sandbox, once', async () => {
    const sandbox = await openSandbox();
    try {
      const { port } = new URL(sandbox.url);
      const { order_id: order } = await sandbox.charge();
      const { payment } = await json(`sandbox pay ${order}`, { SANDBOX_PORT: port });
      expect(payment).toMatchObject({ order_id: order, status: 'settlement' });
      expect((await sandbox.call('GET', `/v2/${order}/status`)).transaction_status).toBe('settlement');
      const again = await lunas(`sandbox pay ${order}`, { SANDBOX_PORT: port });
      expect(again).toMatchObject({ exitCode: 1, stdout: '' });
      expect(again.stderr).toMatch(/^error: The sandbox rejected the payment of .*\n$/);
    } finally {
      await sandbox.close();
    }
  });

  it('rejects an argument that is no reference id with one sentence', async () => {
    const sandbox = await openSandbox();
    try {
      const rejected = await lunas('sandbox pay .', { SANDBOX_PORT: new URL(sandbox.url).port });
      expect(rejected).toMatchObject({ exitCode: 1, stdout: '' });
      expect(rejected.stderr).toBe(
        `error: "." cannot be paid: the response of ${sandbox.url} is not that of a sandbox for an order. ` +
          'Use the reference_id of a payment.\n',
      );
    } finally {
      await sandbox.close();
    }
  });

  it('prints that no sandbox runs', async () => {
    const { exitCode, stderr } = await lunas('sandbox pay LN1', { SANDBOX_PORT: '1' });
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: 'error: No sandbox responds at http://127.0.0.1:1. Start `lunas up`, or set SANDBOX_PORT to its port.\n',
    });
  });
});
