import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { PoolClient } from 'pg';
import { verifyLedger } from '../../../src/services/ledger/verify-ledger';
import { applyTransitions } from '../../services/ledger/transition-path';
import { asSuperuser, backdatePayments } from '../../support/backdate';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { eventually } from '../../support/eventually';
import { openGate, type Gate } from '../../support/gate';
import { LUNAS, runBuiltLunas } from '../../support/lunas-process';
import { createTestLedger, type TestLedger } from '../../support/payments';
import { newNamespace, operatorEnvironment, startTestService, type TestService } from '../../support/service';

/** `lunas archive` as an operator runs it, with the built command. */

const TIMEOUT_MS = 600_000;

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(path.join(os.tmpdir(), 'lunas-archive-'));
});
afterEach(() => rm(directory, { recursive: true }));

describe('killed at any time', () => {
  /** Sixty batches. */
  const PAYMENTS = 3_000;
  const KILLS = 4;
  const DAY = '2026-01-30';
  const ARCHIVE = ['archive', '--before', '2026-01-31'];

  let database: TestDatabase;
  let ledger: TestLedger;
  beforeAll(async () => {
    ledger = await createTestLedger(async () => {
      database = await createTestDatabase();
      return database;
    });
    const writers = Array.from({ length: 8 }, async () => {
      for (let n = 0; n < PAYMENTS / 8; n += 1) await applyTransitions(ledger, ['issue', 'pay', 'settle']);
    });
    await Promise.all(writers);
    await backdatePayments(ledger.db, "interval '20 days'");
    await asSuperuser(ledger.db, `update payments set created_at = '${DAY}T10:00:00Z'`);
  }, TIMEOUT_MS);
  afterAll(() => ledger.close());

  const environment = () => ({ DATABASE_URL: database.urlOf('lunas_local_operator') });

  async function fileSize(): Promise<number> {
    const [name] = await readdir(directory);
    return name === undefined ? 0 : (await stat(path.join(directory, name))).size;
  }

  /** Kills the command as soon as it has changed what is observed. */
  async function killAfterChange(observe: () => Promise<number>): Promise<void> {
    const before = await observe();
    const command = spawn(process.execPath, [LUNAS, ...ARCHIVE, '--directory', directory], {
      env: { PATH: process.env.PATH, ...environment() },
      stdio: 'ignore',
    });
    const ended = once(command, 'close');
    while (command.exitCode === null && (await observe()) === before) await sleep(1);
    command.kill('SIGKILL');
    await ended;
  }

  async function countArchived(): Promise<number> {
    const { rows } = await ledger.db.query<{ count: number }>('select count(*) from archived_payments');
    return rows[0]?.count ?? 0;
  }

  it(
    'a killed archive has each payment once in the file, or still in PostgreSQL',
    async () => {
      const before = await verifyLedger(ledger.db, { all: true });
      for (let kill = 1; kill <= KILLS; kill += 1) {
        // Before the bytes in the file are recorded, and after it.
        await killAfterChange(kill % 2 === 0 ? countArchived : fileSize);
        const { breakCount, payments } = await verifyLedger(ledger.db, { all: true });
        expect({ breakCount, payments }).toEqual({ breakCount: 0, payments: PAYMENTS - (await countArchived()) });
      }

      const { rows } = await ledger.db.query('select from archive_files where completed_at is null');
      expect(rows).toHaveLength(1);
      const other = path.join(directory, 'other');
      const elsewhere = await runBuiltLunas([...ARCHIVE, '--directory', other], environment());
      expect([elsewhere.exitCode, elsewhere.stderr]).toEqual([
        1,
        expect.stringMatching(/has 0 of the \d+ bytes that a stopped run wrote. Give the directory of that run/),
      ]);
      await rm(other, { recursive: true });

      const { exitCode, stderr } = await runBuiltLunas([...ARCHIVE, '--directory', directory], environment());
      expect([exitCode, stderr]).toEqual([0, expect.stringContaining(DAY)]);
      expect(await countArchived()).toBe(PAYMENTS);
      const [file = '', ...others] = (await readdir(directory)).filter((name) => name.endsWith('.gz'));
      expect(others).toEqual([]);
      const { stdout } = await promisify(execFile)('zcat', [path.join(directory, file)], { maxBuffer: 2 ** 28 });
      const ids = stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).payment.id);
      expect([ids.length, new Set(ids).size]).toEqual([PAYMENTS, PAYMENTS]);
      const shown = await runBuiltLunas(['archive', 'show', path.join(directory, file)], environment());
      expect([shown.exitCode, shown.stdout]).toEqual([0, expect.stringMatching(/settled +3000 +Rp 150\.000\.000/)]);
      const after = await verifyLedger(ledger.db, { all: true });
      expect([after.breakCount, after.balances]).toEqual([0, before.balances]);
    },
    TIMEOUT_MS,
  );
});

