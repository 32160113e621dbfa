import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { CommandContext } from '../../../src/cli/command-context';
import { requireInstallation } from '../../../src/cli/rules/require-installation';
import { createSealer } from '../../../src/crypto/sealing';
import { createPool, type Pool } from '../../../src/db/connection/pool';
import { openException } from '../../../src/db/operations/open-exception';
import { unsupportedNode } from '../../../src/lib/node-release';
import type { DatabaseLogin } from '../../../src/local-stack/database-logins';
import { createLogger } from '../../../src/observability/logger';
import { addAccount } from '../../../src/services/provider-accounts/provider-accounts';
import { connectClient } from '../../../src/temporal/connection';
import { NO_PAYLOAD_KEYS } from '../../../src/temporal/payload-codec';
import { setUpRequirements } from '../../../src/temporal/requirements';
import { runLunas } from '../../cli/run-lunas';
import { temporaryDirectory } from '../../local-stack/processes';
import { collectLog } from '../../support/collect-log';
import { createProductionDatabase, type TestDatabase } from '../../support/database';
import { runBuiltLunas } from '../../support/lunas-process';
import { createMember } from '../../support/people';
import { urlOfOperator } from '../../support/production';
import { newNamespace } from '../../support/service';
import { temporalAddress } from '../../support/temporal';

const NAMES = [
  'database',
  'temporal',
  'worker',
  'roles',
  'stopped_accounts',
  'fee_payer',
  'database_pooler',
  'schema',
  'master_key',
  'demo_data',
  'sandbox_accounts',
  'temporal_connection',
  'dashboard_role',
  'payouts_role',
  'verifier_role',
  'operator_role',
  'row_level_security',
  'passkey_host',
  'environment',
  'database_tls',
  'temporal_tls',
  'temporal_certificate',
  'public_base_url',
  'dashboard_url',
  'operator_listener',
  'trace_collector',
  'node_version',
];
/** The rules that warn with the Node.js of this test. */
const WARNING = unsupportedNode(process.version, Date.now()) === null ? [] : ['node_version'];
const DEMO_MERCHANT = '01935b6c-7c00-7000-8000-00006c756e61';

const documentSchema = z.object({
  rules: z.array(
    z.strictObject({
      name: z.string(),
      state: z.enum(['ok', 'broken', 'warning', 'not_applicable']),
      violation: z.string().nullable(),
      advice: z.string().nullable(),
    }),
  ),
});

let database: TestDatabase;
let db: Pool;
let settings: NodeJS.ProcessEnv;
let namespace: string;

beforeAll(async () => {
  const target = await newNamespace();
  ({ namespace } = target);
  const client = connectClient(target, NO_PAYLOAD_KEYS);
  await setUpRequirements({ client, target });
  await client.connection.close();
});

beforeEach(async () => {
  database = await createProductionDatabase();
  db = createPool(database.url, { max: 2 });
  const masterKey = randomBytes(32).toString('base64');
  const directory = await temporaryDirectory();
  const file = path.join(directory, 'certificate.pem');
  await writeFile(file, '');
  settings = {
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: temporalAddress(),
    TEMPORAL_NAMESPACE: namespace,
    LUNAS_HOME: directory,
    LUNAS_ENVIRONMENT: 'production',
    LUNAS_MASTER_KEY: masterKey,
    PUBLIC_BASE_URL: 'https://pay.example',
    certificate: file,
  };
  const account = { provider: 'gopay', adapter: 'midtrans', serverKey: 'k', weight: 1 } as const;
  await addAccount(db, createSealer(masterKey), { ...account, environment: 'production' });
});

afterEach(async () => {
  await db.end();
  await database.drop();
});

/** What `lunas api` and `lunas worker` do first. */
const startService = (changes: NodeJS.ProcessEnv, process: 'api' | 'dashboard' | 'worker' = 'api') =>
  requireInstallation(new CommandContext({ ...settings, ...changes }), process, createLogger('test', 'silent'));

async function doctor(changes: NodeJS.ProcessEnv = {}) {
  const { exitCode, stdout, stderr } = await runLunas(['doctor', '--json'], { ...settings, ...changes });
  const { rules } = documentSchema.parse(JSON.parse(stdout));
  const inState = (state: string) => rules.filter((rule) => rule.state === state).map(({ name }) => name);
  return {
    exitCode,
    stderr,
    names: rules.map(({ name }) => name),
    broken: inState('broken'),
    ok: inState('ok'),
    rules,
  };
}

