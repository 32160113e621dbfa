import { randomBytes } from 'node:crypto';
import { createOperatorKey, createSecretKey } from '../../../src/crypto/secret-key';
import { createPool, type Pool } from '../../../src/db/connection/pool';
import { freePort } from '../../../src/local-stack/ports';
import { seedDemo } from '../../../src/services/sandbox/seed-demo';
import { runLunas } from '../../cli/run-lunas';
import { temporaryDirectory } from '../../local-stack/processes';
import { callApi, sendRequest, startTestApis } from '../../support/api';
import {
  createEmptyDatabase,
  createProductionDatabase,
  createTestDatabase,
  newDatabase,
  type TestDatabase,
} from '../../support/database';
import { eventually } from '../../support/eventually';
import { freePorts, runBuiltLunas } from '../../support/lunas-process';
import { productionOperator } from '../../support/production';
import { startTcpProxy } from '../../support/tcp-proxy';
import { temporalAddress } from '../../support/temporal';
import { testEnvironment } from '../../support/test-environment';

const ONE_LINE = /^(?:error: )?[^\n]*production[^\n]*\n$/;
/** A process that starts although it must not is stopped after this time. */
const TIMEOUT_MS = 90_000;

let production: TestDatabase;
let sandbox: TestDatabase;
let db: Pool;

beforeAll(async () => {
  [production, sandbox] = await Promise.all([createProductionDatabase(), createTestDatabase()]);
  db = createPool(production.url, { max: 2 });
});

afterAll(async () => {
  await db.end();
  await Promise.all([production.drop(), sandbox.drop()]);
});

/** The built command in its own process. */
async function startLunas(args: readonly string[], environment: NodeJS.ProcessEnv) {
  const env = {
    LUNAS_HOME: await temporaryDirectory(),
    LUNAS_MASTER_KEY: randomBytes(32).toString('base64'),
    TEMPORAL_ADDRESS: temporalAddress(),
    TEMPORAL_CLI_PATH: testEnvironment('TEMPORAL_CLI_PATH'),
    ...(await freePorts()),
    ...environment,
  };
  return runBuiltLunas(args, env, TIMEOUT_MS);
}

const ROWS = `select (select count(*) from merchants) + (select count(*) from api_keys)
  + (select count(*) from provider_accounts) + (select count(*) from policies) as total`;

async function rowsOfProduction(): Promise<unknown> {
  return (await db.query(ROWS)).rows;
}

const refused = { exitCode: 1, stdout: '', stderr: expect.stringMatching(ONE_LINE) };

describe('a production database', () => {
  it.each([['up'], ['services'], ['sandbox']])('lunas %s does not start, and writes nothing', async (command) => {
    expect(await startLunas([command], { DATABASE_URL: production.url })).toEqual(refused);
    expect(await rowsOfProduction()).toEqual([{ total: 0 }]);
  });

  it.each([['up'], ['services'], ['sandbox'], ['sandbox', 'pay', 'LN0000000000000000']])(
    'lunas %s %s %s does not start with LUNAS_ENVIRONMENT=production',
    async (...args) => {
      const words = args.filter((word) => word !== undefined);
      expect(await startLunas(words, { LUNAS_ENVIRONMENT: 'production' })).toEqual(refused);
    },
  );

  it.each([
    ['api', 'sandbox'],
    ['worker', 'sandbox'],
  ])('lunas %s does not start on it with LUNAS_ENVIRONMENT=%s', async (command, environment) => {
    const settings = { DATABASE_URL: production.url, LUNAS_ENVIRONMENT: environment };
    expect(await startLunas([command], settings)).toEqual(refused);
  });

  it.each(['api', 'worker'])('lunas %s of production does not start on a sandbox database', async (command) => {
    const PUBLIC_BASE_URL = 'https://pay.example';
    const settings = { DATABASE_URL: sandbox.url, LUNAS_ENVIRONMENT: 'production', PUBLIC_BASE_URL };
    expect(await startLunas([command], settings)).toEqual(refused);
  });

  it.each(['merchants list', 'migrate', 'payments list'])('lunas %s of the sandbox is rejected', async (line) => {
    const settings = { DATABASE_URL: production.url, LUNAS_ENVIRONMENT: 'sandbox' };
    expect(await startLunas(line.split(' '), settings)).toEqual(refused);
  });

  it.each([
    'http://127.0.0.1:3001',
    'https://127.0.0.1',
    'https://[::1]',
    'https://0.0.0.0',
    'https://localhost:8443',
    'https://api.sandbox.midtrans.com',
  ])('a production database has no provider account at %s', async (baseUrl) => {
    const options = '--provider gopay --adapter midtrans --server-key-env KEY --note test';
    const line = `accounts add ${options} --base-url ${baseUrl}`;
    const LUNAS_MASTER_KEY = randomBytes(32).toString('base64');
    const settings = { ...(await productionOperator(production.url)), LUNAS_MASTER_KEY, KEY: 'SB-Mid-server-x' };
    expect(await runLunas(line.split(' '), settings)).toEqual({
      ...refused,
      stderr: expect.stringMatching(/URL[^\n]*production[^\n]*\n$/),
    });
  });

  it('gets no demo data', async () => {
    const masterKey = randomBytes(32).toString('base64');
    const sandboxAccess = { sandboxUrl: 'http://127.0.0.1:3001', sandboxServerKey: 'k' };
    const seeding = seedDemo({ databaseUrl: production.url, masterKey, ...sandboxAccess });
    await expect(seeding).rejects.toThrow(/production/);
    expect(await rowsOfProduction()).toEqual([{ total: 0 }]);
  });

  it('gives a command its environment', async () => {
    const { DATABASE_URL, LUNAS_OPERATOR_KEY } = await productionOperator(production.url);
    const dewi = ['--name', 'dewi', '--scopes', 'read', '--note', 'x', '--json'];
    const { exitCode, stdout } = await runLunas(['operators', 'create', ...dewi], {
      DATABASE_URL,
      LUNAS_OPERATOR_KEY,
    });
    expect({ exitCode, secret: JSON.parse(stdout).operator.secret }).toEqual({
      exitCode: 0,
      secret: expect.stringMatching(/^op_live_/),
    });
  });

  it('keeps its environment: the row cannot be changed, deleted or doubled', async () => {
    const changes = [
      "update installation set environment = 'sandbox'",
      'delete from installation',
      'truncate installation',
    ];
    for (const change of changes) await expect(db.query(change)).rejects.toThrow(/installation/);
    for (const isOnly of [true, false]) {
      const insertion = db.query("insert into installation values ($1, 'sandbox')", [isOnly]);
      await expect(insertion).rejects.toThrow(/constraint/);
    }
  });
});