describe('stopped at a step', () => {
  const PAYMENTS = 120;
  const ARCHIVE = ['archive', '--before', '2026-01-31'];

  let database: TestDatabase;
  let ledger: TestLedger;
  let gate: Gate;
  let locker: PoolClient;
  beforeEach(async () => {
    ledger = await createTestLedger(async () => {
      database = await createTestDatabase();
      return database;
    });
    for (let n = 0; n < PAYMENTS; n += 1) await applyTransitions(ledger, ['issue', 'cancel']);
    await backdatePayments(ledger.db, "interval '20 days'");
    await asSuperuser(ledger.db, "update payments set created_at = '2026-01-30T10:00:00Z'");
    await verifyLedger(ledger.db, { all: true });
    gate = await openGate(ledger.db);
    locker = await ledger.db.connect();
  }, TIMEOUT_MS);
  afterEach(async () => {
    locker.release(true);
    await gate.remove();
    await ledger.close();
  });

  const environment = () => ({ DATABASE_URL: database.urlOf('lunas_local_operator') });

  type Step = readonly [name: string, table: string, time: string, lock: string | undefined];

  const STEPS: Step[] = [
    ['takes the file', 'archive_files', 'before update of run_id', undefined],
    ['has read the payments of a batch', 'archive_batches', 'before insert', 'archive_batches in access exclusive'],
    ['has written a batch', 'archive_batches', 'before insert', 'archive_batches in exclusive'],
    ['completes the file', 'archive_files', 'before update of completed_at', undefined],
  ];

  /**
   * Starts a run that waits at a step: at the gate, or for a lock that is granted after its first batch.
   * @returns the process, its server process, and what lets its statement pass
   */
  async function startUntil([, table, time, lock]: Step) {
    await gate.closeAt(table, time);
    const command = spawn(process.execPath, [LUNAS, ...ARCHIVE, '--directory', directory], {
      env: { PATH: process.env.PATH, ...environment() },
      stdio: 'ignore',
    });
    const ended = once(command, 'close');
    let pids = await gate.waiting(1);
    let letPass: () => Promise<unknown> = () => gate.open();
    if (lock !== undefined) {
      await locker.query('begin');
      const locked = locker.query(`lock table ${lock} mode`);
      await gate.waiting(2);
      await gate.open();
      await locked;
      pids = await gate.waiting(1);
      letPass = () => locker.query('commit');
    }
    return { command, ended, pid: pids[0] ?? 0, letPass };
  }

  async function expectEachOnce(): Promise<void> {
    const { rows } = await ledger.db.query<{ id: string }>('select payment_id as id from archived_payments order by 1');
    expect(rows).toHaveLength(PAYMENTS);
    expect((await ledger.db.query('select from payments')).rows).toEqual([]);
    const names = (await readdir(directory)).filter((name) => name.endsWith('.gz'));
    const ids: string[] = [];
    for (const name of names) {
      const shown = await runBuiltLunas(['archive', 'show', path.join(directory, name)], environment());
      expect([shown.exitCode, shown.stderr]).toEqual([0, '']);
      const { stdout } = await promisify(execFile)('zcat', [path.join(directory, name)], { maxBuffer: 2 ** 28 });
      for (const line of stdout.trimEnd().split('\n')) ids.push(JSON.parse(line).payment.id);
    }
    expect(ids.sort()).toEqual(rows.map(({ id }) => id));
  }

  it.each(STEPS)(
    'loses no payment and writes none twice if it is killed when it %s',
    async (...step) => {
      const { command, ended, pid, letPass } = await startUntil(step);
      command.kill('SIGKILL');
      await ended;
      await ledger.db.query('select pg_terminate_backend($1)', [pid]);
      await letPass();
      const next = await runBuiltLunas([...ARCHIVE, '--directory', directory], environment());
      expect([next.exitCode, next.stderr]).toEqual([0, expect.any(String)]);
      await expectEachOnce();
    },
    TIMEOUT_MS,
  );

  it.each(STEPS)(
    'loses no payment and writes none twice if it is paused until its connection has ended when it %s',
    async (...step) => {
      const { command, ended, pid, letPass } = await startUntil(step);
      command.kill('SIGSTOP');
      // The paused run gets the result of its statement when it continues, and then learns that its connection ended.
      await letPass();
      await eventually(
        async () => (await ledger.db.query('select state from pg_stat_activity where pid = $1', [pid])).rows,
        ([found]) => found?.state === 'idle in transaction',
      );
      await ledger.db.query('select pg_terminate_backend($1)', [pid]);
      const next = await runBuiltLunas([...ARCHIVE, '--directory', directory], environment());
      expect([next.exitCode, next.stderr]).toEqual([0, expect.any(String)]);
      command.kill('SIGCONT');
      expect(await ended).toEqual([1, null]);
      await expectEachOnce();
    },
    TIMEOUT_MS,
  );
});