it('lists all rules in a fixed order, and exits with 0 if none is broken', async () => {
  const { exitCode, stderr, names, ok, broken } = await doctor();
  expect({ exitCode, stderr, names, broken }).toEqual({ exitCode: 0, stderr: '', names: NAMES, broken: [] });
  const others = new Set([
    'worker',
    'temporal_certificate',
    'temporal_connection',
    'dashboard_role',
    'payouts_role',
    'verifier_role',
    'operator_role',
    'passkey_host',
    'dashboard_url',
    'trace_collector',
    ...WARNING,
  ]);
  expect(ok).toEqual(NAMES.filter((name) => !others.has(name)));
});

it('prints the same as text', async () => {
  const { exitCode, stdout } = await runBuiltLunas(['doctor'], settings);
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^RULE +STATE +WHAT TO DO\ndatabase +ok +-\n/);
  expect(stdout).toMatch(/^temporal_certificate +not applicable +-$/m);
});

/** Settings that break one rule. */
const BAD_SETTINGS: readonly (readonly [string, NodeJS.ProcessEnv])[] = [
  ['environment', { LUNAS_ENVIRONMENT: 'sandbox' }],
  ['master_key', { LUNAS_MASTER_KEY: Buffer.alloc(32).toString('base64') }],
  ['master_key', { LUNAS_MASTER_KEY: '' }],
  ['public_base_url', { PUBLIC_BASE_URL: 'http://pay.example' }],
  ['public_base_url', { PUBLIC_BASE_URL: '' }],
  ['operator_listener', { OPERATOR_HOST: '0.0.0.0' }],
  ['operator_listener', { OPERATOR_HOST: '::' }],
  ['operator_listener', { OPERATOR_HOST: '10.0.0.7' }],
  ['trace_collector', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.example:4318' }],
];

it.each(BAD_SETTINGS)('%s: is broken with %j, and no service starts', async (name, bad) => {
  const { exitCode, stderr, broken, rules } = await doctor(bad);
  const expected = { exitCode: 1, stderr: `error: Broken rules: ${name}.\n`, broken: [name] };
  expect({ exitCode, stderr, broken }).toEqual(expected);
  const { violation, advice } = rules.find((rule) => rule.name === name) ?? {};
  expect([violation, advice]).toEqual([expect.stringMatching(/^\S.*\.$/), expect.stringMatching(/^\S.*\.$/)]);
  await expect(startService(bad)).rejects.toThrow(`${violation} ${advice}`);
});

it.each([
  ['http://dashboard.example', 'https://pay.example', /not an https address/],
  ['https://pay.example', 'https://pay.example', /has the host of PUBLIC_BASE_URL/],
  ['https://PAY.example:8443', 'https://pay.example', /has the host of PUBLIC_BASE_URL/],
  ['https://dashboard.example/shop', 'https://pay.example', /has more than a host/],
])('dashboard_url: is broken in production with %s beside %s, and no service starts', async (url, api, problem) => {
  const bad = { DASHBOARD_URL: url, PUBLIC_BASE_URL: api };
  const { broken, rules } = await doctor(bad);
  expect(broken).toEqual(['dashboard_url']);
  expect(rules.find(({ name }) => name === 'dashboard_url')?.violation).toMatch(problem);
  await expect(startService(bad)).rejects.toThrow(problem);
  await expect(startService(bad, 'dashboard')).rejects.toThrow(problem);
});

it('dashboard_url: only the dashboard needs it, and a sandbox may have it on localhost', async () => {
  expect(await startService({})).toBe('production');
  await expect(startService({}, 'dashboard')).rejects.toThrow(/^DASHBOARD_URL is not an https address in production/);
  const { ok } = await doctor({ DASHBOARD_URL: 'https://dashboard.example' });
  expect(ok).toContain('dashboard_url');
  const local = { DASHBOARD_URL: 'http://localhost:3004', LUNAS_ENVIRONMENT: 'sandbox', DATABASE_URL: '' };
  expect((await doctor(local)).broken).not.toContain('dashboard_url');
});

describe('dashboard_role', () => {
  const dashboard = { DASHBOARD_URL: 'https://dashboard.example' };
  const ruleOf = async (login: DatabaseLogin) => {
    const { rules } = await doctor({ ...dashboard, DATABASE_URL: database.urlOf(login) });
    return rules.find(({ name }) => name === 'dashboard_role');
  };
  const startWith = (DATABASE_URL: string) => startService({ ...dashboard, DATABASE_URL }, 'dashboard');

  it('dashboard_role is not broken for a login of lunas_dashboard alone, and the dashboard starts', async () => {
    expect(await ruleOf('lunas_local_dashboard')).toMatchObject({ state: 'ok' });
    expect(await startWith(database.urlOf('lunas_local_dashboard'))).toBe('production');
  });

  it('dashboard_role is not applicable to the logins of other processes, and the dashboard rejects them', async () => {
    for (const login of ['lunas_local_api', 'lunas_local_worker'] as const) {
      expect(await ruleOf(login)).toMatchObject({ state: 'not_applicable' });
      await expect(startWith(database.urlOf(login))).rejects.toThrow(/is no member of lunas_dashboard/);
    }
    await expect(startWith(database.url)).rejects.toThrow(/bypasses row-level security/);
  });

  it('dashboard_role is broken for a login that has other roles too', async () => {
    expect(await ruleOf('lunas_local')).toMatchObject({
      state: 'broken',
      violation: expect.stringMatching(
        /other roles too: lunas_api, lunas_operator, lunas_payouts, lunas_reader, lunas_verifier, lunas_worker\.$/,
      ),
    });
    await expect(startWith(database.urlOf('lunas_local'))).rejects.toThrow(/other roles too/);
  });
});

describe('payouts_role', () => {
  const ruleOf = async (login: DatabaseLogin) => {
    const { rules } = await doctor({ DATABASE_URL: database.urlOf(login) });
    return rules.find(({ name }) => name === 'payouts_role');
  };
  const startWith = (login: DatabaseLogin, WORKER_ROLES: string) =>
    startService({ DATABASE_URL: database.urlOf(login), WORKER_ROLES }, 'worker');

  it('lets the worker of payouts and the other workers start, each with its own login', async () => {
    expect(await ruleOf('lunas_local_payouts')).toMatchObject({ state: 'ok' });
    expect(await ruleOf('lunas_local_worker')).toMatchObject({ state: 'not_applicable' });
    expect(await startWith('lunas_local_payouts', 'payouts')).toBe('production');
    expect(await startWith('lunas_local_worker', 'payments,sweeper')).toBe('production');
  });

  it('payouts_role is broken for a login with both rights, and for a worker with both roles', async () => {
    const both = 'lunas_local_workers';
    expect(await ruleOf(both)).toMatchObject({ state: 'broken', violation: expect.stringMatching(/lunas_worker\.$/) });
    await expect(startWith(both, 'payouts')).rejects.toThrow(/other roles too/);
    await expect(startWith(both, 'payments')).rejects.toThrow(/other roles too/);
    await expect(startWith('lunas_local_payouts', 'payouts,relay')).rejects.toThrow(/beside other roles/);
    await expect(startWith('lunas_local_worker', 'payouts')).rejects.toThrow(/no member of lunas_payouts/);
  });
});

describe('verifier_role', () => {
  const startWith = (login: DatabaseLogin, WORKER_ROLES: string) =>
    startService({ DATABASE_URL: database.urlOf(login), WORKER_ROLES }, 'worker');

  it('lets the worker of verifications start with its own login, and with no other one', async () => {
    expect(await startWith('lunas_local_verifier', 'verifier')).toBe('production');
    await expect(startWith('lunas_local_verifier', 'verifier,relay')).rejects.toThrow(/beside other roles/);
    await expect(startWith('lunas_local_worker', 'verifier')).rejects.toThrow(/no member of lunas_verifier/);
  });
});

describe('operator_role', () => {
  const ruleOf = async (login: DatabaseLogin) => {
    const { rules } = await doctor({ DATABASE_URL: database.urlOf(login) });
    return rules.find(({ name }) => name === 'operator_role');
  };

  it('operator_role is not broken for the login of an operator, and not applicable to those of processes', async () => {
    expect(await ruleOf('lunas_local_operator')).toMatchObject({ state: 'ok' });
    expect(await ruleOf('lunas_local_worker')).toMatchObject({ state: 'not_applicable' });
  });

  it("operator_role is broken for an operator's login that is a process too, which does not start", async () => {
    const DATABASE_URL = await urlOfOperator(database, 'and_worker');
    await db.query('grant lunas_worker to test_operator_and_worker');
    const { broken, rules } = await doctor({ DATABASE_URL });
    expect(broken).toEqual(['operator_role']);
    expect(rules.find(({ name }) => name === 'operator_role')?.violation).toBe(
      'The login role test_operator_and_worker of an operator is a member of other roles too: lunas_worker.',
    );
    await expect(startService({ DATABASE_URL, WORKER_ROLES: 'payments' }, 'worker')).rejects.toThrow(
      /of an operator is a member of other roles/,
    );
  });
});

it('passkey_host: warns if passkeys are of another host than the dashboard, which starts', async () => {
  const { ok } = await doctor({ DASHBOARD_URL: 'https://dashboard.example' });
  expect(ok).toContain('passkey_host');
  const userId = await createMember(db, 'sri@toko.example');
  await db.query(
    `insert into passkeys
       (id, user_id, realm, credential_id, public_key, counter, rp_id, name, is_backed_up, created_at)
     values (gen_random_uuid(), $1, 'merchant', 'a', 'x', 0, 'old.example', 'Ponsel', true, now())`,
    [userId],
  );
  const { exitCode, rules } = await doctor({ DASHBOARD_URL: 'https://dashboard.example' });
  expect(exitCode).toBe(0);
  const rule = rules.find(({ name }) => name === 'passkey_host');
  expect(rule?.state).toBe('warning');
  expect(rule?.violation).toContain('old.example');
});

it('row_level_security: is broken if a table of logins has none, and no service starts', async () => {
  await db.query('alter table sessions disable row level security');
  const { broken, rules } = await doctor();
  expect(broken).toEqual(['row_level_security']);
  const { violation } = rules.find(({ name }) => name === 'row_level_security') ?? {};
  expect(violation).toBe('Row-level security is off for sessions.');
  await expect(startService({})).rejects.toThrow(/^Row-level security is off for sessions\. Enable it/);
});

it('environment: is that of the database if it is not set', async () => {
  expect(await doctor({ LUNAS_ENVIRONMENT: '' })).toMatchObject({ exitCode: 0, broken: [] });
  expect(await startService({ LUNAS_ENVIRONMENT: '' })).toBe('production');
});

it.each([
  'db.invalid/lunas',
  'db.invalid/lunas?sslmode=require',
  'db.invalid/lunas?sslmode=no-verify',
  'db.invalid/lunas?sslmode=verify-full&sslmode=disable',
  'localhost/lunas?host=db.invalid',
  'localhost.example.invalid/lunas',
])('database_tls: is broken in production with %s, and no service connects', async (address) => {
  const DATABASE_URL = `postgresql://lunas:x@${address}`;
  expect((await doctor({ DATABASE_URL })).broken).toEqual(['database', 'database_tls']);
  await expect(startService({ DATABASE_URL })).rejects.toThrow(/production database does not use TLS/);
});

it.each(['db.invalid/lunas?sslmode=verify-full', '127.0.0.1:1/lunas', '[::1]:1/lunas'])(
  'database_tls: is not broken in production with %s',
  async (address) => {
    expect((await doctor({ DATABASE_URL: `postgresql://lunas:x@${address}` })).broken).toEqual(['database']);
  },
);

it('database_tls: is not applicable in the sandbox', async () => {
  const changes = { DATABASE_URL: 'postgresql://lunas:x@db.invalid/lunas', LUNAS_ENVIRONMENT: 'sandbox' };
  expect((await doctor(changes)).broken).toEqual(['database']);
});

it('temporal_tls: a server that is not on loopback needs TLS in production', async () => {
  const remote = { TEMPORAL_ADDRESS: 'temporal.invalid:7233' };
  await expect(startService(remote)).rejects.toThrow(
    /no TLS with a client certificate or API key, which production requires/,
  );
  const [clear, encrypted] = await Promise.all([doctor(remote), doctor({ ...remote, TEMPORAL_API_KEY: 'key' })]);
  expect([clear.broken, encrypted.broken]).toEqual([['temporal', 'temporal_tls'], ['temporal']]);
});

it('temporal_certificate: half a pair and an absent file are broken, in sandbox too', async () => {
  const file = settings['certificate'] ?? '';
  const halves = [{ TEMPORAL_TLS_CERT: file }, { TEMPORAL_TLS_KEY: file }];
  const bad = [...halves, { TEMPORAL_TLS_CA: `${file}.absent` }];
  const inSandbox = { LUNAS_ENVIRONMENT: 'sandbox', DATABASE_URL: '' };
  const sick = await Promise.all(bad.map((changes) => doctor({ ...changes, ...inSandbox })));
  expect(sick.map(({ broken }) => broken.includes('temporal_certificate'))).toEqual([true, true, true]);
  for (const half of halves)
    await expect(startService(half)).rejects.toThrow(/^Only TEMPORAL_TLS_\w+ of the certificate/);
  expect((await doctor({ TEMPORAL_TLS_CERT: file, TEMPORAL_TLS_KEY: file })).ok).toContain('temporal_certificate');
});

it('node_version: warns in the log of a process that starts, once, and does not break the doctor', async () => {
  const collected = collectLog();
  await requireInstallation(new CommandContext(settings), 'api', collected.log);
  expect(collected.lines().filter(({ msg }) => msg.startsWith('Node.js'))).toHaveLength(WARNING.length);
  const { exitCode, rules } = await doctor();
  // No worker runs here.
  const warnings = rules.filter(({ state }) => state === 'warning').map(({ name }) => name);
  expect([exitCode, warnings]).toEqual([0, ['worker', ...WARNING]]);
});

it('temporal: is broken if it does not respond, but services start during an outage', async () => {
  const outage = { TEMPORAL_ADDRESS: '127.0.0.1:1' };
  expect((await doctor(outage)).broken).toEqual(['temporal']);
  expect(await startService(outage)).toBe('production');
});

it('temporal: is broken if the namespace lacks what the service requires', async () => {
  const { broken, rules } = await doctor({ TEMPORAL_NAMESPACE: (await newNamespace()).namespace });
  expect(broken).toEqual(['temporal']);
  const { violation, advice } = rules.find(({ name }) => name === 'temporal') ?? {};
  expect(violation).toMatch(/The retention is 1 days.*PaymentStatus \(Keyword\) is absent/);
  expect(advice).toContain('Run `lunas temporal check`.');
});

it('schema: a missing migration is broken', async () => {
  await db.query("delete from schema_migrations where name = '0001_schema_roles'");
  expect(await doctor()).toMatchObject({ exitCode: 1, broken: ['schema'] });
});

it('stopped_accounts: an account that changes amounts is named until it is enabled again', async () => {
  const { rows } = await db.query<{ id: string }>('select id from provider_accounts limit 1');
  const account = { providerAccountId: rows[0]?.id ?? '', referenceId: 'LN0000000000000000', amountRupiah: 30_072 };
  await openException(db, { ...account, kind: 'changed_amount', paymentId: null, detail: 'The account is stopped.' });
  expect((await doctor()).broken).toEqual([]);
  await db.query("update provider_accounts set status = 'disabled'");
  const { broken, rules } = await doctor();
  expect(broken).toEqual(['stopped_accounts']);
  expect(rules.find(({ name }) => name === 'stopped_accounts')?.violation).toBe(
    `Provider accounts are stopped and get no payments: ${account.providerAccountId} (changed_amount).`,
  );
  await db.query("update provider_accounts set status = 'enabled'");
  expect((await doctor()).broken).toEqual([]);
});

it('fee_payer: a merchant from before whose customers pay the fee is named, and the service starts', async () => {
  const insert = "insert into merchants (id, name, fee_payer) values (gen_random_uuid(), 'Toko', 'buyer') returning id";
  const { rows } = await db.query<{ id: string }>(insert);
  const { broken, rules } = await doctor();
  expect(broken).toEqual(['fee_payer']);
  expect(rules.find(({ name }) => name === 'fee_payer')?.violation).toBe(
    `Customers pay the fee of merchants that bear it: ${rows[0]?.id}.`,
  );
  expect(await startService({})).toBe('production');
  await db.query("update merchants set fee_payer = 'merchant'");
  expect((await doctor()).broken).toEqual([]);
});

it('demo_data and sandbox_accounts: are broken until the merchant is suspended and the account disabled', async () => {
  await db.query("insert into merchants (id, name, status) values ($1, 'Demo', 'approved')", [DEMO_MERCHANT]);
  await db.query("update provider_accounts set base_url = 'http://127.0.0.1:3001'");
  expect((await doctor()).broken).toEqual(['demo_data', 'sandbox_accounts']);
  await expect(startService({})).rejects.toThrow(/^The production database has the demo merchant/);
  await db.query("update merchants set status = 'suspended'");
  expect((await doctor()).broken).toEqual(['sandbox_accounts']);
  await expect(startService({})).rejects.toThrow(/^Provider accounts of production are at a sandbox/);
  await db.query("update provider_accounts set status = 'disabled'");
  expect((await doctor()).broken).toEqual([]);
});

it('a database that is not available is broken, and the rules that read it are not applicable', async () => {
  const { broken, rules } = await doctor({ DATABASE_URL: 'postgresql://127.0.0.1:1/lunas' });
  expect(broken).toEqual(['database']);
  const reading = new Set([
    'schema',
    'stopped_accounts',
    'fee_payer',
    'dashboard_role',
    'row_level_security',
    'master_key',
    'demo_data',
    'sandbox_accounts',
    'environment',
  ]);
  const states = rules.filter(({ name }) => reading.has(name)).map(({ state }) => state);
  expect(new Set(states)).toEqual(new Set(['not_applicable']));
});

it('the rules that apply are not known without an environment and a database', async () => {
  const { broken } = await doctor({ DATABASE_URL: '', LUNAS_ENVIRONMENT: '', PUBLIC_BASE_URL: '' });
  expect(broken).toEqual(['database', 'environment']);
});
