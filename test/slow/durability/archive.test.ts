import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { PoolClient } from 'pg';
import { verifyLedger } from '../../../src/services/ledger/verify-ledger';
import { runLunas } from '../../cli/run-lunas';
import { applyTransitions } from '../../services/ledger/transition-path';
import { asSuperuser, backdatePayments } from '../../support/backdate';
import { waitForStatus } from '../../support/created-payment';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { eventually } from '../../support/eventually';
import { openGate, type Gate } from '../../support/gate';
import { issueNow } from '../../support/invoices';
import { LUNAS } from '../../support/lunas-process';
import { createTestLedger, type TestLedger } from '../../support/payments';
import { newNamespace, operatorEnvironment, startTestService, type TestService } from '../../support/service';

/** Both steps of `lunas archive` as an operator runs them. What is killed or paused is the built command. */

const TIMEOUT_MS = 600_000;

let directory: string;
/** Where the copies are. */
let elsewhere: string;
beforeEach(async () => {
  directory = await mkdtemp(path.join(os.tmpdir(), 'lunas-archive-'));
  elsewhere = await mkdtemp(path.join(os.tmpdir(), 'lunas-copies-'));
});
afterEach(async () => {
  await rm(directory, { recursive: true });
  await rm(elsewhere, { recursive: true });
});

const writing = (before: string): string[] => ['archive', 'write', '--before', before, '--directory', directory];
const removing = (copy: string): string[] => ['archive', 'remove', '--copy', copy];

const listFiles = async () => (await readdir(directory)).filter((name) => name.endsWith('.gz'));

/** Copies all files elsewhere. @returns the copies */
async function copyAll(): Promise<string[]> {
  const names = await listFiles();
  for (const name of names) await copyFile(path.join(directory, name), path.join(elsewhere, name));
  return names.map((name) => path.join(elsewhere, name));
}

/** The ids of the payments in a file, in its order. */
async function readIds(file: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)('zcat', [file], { maxBuffer: 2 ** 28 });
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).payment.id);
}

/** Old final payments in a database of their own. */
interface Archivable {
  readonly database: TestDatabase;
  readonly ledger: TestLedger;
}

const DAY = '2026-01-30';
const WRITE_BEFORE = '2026-01-31';

async function prepare(count: number, transitions: Parameters<typeof applyTransitions>[1]): Promise<Archivable> {
  const database = await createTestDatabase();
  const ledger = await createTestLedger(async () => database);
  const writers = Array.from({ length: 8 }, async () => {
    for (let n = 0; n < count / 8; n += 1) await applyTransitions(ledger, transitions);
  });
  await Promise.all(writers);
  await backdatePayments(ledger.db, "interval '20 days'");
  await asSuperuser(ledger.db, `update payments set created_at = '${DAY}T10:00:00Z'`);
  await issueNow(ledger.db);
  await verifyLedger(ledger.db, { all: true });
  return { database, ledger };
}

function start({ database }: Archivable, args: readonly string[]) {
  const command = spawn(process.execPath, [LUNAS, ...args], {
    env: { PATH: process.env.PATH, ...environmentOf(database) },
    stdio: 'ignore',
  });
  return { command, ended: once(command, 'close') };
}

const environmentOf = (database: TestDatabase) => ({ DATABASE_URL: database.urlOf('lunas_local_operator') });

async function succeed({ database }: Archivable, args: readonly string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await runLunas(args, environmentOf(database));
  expect([args, exitCode, stderr]).toEqual([args, 0, expect.any(String)]);
  return stdout;
}

async function listArchived({ ledger }: Archivable): Promise<string[]> {
  const { rows } = await ledger.db.query<{ id: string }>('select payment_id as id from archived_payments order by 1');
  return rows.map(({ id }) => id);
}

