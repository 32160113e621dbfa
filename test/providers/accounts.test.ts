import { randomBytes, randomUUID } from 'node:crypto';
import type { Environment } from '../../src/config';
import { createSealer } from '../../src/crypto/sealing';
import { createPool, type Pool } from '../../src/db/connection/pool';
import { findCurrentPolicy } from '../../src/db/operations/find-current-policy';
import { createProviderRegistry } from '../../src/providers/registry';
import { SANDBOX_SERVER_KEY } from '../../src/sandbox/acquirers';
import { addAccount, listAccounts, type ProviderAccount } from '../../src/services/provider-accounts/provider-accounts';
import { runLunas } from '../cli/run-lunas';
import { disableAsOperator } from '../support/accounts';
import { SILENT } from '../support/collect-log';
import { createProductionDatabase, createTestDatabase, type TestDatabase } from '../support/database';
import { eventually } from '../support/eventually';
import { productionOperator } from '../support/production';
import { newNamespace, startTestService, type ApiResponse, type TestService } from '../support/service';

describe('the provider account of a new payment', () => {
  let database: TestDatabase;
  let db: Pool;

  beforeAll(async () => {
    database = await createTestDatabase();
    db = createPool(database.url, { max: 8 });
  });

  afterAll(async () => {
    await db.end();
    await database.drop();
  });

  it("follows the weights of its provider's enabled accounts", async () => {
    const sealer = createSealer(randomBytes(32).toString('base64'));
    const add = (weight: number, provider: 'gopay' | 'shopeepay' = 'gopay') =>
      addAccount(db, sealer, { provider, adapter: 'midtrans', serverKey: 'k', weight, environment: 'sandbox' });
    const [light, heavy, off] = [await add(1), await add(3), await add(1000)];
    await add(1000, 'shopeepay');
    await disableAsOperator(db, off.id);

    const draws = 2000;
    const chosen = new Map<string | null, number>();
    for (let count = 0; count < draws; count += 1) {
      const { providerAccountId } = await findCurrentPolicy(db, {
        merchantId: randomUUID(),
        provider: 'gopay',
        channel: 'qris',
      });
      chosen.set(providerAccountId, (chosen.get(providerAccountId) ?? 0) + 1);
    }
    expect(new Set(chosen.keys())).toEqual(new Set([light.id, heavy.id]));
    // A quarter, with a tolerance of five standard deviations.
    expect(Math.abs((chosen.get(light.id) ?? 0) / draws - 1 / 4)).toBeLessThan(0.05);
  });
});

describe('the client of a provider account', () => {
  it('stays in use while the database does not respond', async () => {
    const database = await createTestDatabase();
    const db = createPool(database.url, { max: 1 });
    const sealer = createSealer(randomBytes(32).toString('base64'));
    const account = await addAccount(db, sealer, {
      provider: 'gopay',
      adapter: 'midtrans',
      serverKey: 'k',
      weight: 1,
      environment: 'sandbox',
    });
    const registry = createProviderRegistry({ db, sealer, publicBaseUrl: 'http://127.0.0.1', log: SILENT });
    const known = await registry.forAccount(account.id);
    await db.end();
    const later = Date.now() + 60_000;
    const clock = jest.spyOn(Date, 'now').mockReturnValue(later);
    try {
      expect(await registry.forAccount(account.id)).toBe(known);
    } finally {
      clock.mockRestore();
      await registry.close();
      await database.drop();
    }
  });
});

