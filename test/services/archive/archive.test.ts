import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { appendFile, copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { z } from 'zod';
import { referenceIdOf } from '../../../src/crypto/reference-id';
import { createPool, type Pool } from '../../../src/db/connection/pool';
import { openException } from '../../../src/db/operations/open-exception';
import { transitionWriters } from '../../../src/db/transitions/payment-transitions';
import { archivePayments } from '../../../src/services/archive/archive-payments';
import { paymentIdentity } from '../../../src/services/payments/create/payment-identity';
import { redeliverNamed } from '../../../src/services/webhooks/webhook-redelivery';
import { runLunas, type Outcome } from '../../cli/run-lunas';
import { sendRequest, startTestApis, type TestApis, type TestKey } from '../../support/api';
import { asSuperuser } from '../../support/backdate';
import { openGate, type Gate } from '../../support/gate';
import { creation, newTerms, type TestLedger } from '../../support/payments';
import { insertCatalog } from '../../support/seed-payments';
import { applyTransitions, payLate, T0, type AppliedPath } from '../ledger/transition-path';

const run = promisify(execFile);

/** `backdate` moves the payments to this day and the next one. */
const FIRST_DAY = '2026-01-30';
const BEFORE = '2026-02-01';
const ZERO_ID = '00000000-0000-0000-0000-000000000000';
const SETTLED = ['issue', 'pay', 'settle'] as const;
const REFUNDED = ['issue', 'pay', 'request_refund', 'submit_refund', 'confirm_refund'] as const;

let apis: TestApis;
let key: TestKey;
let ledger: TestLedger;
let operator: Pool;
let directory: string;
let environment: NodeJS.ProcessEnv;

beforeAll(async () => {
  apis = await startTestApis([{}]);
  key = await apis.newKey();
  const [policyId, providerAccountId] = await insertCatalog(apis.db);
  const { merchantId } = key;
  ledger = {
    db: apis.db,
    merchantId,
    context: { db: apis.db, environment: 'sandbox', onDeliveries: () => undefined },
    newTerms: (changes = {}) => newTerms({ merchantId, policyId, providerAccountId, ...changes }),
    close: () => Promise.resolve(),
  };
  operator = createPool(apis.operatorDatabaseUrl, { max: 2 });
  environment = { DATABASE_URL: apis.operatorDatabaseUrl };
});
afterAll(async () => {
  await operator.end();
  await apis.close();
});
beforeEach(async () => {
  directory = await mkdtemp(path.join(os.tmpdir(), 'lunas-archive-'));
});
afterEach(async () => {
  await rm(directory, { recursive: true });
  await change(
    `truncate payments, archive_files, archive_batches, archived_payments, ledger_closings, ledger_verifications,
       balance_transactions, payment_details, provider_notifications, webhook_endpoints cascade`,
  );
});

const lunas = (...args: readonly string[]): Promise<Outcome> => runLunas(args, environment);
const archive = (...args: readonly string[]) => lunas('archive', '--before', BEFORE, '--directory', directory, ...args);

const change = (...statements: readonly string[]) => asSuperuser(apis.db, ...statements);

/** Moves the payments that were just written to two days, by their ids. */
async function backdate(): Promise<void> {
  const recorded = await apis.db.query<{ age: string }>(
    `select (date_trunc('second', now()) - timestamptz '${FIRST_DAY}T23:59:58Z')::text as age`,
  );
  const { age = '' } = recorded.rows[0] ?? {};
  await change(
    `update payments set created_at = timestamptz '${FIRST_DAY}T23:59:58Z', updated_at = '${FIRST_DAY}T23:59:59Z'`,
    `update payments set created_at = created_at + interval '3 seconds' where id > '8${ZERO_ID.slice(1)}'`,
    `update payment_transitions set recorded_at = recorded_at - interval '${age}'`,
    `update webhook_events set occurred_at = occurred_at - interval '${age}'`,
  );
}

async function verified(): Promise<{ readonly balances: unknown }> {
  const { exitCode, stdout, stderr } = await lunas('ledger', 'verify', '--all', '--json');
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return z.object({ ledger: z.object({ balances: z.unknown() }) }).parse(JSON.parse(stdout)).ledger;
}

/** An id on the first or on the second day. */
const idOn = (day: 0 | 1): string => (day === 0 ? '0' : 'f') + randomUUID().slice(1);

/** The payments of the files, by id. */
async function readFiles(): Promise<Map<string, Record<string, unknown>>> {
  const documents = new Map<string, Record<string, unknown>>();
  const names = (await readdir(directory)).filter((name) => name.endsWith('.gz'));
  for (const name of names) {
    const { stdout } = await run('zcat', [path.join(directory, name)], { maxBuffer: 64 * 1024 * 1024 });
    for (const line of stdout.trimEnd().split('\n')) {
      const document = z.looseObject({ payment: z.looseObject({ id: z.string() }) }).parse(JSON.parse(line));
      expect(documents.has(document.payment.id)).toBe(false);
      documents.set(document.payment.id, document);
    }
  }
  return documents;
}

/** How many rows of payments each table has. */
async function countRows(): Promise<Record<string, number>> {
  const tables = [
    'payments',
    'payment_transitions',
    'refunds',
    'late_payments',
    'ledger_postings',
    'ledger_entries',
    'webhook_events',
    'webhook_deliveries',
    'payment_details',
  ];
  const counts: Record<string, number> = {};
  for (const table of tables) {
    const { rows } = await apis.db.query<{ count: number }>(`select count(*) from ${table}`);
    counts[table] = rows[0]?.count ?? -1;
  }
  return counts;
}

const post = (url: string, body: unknown, headers: Record<string, string> = {}) =>
  sendRequest(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${key.secret}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

async function settled(changes: Parameters<TestLedger['newTerms']>[0] = {}): Promise<AppliedPath> {
  return applyTransitions(ledger, SETTLED, changes);
}

describe('a run', () => {
  it('moves final payments with all their rows to a file for each day, and keeps the balances', async () => {
    await apis.db.query(
      `insert into webhook_endpoints (id, merchant_id, url) values (gen_random_uuid(), $1, 'http://127.0.0.1:9')`,
      [key.merchantId],
    );
    const paths = [
      await settled({ paymentId: idOn(0) }),
      await applyTransitions(ledger, REFUNDED, { paymentId: idOn(1) }),
      await applyTransitions(ledger, ['issue', 'cancel'], { paymentId: idOn(1) }),
    ];
    const expired = await applyTransitions(ledger, ['issue', 'expire'], { paymentId: idOn(0) });
    await payLate(ledger, expired, 50_000, 'refunded');
    const open = await applyTransitions(ledger, ['issue', 'pay'], { paymentId: idOn(0) });
    await change(
      `update webhook_deliveries set status = 'delivered', finished_at = now()`,
      `insert into webhook_attempts (delivery_id, number, started_at, duration_ms, status_code, response_excerpt)
       select id, 1, now(), 3, 200, 'Dear Siti' from webhook_deliveries`,
      `insert into payment_details (payment_id, fingerprint, sealed) select id, fingerprint, 's' from payments`,
    );
    await backdate();
    const before = await verified();
    const rowsBefore = await countRows();

    const { exitCode, stdout } = await archive('--json');
    expect(exitCode).toBe(0);
    const { archived, days } = z
      .object({ archived: z.number(), days: z.array(z.record(z.string(), z.unknown())) })
      .parse(JSON.parse(stdout));
    expect(archived).toBe(4);
    expect(days).toMatchObject([
      { day: FIRST_DAY, archived: 2, kept: 0, open: 1 },
      { day: '2026-01-31', archived: 2, kept: 0, open: 0 },
    ]);

    const documents = await readFiles();
    expect([...documents.keys()].sort()).toEqual([...paths, expired].map(({ terms }) => terms.paymentId).sort());
    for (const { terms, version } of [...paths, expired]) {
      const document = documents.get(terms.paymentId);
      expect(document).toMatchObject({
        format: 1,
        payment: { reference_id: terms.referenceId, total_rupiah: 50_000, version },
        late_payments: terms.paymentId === expired.terms.paymentId ? [{ status: 'refunded' }] : [],
      });
      expect(document?.transitions).toHaveLength(version);
      expect(JSON.stringify(document)).not.toMatch(/"sealed"|Siti/);
    }
    expect(documents.get(paths[0]?.terms.paymentId ?? '')).toMatchObject({
      postings: [{ entries: [{}, {}, {}] }, { entries: [{}, {}] }],
      webhook_deliveries: [{ attempts: [{ status_code: 200 }] }, {}, {}, {}],
    });
    expect(documents.get(paths[1]?.terms.paymentId ?? '')).toMatchObject({ refunds: [{ status: 'confirmed' }] });

    expect(await countRows()).toMatchObject({
      payments: 1,
      payment_transitions: open.version,
      ledger_postings: 1,
      webhook_events: open.version,
      payment_details: 1,
    });
    expect(rowsBefore.payments).toBe(5);
    expect(await verified()).toMatchObject({ balances: before.balances });
    expect((await lunas('ledger', 'verify')).stdout).toContain('no breaks');
    await run('sha256sum', ['--check', ...(await readdir(directory)).filter((name) => name.endsWith('.sha256'))], {
      cwd: directory,
    });
    expect((await archive()).stdout).toContain('There is no final payment before that day.');
  });

  it('`lunas archive --dry-run` only counts', async () => {
    await settled({ paymentId: idOn(0) });
    await backdate();
    await verified();
    expect((await archive('--dry-run')).stdout).toMatch(/1 payments would be archived/);
    expect(await readdir(directory)).toEqual([]);
    expect(await countRows()).toMatchObject({ payments: 1 });
  });

  it.each([
    [
      'a late payment',
      `insert into late_payments (payment_id, merchant_id, total_rupiah, provider_transaction_id,
         paid_at, status, received_at, refund_key)
       select id, merchant_id, 5, 'T', now(), 'received', now(), 'k' from payments`,
    ],
    ['a delivery', `update webhook_deliveries set status = 'pending', finished_at = null`],
    [
      'a notification',
      `insert into provider_notifications (provider_account_id, reference_id, body_sha256, body)
       select provider_account_id, reference_id, sha256('x'), '{}' from payments`,
    ],
    [
      'an exception',
      `insert into exceptions (kind, reference_id, payment_id, detail)
       select 'reconciliation', reference_id, id, 'x' from payments`,
    ],
    ['a change that is not verified', 'update payment_transitions set recorded_at = now() where version = 3'],
    ['an end in the last 7 days', `update payments set updated_at = now() - interval '6 days'`],
  ])('keeps a payment with %s', async (_name, statement) => {
    const { terms } = await applyTransitions(ledger, ['issue', 'cancel'], { paymentId: idOn(0) });
    await backdate();
    await verified();
    await change(statement);
    if (statement.includes('webhook_deliveries')) {
      await change(
        `insert into webhook_deliveries (id, payment_id, payment_version, endpoint_id, merchant_id, event, status)
         select gen_random_uuid(), id, 1, gen_random_uuid(), merchant_id, 'payment.created', 'pending' from payments`,
      );
    }
    const { exitCode, stdout } = await archive();
    expect(exitCode).toBe(0);
    expect(stdout).toContain(`1 (${terms.referenceId})`);
    expect(stdout).toContain('0 payments archived');
    expect(await countRows()).toMatchObject({ payments: 1 });
    await change('delete from exceptions');
  });

  it('keeps a payment whose ledger was changed after its verification, with what to do', async () => {
    const { terms } = await settled({ paymentId: idOn(0) });
    await backdate();
    await verified();
    await change("update ledger_entries set account = 'suspense' where account = 'fee_revenue'");
    const { exitCode, stderr } = await archive();
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`The ledger of payment ${terms.paymentId} has a break: Posting`);
    expect(stderr).toContain('lunas ledger verify --all');
    expect(await countRows()).toMatchObject({ payments: 1 });
  });

  it('refuses days that are too young, or whose ledger is not verified', async () => {
    await settled({ paymentId: idOn(0) });
    await backdate();
    const notVerified = await archive();
    expect(notVerified).toMatchObject({ exitCode: 1, stdout: '' });
    expect(notVerified.stderr).toContain('The ledger is verified not yet. Run lunas ledger verify first');
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
    expect((await lunas('archive', '--before', tomorrow)).stderr).toMatch(/last 7 days stay: give \d{4}-/);
    expect(await lunas('archive')).toMatchObject({ exitCode: 2 });
    expect((await lunas('archive', '--before', 'May')).stderr).toContain("must be a day such as 2026-01-31, not 'May'");
    expect(await countRows()).toMatchObject({ payments: 1 });
  });
});

describe('beside others', () => {
  const MOVE = { before: BEFORE, isDryRun: false, onDay: () => undefined };
  let gate: Gate;
  beforeEach(async () => {
    gate = await openGate(apis.db);
  });
  afterEach(() => gate.remove());

  /** Payments of the first day that are verified, in the order of their ids. */
  async function payments(count: number): Promise<string[]> {
    const created = await Promise.all(Array.from({ length: count }, () => settled({ paymentId: idOn(0) })));
    await backdate();
    await verified();
    return created.map(({ terms }) => terms.paymentId).sort();
  }

  const expectOnceEach = async (ids: readonly string[]) => {
    const { rows } = await apis.db.query<{ id: string }>(
      'select id from payments union all select payment_id from archived_payments order by id',
    );
    expect(rows.map(({ id }) => id)).toEqual(ids);
    const archived = await apis.db.query<{ id: string }>('select payment_id as id from archived_payments order by 1');
    expect([...(await readFiles()).keys()].sort()).toEqual(archived.rows.map(({ id }) => id));
  };

  it('lets a second run take the file over: the first one ends, and no payment is lost or repeated', async () => {
    const ids = await payments(120);
    await gate.closeAt('archive_files', 'before update of run_id');
    const other = createPool(apis.operatorDatabaseUrl, { max: 2 });
    try {
      const first = archivePayments(operator, { ...MOVE, directory });
      await gate.waiting(1);
      const second = archivePayments(other, { ...MOVE, directory });
      await gate.waiting(2);
      await gate.open();
      const results = await Promise.allSettled([first, second]);
      const failures = results.flatMap((result) => (result.status === 'rejected' ? [String(result.reason)] : []));
      expect(failures).toEqual([expect.stringContaining(`Another run archives ${FIRST_DAY} now`)]);
    } finally {
      await other.end();
    }
    await expectOnceEach(ids);
    expect(await countRows()).toMatchObject({ payments: 0 });
    expect((await readdir(directory)).filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  it.each([
    ['before its payments are checked', 'archive_batches', 'before insert'],
    ['before its rows are removed', 'archived_payments', 'after insert'],
  ])('keeps a delivery that is redelivered %s, and archives the others', async (_when, table, time) => {
    await apis.db.query(
      `insert into webhook_endpoints (id, merchant_id, url) values (gen_random_uuid(), $1, 'http://127.0.0.1:9')`,
      [key.merchantId],
    );
    const ids = await payments(3);
    await change(`update webhook_deliveries set status = 'delivered', finished_at = now()`);
    await gate.closeAt(table, time);
    const running = archivePayments(operator, { ...MOVE, directory });
    await gate.waiting(1);
    const [redelivered = ''] = ids;
    const { rows } = await apis.db.query<{ id: string }>(
      'select id from webhook_deliveries where payment_id = $1 limit 1',
      [redelivered],
    );
    expect(
      await redeliverNamed(
        operator,
        rows.map(({ id }) => id),
      ),
    ).toMatchObject({ redelivered: 1 });
    await gate.open();
    expect(await running).toMatchObject([{ archived: 2, kept: 1 }]);
    await expectOnceEach(ids);
    const pending = await apis.db.query("select payment_id from webhook_deliveries where status = 'pending'");
    expect(pending.rows).toEqual([{ payment_id: redelivered }]);
  });

  it('keeps a payment with a notification that arrives meanwhile, and archives the others', async () => {
    const ids = await payments(3);
    await gate.closeAt('archive_batches', 'before insert');
    const running = archivePayments(operator, { ...MOVE, directory });
    await gate.waiting(1);
    await apis.db.query(
      `insert into provider_notifications (provider_account_id, reference_id, body_sha256, body)
       select provider_account_id, reference_id, sha256('x'), '{}' from payments where id = $1`,
      [ids[0]],
    );
    await gate.open();
    expect(await running).toMatchObject([{ archived: 2, kept: 1 }]);
    await expectOnceEach(ids);
  });

  it('publishes a file that a stopped run has completed', async () => {
    const ids = await payments(3);
    // A directory at the path of the checksum: the run fails after it has completed the file.
    const { rows } = await apis.db.query<{ id: number }>('select last_value as id from archive_files_id_seq');
    const checksums = [0, 1, 2].map((n) =>
      path.join(directory, `lunas-payments-${FIRST_DAY}-${(rows[0]?.id ?? 0) + n}.jsonl.gz.sha256`),
    );
    for (const name of checksums) await mkdir(name);
    expect((await archive()).exitCode).toBe(1);
    expect(await countRows()).toMatchObject({ payments: 0 });
    for (const name of checksums) await rm(name, { recursive: true });
    expect((await archive()).exitCode).toBe(0);
    await expectOnceEach(ids);
    const file = (await readdir(directory)).find((name) => name.endsWith('.gz')) ?? '';
    expect((await lunas('archive', 'show', path.join(directory, file))).stdout).toContain('3 payments');
  });

  it('a run cuts no payments off its file that are nowhere else', async () => {
    const ids = await payments(60);
    await change(
      `create function fail_second() returns trigger language plpgsql as
        'begin if (select count(*) from archive_batches) > 0 then raise exception ''stopped''; end if;
         return new; end'`,
      'create trigger fail_second before insert on archive_batches for each row execute function fail_second()',
      'alter table archive_batches enable always trigger fail_second',
    );
    await expect(archivePayments(operator, { ...MOVE, directory })).rejects.toThrow('stopped');
    await change('drop trigger fail_second on archive_batches', 'drop function fail_second');
    // As after a restore from a backup: the database has forgotten payments that are in the file.
    await change('create table hidden as select * from payments', 'delete from payments');
    const { exitCode, stderr } = await archive();
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('PostgreSQL does not have them')]);
    await change('insert into payments select * from hidden', 'drop table hidden');
    expect((await archive()).exitCode).toBe(0);
    await expectOnceEach(ids);
  });
});

describe('an archived payment', () => {
  const KEY = { 'idempotency-key': 'order-1' };

  async function archived(): Promise<AppliedPath> {
    const { paymentId, idempotencyKey } = paymentIdentity(key.merchantId, 'order-1');
    const payment = await settled({ paymentId, referenceId: referenceIdOf('LN', '00', paymentId), idempotencyKey });
    await backdate();
    await verified();
    expect((await archive()).stdout).toContain('1 payments archived');
    return payment;
  }

  it('keeps its idempotency key taken, in a single create and in a bulk', async () => {
    const { terms } = await archived();
    const taken = 'This idempotency key belongs to a payment that is archived. Use a new key for a new payment.';
    const [url = ''] = apis.urls;
    expect(await post(`${url}/payments`, { amount: 50_000 }, KEY)).toMatchObject({
      status: 400,
      code: 'payment_create_failed',
      message: taken,
    });
    const bulk = { payments: [{ amount: 1_000 }, { amount: 50_000, idempotency_key: 'order-1' }] };
    expect(await post(`${url}/payments`, bulk)).toMatchObject({ status: 400, message: `payments[1]: ${taken}` });
    // The last barrier, for a request or a workflow that does not ask first.
    await expect(transitionWriters.create(ledger.context, creation(terms, T0))).rejects.toThrow('not in the database');
    expect(await countRows()).toMatchObject({ payments: 0, payment_transitions: 0 });
  });

  it('an archived payment is not found, and its merchant and operators learn where it is', async () => {
    const { terms } = await archived();
    const [url = ''] = apis.urls;
    const read = (secret: string, name: string, action = '') =>
      sendRequest(`${url}/payments/${name}${action}`, {
        method: action === '' ? 'GET' : 'POST',
        headers: { authorization: `Bearer ${secret}` },
      });
    for (const name of [terms.paymentId, terms.referenceId]) {
      for (const action of ['', '/cancel', '/refund']) {
        expect(await read(key.secret, name, action)).toMatchObject({
          status: 404,
          code: 'not_found',
          message: 'This transaction is archived; the operator of this service has its records.',
        });
      }
      expect(await read((await apis.newKey()).secret, name)).toMatchObject({
        status: 404,
        message: 'There is no such transaction.',
      });
      const [file = ''] = await readdir(directory);
      expect((await lunas('payments', 'show', name)).stderr).toContain(`lunas archive show ${file} --payment ${name}`);
      const shown = await lunas('archive', 'show', path.join(directory, file), '--payment', name);
      expect(shown).toMatchObject({ exitCode: 0, stderr: '' });
      expect(shown.stdout).toMatch(/Status +settled\nTotal +Rp 50\.000/);
      expect(shown.stdout).toMatch(/\n4 +settle /);
    }
  });

  it('an archived payment can be read only from a file that is unchanged', async () => {
    await archived();
    const [name = ''] = await readdir(directory);
    const file = path.join(directory, name);
    const summary = await lunas('archive', 'show', file);
    expect(summary.stdout).toMatch(/1 payments; the checksum is correct[^]*settled +1 +Rp 50\.000/);
    expect((await lunas('archive', 'show', file, '--payment', 'LN1')).stderr).toContain('has no payment LN1');
    const offline = await runLunas(['archive', 'show', file, '--offline'], {});
    expect(offline.stdout).toContain(`1 payments; the checksum is that of ${file}.sha256. The database was not asked.`);
    const renamed = path.join(directory, 'lunas-payments-2026-01-30-4711.jsonl.gz');
    await copyFile(file, renamed);
    expect((await lunas('archive', 'show', renamed)).stderr).toContain(`is the file ${name}. Give it its name back.`);
    await rm(renamed);

    // Who can write the file can write its checksum too.
    await writeFile(file, gzipSync(`${JSON.stringify([...(await readFiles()).values()][0])}\n`));
    await writeFile(
      `${file}.sha256`,
      `${createHash('sha256')
        .update(await readFile(file))
        .digest('hex')}  ${name}\n`,
    );
    expect(await lunas('archive', 'show', file)).toMatchObject({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringContaining(`${file} was changed`),
    });
    await appendFile(file, 'x');
    expect((await lunas('archive', 'show', file, '--offline')).stderr).toContain(`${file} was changed`);
    expect((await lunas('archive', 'show', `${file}.gone`)).stderr).toContain('cannot be read');
  });

  it('a payment is removed only by the archive: an open payment and a single row stay', async () => {
    const { terms } = await applyTransitions(ledger, ['issue'], { paymentId: idOn(0) });
    await backdate();
    await verified();
    const remove = `select archive_payments(array['${terms.paymentId}']::uuid[], 1)`;
    await expect(operator.query(remove)).rejects.toThrow('1 of 1 payments cannot be archived');
    await expect(apis.db.query('delete from payment_transitions')).rejects.toThrow('append-only: delete rejected');
    await expect(apis.db.query('truncate ledger_entries')).rejects.toThrow('append-only');
  });

  it('leaves its exception, by its reference', async () => {
    const { terms } = await settled({ paymentId: idOn(0) });
    const { paymentId, referenceId } = terms;
    await openException(apis.db, { kind: 'reconciliation', referenceId, paymentId, detail: 'x' });
    await apis.db.query("update exceptions set resolved_at = now(), resolved_by = 'cli:test'");
    await backdate();
    await verified();
    await archive();
    expect((await lunas('exceptions', 'list', '--all')).stdout).toContain(referenceId);
    expect((await readFiles()).get(paymentId)).toMatchObject({ exceptions: [{ reference_id: referenceId }] });
  });
});