it('a service that started without its database ends when the database is of the other environment', async () => {
  const url = new URL(sandbox.url);
  const proxy = await startTcpProxy(url.host);
  url.host = proxy.address;
  await proxy.cut();
  try {
    const PORT = String(await freePort());
    const settings = { LUNAS_ENVIRONMENT: 'production', PUBLIC_BASE_URL: 'https://pay.example', PORT };
    const ended = startLunas(['api'], { ...settings, DATABASE_URL: url.href });
    await eventually(
      () => sendRequest(`http://127.0.0.1:${PORT}/payments/none`).catch(() => null),
      (response) => response?.status === 401,
    );
    await proxy.restore();
    expect(await ended).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringMatching(/this process is production.*fatal error/),
    });
  } finally {
    await proxy.close();
  }
});

it('lunas up does not start with half of a certificate pair', async () => {
  expect(await startLunas(['up'], { TEMPORAL_TLS_KEY: '/nonexistent' })).toEqual(refused);
});

describe('lunas migrate', () => {
  it('needs LUNAS_ENVIRONMENT for an empty database, and records it', async () => {
    const empty = await createEmptyDatabase();
    try {
      const DATABASE_URL = empty.url;
      expect(await startLunas(['migrate'], { DATABASE_URL })).toEqual({
        ...refused,
        stderr: expect.stringMatching(/^error: LUNAS_ENVIRONMENT is not set[^\n]*production[^\n]*\n$/),
      });
      expect(await startLunas(['migrate'], { DATABASE_URL, LUNAS_ENVIRONMENT: 'production' })).toMatchObject({
        exitCode: 0,
      });
      expect(await startLunas(['migrate'], { DATABASE_URL })).toMatchObject({ exitCode: 0, stderr: '' });
      expect(await startLunas(['migrate'], { DATABASE_URL, LUNAS_ENVIRONMENT: 'sandbox' })).toEqual(refused);
    } finally {
      await empty.drop();
    }
  });

  it('creates no database', async () => {
    const absent = newDatabase();
    const outcome = await startLunas(['migrate'], { DATABASE_URL: absent.url, LUNAS_ENVIRONMENT: 'sandbox' });
    expect(outcome).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('has no such database') });
  });
});

describe('the prefix of a key', () => {
  it.each([
    ['production', 'sandbox'],
    ['sandbox', 'production'],
  ] as const)('the API in %s rejects keys of %s, also if the database has them', async (environment, other) => {
    const apis = await startTestApis([{ environment }]);
    try {
      const { merchantId } = await apis.newKey();
      const [own, foreign] = [createSecretKey(environment, '00'), createSecretKey(other, '00')];
      const operator = createOperatorKey(other, '00');
      for (const key of [own, foreign]) {
        await apis.db.query(
          `insert into api_keys (id, merchant_id, secret_sha256, prefix, last_four)
           values (gen_random_uuid(), $1, $2, $3, $4)`,
          [merchantId, key.secretSha256, key.prefix, key.lastFour],
        );
      }
      await apis.db.query(
        `insert into operators (id, name, secret_sha256, prefix, last_four)
         values (gen_random_uuid(), 'dewi', $1, $2, $3)`,
        [operator.secretSha256, operator.prefix, operator.lastFour],
      );
      const [url = ''] = apis.urls;
      const [operatorUrl = ''] = apis.operatorUrls;
      expect(await callApi(url, own.secret)).toMatchObject({ status: 404, code: 'not_found' });
      expect(await callApi(url, foreign.secret)).toMatchObject({ status: 401, code: 'invalid_api_key' });
      const authorization = `Bearer ${operator.secret}`;
      expect(await sendRequest(`${operatorUrl}/operator/actions`, { headers: { authorization } })).toMatchObject({
        status: 401,
      });
    } finally {
      await apis.close();
    }
  });
});