describe('with two provider accounts', () => {
  let service: TestService;
  let first: ProviderAccount;
  let second: ProviderAccount;
  const responses: ApiResponse[] = [];

  beforeAll(async () => {
    service = await startTestService(await newNamespace());
    const seeded = (await listAccounts(service.db)).find(({ provider }) => provider === 'gopay');
    if (!seeded) throw new Error('The demo has no gopay account');
    first = seeded;
    second = await addAccount(service.db, createSealer(service.masterKey), {
      provider: 'gopay',
      adapter: 'midtrans',
      serverKey: SANDBOX_SERVER_KEY,
      weight: 1,
      baseUrl: service.sandboxUrl,
      environment: 'sandbox',
    });
  });

  afterAll(() => service.close());

  async function call(method: string, path: string, body?: object, headers?: Record<string, string>) {
    const response = await service.call(method, path, body, headers);
    responses.push(response);
    return response;
  }

  const BODY = { amount: 50_000, currency: 'IDR', payment_method: 'qris', provider: 'gopay' };

  async function create(key: string = randomUUID()): Promise<{ id: string; reference_id: string }> {
    const { status, body } = await call('POST', '/payments', BODY, { 'idempotency-key': key });
    expect(status).toBe(201);
    return body.payment;
  }

  async function accountOf(id: string): Promise<string | undefined> {
    const { rows } = await service.db.query<{ account: string }>(
      'select provider_account_id as account from payments where id = $1',
      [id],
    );
    return rows[0]?.account;
  }

  const waitForStatus = (id: string, status: string) =>
    eventually(
      () => call('GET', `/payments/${id}`),
      ({ body }) => body.payment.status === status,
    );

  async function setStatus(account: ProviderAccount, status: 'enabled' | 'disabled'): Promise<void> {
    await service.db.query('update provider_accounts set status = $2 where id = $1', [account.id, status]);
  }

  it('uses both, and each payment stays with its own', async () => {
    const key = randomUUID();
    const [mine, ...others] = [await create(key), ...(await Promise.all(Array.from({ length: 20 }, () => create())))];
    const used = new Set(await Promise.all([mine, ...others].map(({ id }) => accountOf(id))));
    expect(used).toEqual(new Set([first.id, second.id]));

    const account = await accountOf(mine.id);
    for (let count = 0; count < 10; count += 1) expect((await create(key)).id).toBe(mine.id);
    expect(await accountOf(mine.id)).toBe(account);
  });

  it('completes the payments of a disabled provider account, and gives it no new ones', async () => {
    await setStatus(second, 'disabled');
    const [paying, cancelling] = [await create(), await create()];
    await setStatus(second, 'enabled');
    await disableAsOperator(service.db, first.id);

    const later = await Promise.all(Array.from({ length: 10 }, () => create()));
    expect(new Set(await Promise.all(later.map(({ id }) => accountOf(id))))).toEqual(new Set([second.id]));
    expect([await accountOf(paying.id), await accountOf(cancelling.id)]).toEqual([first.id, first.id]);

    await service.pay(paying.reference_id);
    await waitForStatus(paying.id, 'paid');
    expect((await call('POST', `/payments/${cancelling.id}/cancel`)).status).toBe(200);
    expect(await service.atProvider(cancelling.reference_id)).toMatchObject({ status: 'cancel' });
  });

  it('creates nothing if all provider accounts are disabled, and the message names none', async () => {
    await Promise.all([setStatus(first, 'disabled'), setStatus(second, 'disabled')]);
    const { status, body } = await call('POST', '/payments', BODY);
    expect({ status, code: body.error.code }).toEqual({ status: 400, code: 'payment_create_failed' });
    await setStatus(first, 'enabled');
  });

  it('names no provider account in a response, also if the provider rejects the order or our key', async () => {
    await service.injectFault('charge', 'reject');
    expect((await call('POST', '/payments', BODY)).status).toBe(400);

    const stranger = await addAccount(service.db, createSealer(service.masterKey), {
      provider: 'gopay',
      adapter: 'midtrans',
      serverKey: 'SB-Mid-server-unknown',
      weight: 1,
      baseUrl: service.sandboxUrl,
      environment: 'sandbox',
    });
    await setStatus(first, 'disabled');
    const rejected = await call('POST', '/payments', BODY);
    expect(rejected.status).toBe(400);
    expect(rejected.text).toContain('the provider rejected it');

    await call('GET', '/payments');
    const output = responses.map(({ text, headers }) => text + JSON.stringify([...headers])).join('\n');
    const secrets = [first, second, stranger].flatMap(({ id, baseUrl }) => [id, baseUrl]);
    for (const secret of [...secrets, SANDBOX_SERVER_KEY, 'SB-Mid-server', 'midtrans', 'Midtrans']) {
      expect(output).not.toContain(secret);
    }
  });
});

describe('lunas accounts add', () => {
  let databases: Readonly<Record<Environment, TestDatabase>>;
  let settings: Readonly<Record<Environment, NodeJS.ProcessEnv>>;

  beforeAll(async () => {
    databases = { sandbox: await createTestDatabase(), production: await createProductionDatabase() };
    settings = {
      sandbox: { DATABASE_URL: databases.sandbox.url, LUNAS_ENVIRONMENT: 'sandbox' },
      production: await productionOperator(databases.production.url),
    };
  });

  afterAll(() => Promise.all([databases.sandbox.drop(), databases.production.drop()]));

  const add = (
    baseUrl: string,
    environment: Environment,
    changes: NodeJS.ProcessEnv = {},
    options: readonly string[] = [],
  ) =>
    runLunas(
      [
        ...'accounts add --note contract --provider gopay --adapter midtrans --server-key-env KEY'.split(' '),
        '--base-url',
        baseUrl,
        ...options,
      ],
      {
        ...settings[environment],
        LUNAS_MASTER_KEY: randomBytes(32).toString('base64'),
        KEY: 'SB-Mid-server-x',
        ...changes,
      },
    );

  it.each<[string, Environment, string]>([
    ['http://api.midtrans.com', 'production', 'must begin with https://'],
    ['http://127.0.0.1:3001', 'production', 'must begin with https://'],
    ['https://me:secret@api.midtrans.com', 'sandbox', 'must not contain a user name or password'],
    ['ftp://api.midtrans.com', 'sandbox', 'must be absolute and begin with http:// or https://'],
    ['api.midtrans.com', 'sandbox', 'must be absolute and begin with http:// or https://'],
    ['https://api.midtrans.com/?key=1', 'sandbox', 'without ? or #'],
    ['https://api.midtrans.com/#v2', 'sandbox', 'without ? or #'],
  ])('an account does not take the address %s in %s', async (baseUrl, environment, rule) => {
    const { exitCode, stderr } = await add(baseUrl, environment);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(rule);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  it('rejects a key with a line break, and does not show it', async () => {
    const { exitCode, stderr } = await add('https://api.midtrans.com', 'sandbox', { KEY: 'SB-Mid-server-x\n' });
    expect(exitCode).toBe(1);
    expect(stderr).toContain('The server key must be printable characters');
    expect(stderr).not.toContain('SB-Mid-server-x');
  });

  it('accepts https in production', async () => {
    const { exitCode, stdout } = await add('https://api.midtrans.com/', 'production', {}, [
      '--nmid',
      'ID1020021181745',
    ]);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('https://api.midtrans.com');
  });
});
