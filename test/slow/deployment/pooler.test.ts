import path from 'node:path';
import { z } from 'zod';
import { CommandContext } from '../../../src/cli/command-context';
import { requireInstallation } from '../../../src/cli/rules/require-installation';
import { createPool, type Pool } from '../../../src/db/connection/pool';
import { messageOf } from '../../../src/errors';
import { throughPooler, type PoolMode } from '../../../src/lib/pooler';
import { withClient } from '../../../src/local-stack/postgres';
import { createLogger } from '../../../src/observability/logger';
import { temporaryDirectory } from '../../local-stack/processes';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../../support/database';
import { eventually } from '../../support/eventually';
import { runBuiltLunas } from '../../support/lunas-process';
import { startPgBouncer, urlThrough, type PgBouncer } from '../../support/pgbouncer';
import { newMasterKey } from '../../support/service';
import { temporalAddress } from '../../support/temporal';
import { testEnvironment } from '../../support/test-environment';

/** Rules and limits behind a PgBouncer. test/api and test/e2e run through one in `npm run test:pgbouncer`. */

const TRANSACTION_POOL_SIZE = 2;
const STATEMENT_TIMEOUT = '57014';
/** As the role of an API in docs/production.md; the roles of the local stack are shared with other tests. */
const LOGIN = 'pooled_api';
const LIMITED_LOGIN = 'pooled_limited_api';
const PASSWORD = 'secret';

type PoolerName = PoolMode | 'narrow' | 'lenient';

let database: TestDatabase;
const poolers = new Map<PoolerName, PgBouncer>();

beforeAll(async () => {
  database = await createTestDatabase();
  await withClient(database.url, async (client) => {
    for (const login of [LOGIN, LIMITED_LOGIN]) {
      await client.query(`create role ${login} login password '${PASSWORD}' in role lunas_api`);
    }
    await client.query(`alter role ${LIMITED_LOGIN} set statement_timeout = '300ms'`);
  });
  const parent = await temporaryDirectory();
  const start = async (name: PoolerName, options: Omit<Parameters<typeof startPgBouncer>[1], 'directory'>) => {
    const directory = path.join(parent, name);
    poolers.set(name, await startPgBouncer(testEnvironment('DATABASE_SERVER_URL'), { ...options, directory }));
  };
  await start('session', { mode: 'session', poolSize: 20 });
  await start('narrow', { mode: 'session', poolSize: 1 });
  await start('transaction', { mode: 'transaction', poolSize: TRANSACTION_POOL_SIZE });
  await start('lenient', {
    mode: 'transaction',
    poolSize: TRANSACTION_POOL_SIZE,
    ignoredParameters: 'statement_timeout',
  });
});

afterAll(async () => {
  await Promise.all([...poolers.values()].map(({ process }) => process.stop()));
  await database.drop();
  await withClient(testEnvironment('DATABASE_SERVER_URL'), (client) =>
    client.query(`drop role ${LOGIN}; drop role ${LIMITED_LOGIN}`),
  );
});

function addressOf(name: PoolerName, login = LIMITED_LOGIN, target = database): string {
  const pooler = poolers.get(name);
  if (pooler === undefined) throw new Error(`The pooler ${name} does not run`);
  const url = new URL(urlThrough(pooler, target.url));
  url.username = login;
  url.password = PASSWORD;
  return url.href;
}

async function withPool<T>(pool: Pool, work: (db: Pool) => Promise<T>): Promise<T> {
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}

const codeOfFailure = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (error: unknown) => (error instanceof Error && 'code' in error ? error.code : error),
  );

it.each([
  ['session', 'process', LOGIN, 300],
  ['transaction', 'role', LIMITED_LOGIN, 60_000],
] as const)('a server in %s mode cancels a statement after the limit of its %s', async (mode, _, login, limitMs) => {
  const pool = createPool(throughPooler(addressOf(mode, login), mode), { max: 1, statementTimeoutMs: limitMs });
  expect(await withPool(pool, (db) => codeOfFailure(db.query('select pg_sleep(50)')))).toBe(STATEMENT_TIMEOUT);
});

it.each(['session', 'transaction'] as const)(
  'every connection in %s mode sends the same named statement',
  async (mode) => {
    const pool = createPool(throughPooler(addressOf(mode), mode), { max: 8 });
    const statement = { name: 'double', text: 'select 2 * $1::int as doubled' };
    const rows = await withPool(pool, async (db) =>
      Promise.all(Array.from({ length: 80 }, (_, value) => db.query({ ...statement, values: [value] }))),
    );
    expect(rows.map(({ rows: [row] }) => row)).toEqual(rows.map((_, value) => ({ doubled: 2 * value })));
  },
);