describe('killed at any time', () => {
  /** Sixty batches. */
  const PAYMENTS = 3_000;
  const KILLS = 2;

  let archivable: Archivable;
  beforeAll(async () => {
    archivable = await prepare(PAYMENTS, ['issue', 'pay', 'settle']);
  }, TIMEOUT_MS);
  afterAll(() => archivable.ledger.close());

  /** The bytes of all files. */
  async function countBytes(): Promise<number> {
    let sum = 0;
    for (const name of await readdir(directory)) sum += (await stat(path.join(directory, name))).size;
    return sum;
  }

  const countArchived = async () => (await listArchived(archivable)).length;

  /** Kills the command as soon as it has changed what is observed. */
  async function killAfterChange(args: readonly string[], observe: () => Promise<number>): Promise<void> {
    const before = await observe();
    const { command, ended } = start(archivable, args);
    while (command.exitCode === null && (await observe()) === before) await sleep(1);
    command.kill('SIGKILL');
    // With a code, it has ended by itself.
    expect(await ended).toEqual([null, 'SIGKILL']);
  }

  async function expectNothingLost(): Promise<void> {
    const { breakCount, payments } = await verifyLedger(archivable.ledger.db, { all: true });
    expect({ breakCount, payments }).toEqual({ breakCount: 0, payments: PAYMENTS - (await countArchived()) });
  }

  it(
    'a killed step is repeated, and each payment is in a compared copy or still in PostgreSQL',
    async () => {
      const { db } = archivable.ledger;
      const before = await verifyLedger(db, { all: true });
      for (let kill = 1; kill <= KILLS; kill += 1) {
        await killAfterChange(writing(WRITE_BEFORE), countBytes);
        expect([await countArchived(), await listFiles()]).toEqual([0, []]);
        await expectNothingLost();
      }
      const { rows } = await db.query('select from archive_files where completed_at is null');
      expect(rows).toHaveLength(KILLS);

      await succeed(archivable, writing(WRITE_BEFORE));
      expect(await countArchived()).toBe(0);
      const [copy = '', ...others] = await copyAll();
      expect(others).toEqual([]);
      const ids = await readIds(copy);
      expect([ids.length, new Set(ids).size]).toEqual([PAYMENTS, PAYMENTS]);

      for (let kill = 1; kill <= KILLS; kill += 1) {
        await killAfterChange(removing(copy), countArchived);
        await expectNothingLost();
      }
      expect(await countArchived()).toBeLessThan(PAYMENTS);
      await succeed(archivable, removing(copy));
      expect(await listArchived(archivable)).toEqual(ids.toSorted());
      const shown = await succeed(archivable, ['archive', 'show', copy]);
      expect(shown).toMatch(/settled +3000 +Rp 150\.000\.000/);
      const after = await verifyLedger(db, { all: true });
      expect([after.breakCount, after.balances]).toEqual([0, before.balances]);
    },
    TIMEOUT_MS,
  );
});