describe('in a service', () => {
  const KEY = { 'idempotency-key': 'order-1' };

  let service: TestService;
  let environment: NodeJS.ProcessEnv;
  beforeAll(async () => {
    service = await startTestService(await newNamespace());
    environment = {
      ...operatorEnvironment(service),
      PUBLIC_BASE_URL: service.apiUrl,
      SANDBOX_URL: service.sandboxUrl,
    };
  }, TIMEOUT_MS);
  afterAll(() => service.close());

  const lunas = async (...args: readonly string[]): Promise<string> => {
    const { exitCode, stdout, stderr } = await runBuiltLunas(args, environment);
    expect([args, exitCode, stderr]).toEqual([args, 0, expect.anything()]);
    return stdout;
  };

  async function suspense(): Promise<number> {
    const { rows } = await service.db.query<{ sum: number }>(
      `select coalesce(sum(case side when 'credit' then amount_rupiah else -amount_rupiah end), 0)::integer as sum
       from ledger_entries where account = 'suspense'`,
    );
    return rows[0]?.sum ?? 0;
  }

  it(
    'a repeated key charges no customer, a late payment is in suspense, and neither repair brings the payment back',
    async () => {
      const create = () => service.call('POST', '/payments', { amount: 50_000 }, KEY);
      const { id, reference_id: reference } = (await create()).body.payment;
      await lunas('trigger', 'expire', reference);
      await eventually(
        async () => (await service.call('GET', `/payments/${id}`)).body.payment.status,
        (status) => status === 'expired',
      );
      await backdatePayments(service.db, "interval '20 days'");
      const before = new Date(Date.now() - 8 * 86_400_000).toISOString().slice(0, 10);
      await lunas('ledger', 'verify', '--all');
      expect(await lunas('archive', '--before', before, '--directory', directory)).toContain('1 payments archived.');

      expect(await create()).toMatchObject({ status: 400, body: { error: { code: 'payment_create_failed' } } });
      expect(await service.atProvider(reference)).toMatchObject({ charge_calls: 1 });

      await service.pay(reference);
      const listed = await eventually(
        () => lunas('exceptions', 'list', '--json'),
        (text) => text.includes(reference),
      );
      const { exceptions } = JSON.parse(listed);
      expect(exceptions).toMatchObject([{ kind: 'late_payment', amount_rupiah: 50_000 }]);
      expect(await suspense()).toBe(50_000);
      await lunas('ledger', 'verify', '--all');
      await lunas('exceptions', 'resolve', exceptions[0].id, '--refunded', '--note', 'sent back');
      expect(await suspense()).toBe(0);
      await lunas('ledger', 'verify', '--all');

      const { recovery } = JSON.parse(await lunas('recover', '--since', '2026-01-01T00:00:00Z', '--json'));
      expect(recovery).toMatchObject({ rows: { rebuilt: 0 }, failures: [] });
      const { reconciliation } = JSON.parse(await lunas('reconcile', '--since', '60d', '--json'));
      expect(reconciliation.breaks).toEqual([]);
      const { rows } = await service.db.query('select id from payments');
      expect(rows).toEqual([]);
    },
    TIMEOUT_MS,
  );
});