it('many connections of processes share few of the server in transaction mode', async () => {
  const address = throughPooler(addressOf('transaction'), 'transaction');
  const pools = [createPool(address, { max: 20 }), createPool(address, { max: 20 })];
  const results = await Promise.all(
    pools.flatMap((db) =>
      Array.from({ length: 20 }, () => db.query<{ pid: number }>('select pg_backend_pid() as pid, pg_sleep(0.01)')),
    ),
  );
  const processes = new Set(results.map(({ rows: [row] }) => row?.pid));
  expect(pools.map(({ totalCount }) => totalCount)).toEqual([20, 20]);
  expect(processes.size).toBeLessThanOrEqual(TRANSACTION_POOL_SIZE);
  await Promise.all(pools.map((db) => db.end()));
});

describe('the rule database_pooler', () => {
  const rulesSchema = z.object({
    rules: z.array(z.object({ name: z.string(), state: z.string(), violation: z.string().nullable() })),
  });

  async function settingsOf(DATABASE_URL: string, DATABASE_POOLER = ''): Promise<NodeJS.ProcessEnv> {
    return {
      DATABASE_URL,
      DATABASE_POOLER,
      LUNAS_ENVIRONMENT: 'sandbox',
      LUNAS_MASTER_KEY: newMasterKey(),
      LUNAS_HOME: await temporaryDirectory(),
      TEMPORAL_ADDRESS: temporalAddress(),
    };
  }

  async function doctor(settings: NodeJS.ProcessEnv) {
    const { stdout } = await runBuiltLunas(['doctor', '--json'], settings);
    return rulesSchema.parse(JSON.parse(stdout)).rules.find(({ name }) => name === 'database_pooler');
  }

  it.each([
    ['PostgreSQL itself', () => database.urlOf('lunas_local_api'), ''],
    ['session mode', () => addressOf('session'), 'session'],
    ['session mode without a free connection', () => addressOf('narrow'), 'session'],
    ['transaction mode with a role that has a limit', () => addressOf('transaction'), 'transaction'],
  ])('accepts %s', async (_, address, mode) => {
    expect(await doctor(await settingsOf(address(), mode))).toMatchObject({ state: 'ok', violation: null });
  });

  it.each([
    [
      'a pooler without DATABASE_POOLER',
      () => addressOf('session'),
      '',
      /rejects the connection \(unsupported startup/,
    ],
    ['the wrong mode', () => addressOf('transaction'), 'session', /A pooler in transaction mode is between/],
    ['a pooler that ignores the limit', () => addressOf('lenient'), '', /A pooler in transaction mode is between/],
    [
      'a role without a limit',
      () => addressOf('transaction', LOGIN),
      'transaction',
      /pooled_api has no statement_time/,
    ],
  ])('rejects %s, and no service starts', async (_, address, mode, violation) => {
    const settings = await settingsOf(address(), mode);
    // A check that takes longer than 2 s finds nothing, so that a process can start during an outage.
    const found = await eventually(
      () => doctor(settings),
      (rule) => rule?.state === 'broken',
    );
    expect(found).toMatchObject({ violation: expect.stringMatching(violation) });
    const start = () => requireInstallation(new CommandContext(settings), 'api', createLogger('test', 'silent'));
    const message = await eventually(
      () => start().then(() => 'started', messageOf),
      (text) => text !== 'started',
    );
    expect(message).toMatch(violation);
  });

  it('a command names the variable that is absent', async () => {
    expect(await runBuiltLunas(['merchants', 'list'], await settingsOf(addressOf('session')))).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/^error: The pooler at \S+ rejects .* Set DATABASE_POOLER to its pool_mode: .*\n$/),
    });
  });
});

it('a migration does not run through a pooler, but at DATABASE_DIRECT_URL', async () => {
  const empty = await createEmptyDatabase();
  const settings = {
    DATABASE_URL: addressOf('transaction', LIMITED_LOGIN, empty),
    DATABASE_POOLER: 'transaction',
    LUNAS_ENVIRONMENT: 'sandbox',
  };
  expect(await runBuiltLunas(['migrate'], settings)).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: 'error: A migration does not run through a pooler. Set DATABASE_DIRECT_URL to PostgreSQL itself.\n',
  });
  expect(await runBuiltLunas(['migrate'], { ...settings, DATABASE_DIRECT_URL: empty.url })).toMatchObject({
    exitCode: 0,
    stdout: expect.stringMatching(/^Applied 0001_/),
    stderr: '',
  });
  await empty.drop();
});
