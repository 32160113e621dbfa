import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { KeyRing } from '../../src/crypto/master-keys';
import { createSealer } from '../../src/crypto/sealing';
import { createPool } from '../../src/db/connection/pool';
import { transitionWriters } from '../../src/db/transitions/payment-transitions';
import { freePort } from '../../src/local-stack/ports';
import { ensureDatabase } from '../../src/local-stack/postgres';
import { VERSION } from '../../src/package-info';
import { addAccount } from '../../src/services/provider-accounts/provider-accounts';
import { createTestDatabase, newDatabase } from '../support/database';
import { LUNAS } from '../support/lunas-process';
import { createTestLedger, creation } from '../support/payments';
import { temporalAddress } from '../support/temporal';
import { testEnvironment } from '../support/test-environment';

/** Runs the built command with only this environment. */
async function lunas(args: readonly string[], environment: NodeJS.ProcessEnv = {}) {
  const env = { PATH: process.env.PATH, LUNAS_HOME: '/nonexistent', ...environment };
  return promisify(execFile)(LUNAS, args, { env, timeout: 120_000 }).then(
    ({ stdout, stderr }) => ({ exitCode: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ exitCode: code, stdout, stderr }),
  );
}

it('the built command is executable, and exits with 0, 1 or 2', async () => {
  const [version, usage, failure] = await Promise.all([
    lunas(['--version']),
    lunas(['merchants', 'create']),
    lunas(['merchants', 'list']),
  ]);
  expect(version).toEqual({ exitCode: 0, stdout: `${VERSION}\n`, stderr: '' });
  expect(usage).toMatchObject({ exitCode: 2, stdout: '' });
  expect(failure).toEqual({
    exitCode: 1,
    stdout: '',
    stderr:
      'error: DATABASE_URL is not set and no Lunas runs on /nonexistent. Start `lunas up`, or set DATABASE_URL.\n',
  });
});

it('migrates an empty database, and applies nothing the second time', async () => {
  const database = newDatabase();
  const environment = { DATABASE_URL: database.url, LUNAS_ENVIRONMENT: 'sandbox' };
  await ensureDatabase(testEnvironment('DATABASE_SERVER_URL'), new URL(database.url).pathname.slice(1));
  try {
    const [first, second] = [
      await lunas(['migrate', '--json'], environment),
      await lunas(['migrate', '--json'], environment),
    ];
    expect(JSON.parse(first.stdout).migrations).toContain('0001_schema_roles');
    expect(JSON.parse(second.stdout)).toEqual({ migrations: [] });
    expect(await lunas(['merchants', 'list', '--json'], environment)).toMatchObject({ exitCode: 0, stderr: '' });
  } finally {
    await database.drop();
  }
});

it.each(['api', 'worker'])('the %s does not start on a database that was not migrated', async (command) => {
  const database = newDatabase();
  await ensureDatabase(testEnvironment('DATABASE_SERVER_URL'), new URL(database.url).pathname.slice(1));
  try {
    const environment = {
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: temporalAddress(),
      LUNAS_MASTER_KEY: Buffer.alloc(32).toString('base64'),
      PORT: String(await freePort()),
    };
    const { exitCode, stderr } = await lunas([command], environment);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: expect.stringMatching(/^The database lacks migrations .*0001_schema.* Run `lunas migrate`\.\n$/),
    });
  } finally {
    await database.drop();
  }
});

it.each(['api', 'worker'])(
  'attack: does not start the %s with a master key that did not seal its database',
  async (command) => {
    const database = await createTestDatabase();
    const db = createPool(database.url);
    try {
      const [right, wrong] = [Buffer.alloc(32, 1).toString('base64'), Buffer.alloc(32, 2).toString('base64')];
      const account = { provider: 'gopay', adapter: 'midtrans', serverKey: 'k', weight: 1 } as const;
      await addAccount(db, createSealer(right), { ...account, environment: 'sandbox' });
      const environment = {
        DATABASE_URL: database.url,
        TEMPORAL_ADDRESS: temporalAddress(),
        LUNAS_MASTER_KEY: wrong,
        PORT: String(await freePort()),
      };
      const { exitCode, stderr } = await lunas([command], environment);
      const [rightId, wrongId] = [new KeyRing(right).current.id, new KeyRing(wrong).current.id];
      expect(exitCode).toBe(1);
      expect(stderr).toMatch(
        new RegExp(`^The database .* master key ${rightId}, but LUNAS_MASTER_KEY is key ${wrongId}\\..*\n$`),
      );
    } finally {
      await db.end();
      await database.drop();
    }
  },
);

it('shows a payment, also if Temporal is unavailable', async () => {
  const ledger = await createTestLedger();
  try {
    const terms = ledger.newTerms();
    await transitionWriters.create(ledger.context, creation(terms, new Date()));
    const { connectionString: DATABASE_URL } = ledger.db.options;
    const show = (TEMPORAL_ADDRESS: string, ...options: string[]) =>
      lunas(['payments', 'show', terms.referenceId, ...options], {
        DATABASE_URL,
        TEMPORAL_ADDRESS,
        LUNAS_MASTER_KEY: Buffer.alloc(32).toString('base64'),
      });
    const [responding, silent, text] = await Promise.all([
      show(temporalAddress(), '--json'),
      show('127.0.0.1:1', '--json'),
      show(temporalAddress()),
    ]);
    expect(JSON.parse(responding.stdout)).toMatchObject({
      payment: { id: terms.paymentId, reference_id: terms.referenceId, status: 'created', total_rupiah: 50_000 },
      transitions: [{ version: 1, name: 'create', from_status: null, to_status: 'created' }],
      ledger: [],
      deliveries: [],
      workflow: null,
    });
    expect(JSON.parse(silent.stdout)).toMatchObject({
      payment: { id: terms.paymentId },
      workflow: { error: expect.stringMatching(/\w/) },
    });
    expect(text.stdout).toMatch(/^Status +created$/m);
    expect(text.stdout).toContain('pays Rp 50.000 by gopay');
  } finally {
    await ledger.close();
  }
});

// Jest's process hears no warnings.
it('twenty concurrent calls with the same signal print no warning of a leak', async () => {
  const abortAfter = path.join(path.dirname(LUNAS), '..', 'lib', 'abort-after.js');
  const script = `
    const { abortAfter } = require(${JSON.stringify(abortAfter)});
    const { signal } = new AbortController();
    for (let calls = 0; calls < 20; calls += 1) abortAfter(1_000, signal, () => Promise.resolve());`;
  const { stderr } = await promisify(execFile)(process.execPath, ['-e', script]);
  expect(stderr).toBe('');
});