describe('stopped at a step', () => {
  const PAYMENTS = 120;

  let archivable: Archivable;
  let gate: Gate;
  let locker: PoolClient;
  beforeEach(async () => {
    archivable = await prepare(PAYMENTS, ['issue', 'cancel']);
    const { db } = archivable.ledger;
    gate = await openGate(db);
    locker = await db.connect();
  }, TIMEOUT_MS);
  afterEach(async () => {
    locker.release(true);
    await gate.remove();
    await archivable.ledger.close();
  });

  type Step = readonly [name: string, table: string, time: string, lock: string | undefined];

  const WRITE_STEPS: Step[] = [
    ['begins a file', 'archive_files', 'before insert', undefined],
    ['records a file that has its name', 'archive_files', 'before update of completed_at', undefined],
  ];

  const REMOVE_STEPS: Step[] = [
    ['has compared the copy', 'archive_batches', 'before update of removed_at', undefined],
    ['has removed the rows of a batch', 'operator_action_outcomes', 'before insert', undefined],
    ['has removed a batch', 'archived_payments', 'after insert', 'archive_batches in exclusive'],
  ];

  /**
   * Starts a command that waits at a step: at the gate, or for a lock that is granted after its first batch.
   * @returns the process, its server process, and what lets its statement pass
   */
  async function startUntil(args: readonly string[], [, table, time, lock]: Step) {
    await gate.closeAt(table, time);
    const { command, ended } = start(archivable, args);
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

  const endConnection = (pid: number) => archivable.ledger.db.query('select pg_terminate_backend($1)', [pid]);

  async function killAt(args: readonly string[], step: Step): Promise<void> {
    const { command, ended, pid, letPass } = await startUntil(args, step);
    command.kill('SIGKILL');
    await ended;
    await endConnection(pid);
    await letPass();
  }

  /** Each payment is archived once, and stands in the copy. */
  async function expectRemoved(copy: string): Promise<void> {
    expect(await listArchived(archivable)).toEqual((await readIds(copy)).toSorted());
    const { rows } = await archivable.ledger.db.query('select from payments');
    expect(rows).toEqual([]);
    expect(await succeed(archivable, ['archive', 'show', copy])).toContain(
      `${PAYMENTS} payments; the checksum is correct`,
    );
  }

  it.each(WRITE_STEPS)(
    'writes the day again if it is killed when it %s, and what was left removes nothing',
    async (...step) => {
      await killAt(writing(WRITE_BEFORE), step);
      for (const left of await copyAll()) {
        const refused = await runLunas(removing(left), environmentOf(archivable.database));
        expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('is no file of this database') });
        await rm(left);
        await rm(path.join(directory, path.basename(left)));
      }
      expect(await listArchived(archivable)).toEqual([]);

      await succeed(archivable, writing(WRITE_BEFORE));
      const [copy = '', ...others] = await copyAll();
      expect(others).toEqual([]);
      await succeed(archivable, removing(copy));
      await expectRemoved(copy);
    },
    TIMEOUT_MS,
  );

  it.each(REMOVE_STEPS)(
    'removes the rest if it is killed when it %s',
    async (...step) => {
      await succeed(archivable, writing(WRITE_BEFORE));
      const [copy = ''] = await copyAll();
      await killAt(removing(copy), step);
      const archived = (await listArchived(archivable)).length;
      expect(archived).toBe(step[3] === undefined ? 0 : 50);
      expect(await succeed(archivable, removing(copy))).toContain(
        `${PAYMENTS - archived} payments removed; ${archived} were removed before.`,
      );
      await expectRemoved(copy);
    },
    TIMEOUT_MS,
  );

  it.each(REMOVE_STEPS)(
    'removes each payment once if it is paused until its connection has ended when it %s',
    async (...step) => {
      await succeed(archivable, writing(WRITE_BEFORE));
      const [copy = ''] = await copyAll();
      const { command, ended, pid, letPass } = await startUntil(removing(copy), step);
      command.kill('SIGSTOP');
      // The paused run gets the result of its statement when it continues, and then learns that its connection ended.
      await letPass();
      await eventually(
        async () => (await archivable.ledger.db.query('select state from pg_stat_activity where pid = $1', [pid])).rows,
        ([found]) => found?.state === 'idle in transaction',
      );
      await endConnection(pid);
      await succeed(archivable, removing(copy));
      command.kill('SIGCONT');
      expect(await ended).toEqual([1, null]);
      await expectRemoved(copy);
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
    const { exitCode, stdout, stderr } = await runLunas(args, environment);
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
      await waitForStatus(service, id, 'expired');
      await backdatePayments(service.db, "interval '20 days'");
      const before = new Date(Date.now() - 8 * 86_400_000).toISOString().slice(0, 10);
      await lunas('ledger', 'verify', '--all');
      expect(await lunas(...writing(before))).toContain('1 payments written, and none removed.');
      const [copy = ''] = await copyAll();
      expect(await lunas(...removing(copy))).toContain('1 payments removed; 0 were removed before.');

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
