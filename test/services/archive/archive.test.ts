import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { appendFile, copyFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { z } from 'zod';
import { referenceIdOf } from '../../../src/crypto/reference-id';
import { createPool, type Pool } from '../../../src/db/connection/pool';
import { openException } from '../../../src/db/operations/open-exception';
import { transitionWriters } from '../../../src/db/transitions/payment-transitions';
import { removeArchived } from '../../../src/services/archive/remove-archived';
import { paymentIdentity } from '../../../src/services/payments/create/payment-identity';
import { redeliverNamed } from '../../../src/services/webhooks/webhook-redelivery';
import { runLunas, type Outcome } from '../../cli/run-lunas';
import { sendRequest, startTestApis, type TestApis, type TestKey } from '../../support/api';
import { asSuperuser } from '../../support/backdate';
import { openGate } from '../../support/gate';
import { issueNow } from '../../support/invoices';
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
/** Where the copies are. */
let elsewhere: string;
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
  elsewhere = await mkdtemp(path.join(os.tmpdir(), 'lunas-copies-'));
});
afterEach(async () => {
  await rm(directory, { recursive: true });
  await rm(elsewhere, { recursive: true });
  await change(
    `truncate payments, archive_files, archive_batches, archived_payments, ledger_closings, ledger_verifications,
       balance_transactions, fee_invoices, payment_details, provider_notifications, webhook_endpoints cascade`,
  );
});

const lunas = (...args: readonly string[]): Promise<Outcome> => runLunas(args, environment);
const write = (...args: readonly string[]) =>
  lunas('archive', 'write', '--before', BEFORE, '--directory', directory, ...args);
const remove = (copy: string) => lunas('archive', 'remove', '--copy', copy);

/** Copies all files elsewhere. @returns the copies */
async function copyAll(): Promise<string[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.gz'));
  for (const name of names) await copyFile(path.join(directory, name), path.join(elsewhere, name));
  return names.map((name) => path.join(elsewhere, name));
}

/** The second time, nothing is left to do. */
async function removeTwice(copy: string, payments: number): Promise<void> {
  expect((await remove(copy)).stdout).toContain(`${payments} payments removed; 0 were removed before.`);
  const text = `The ${payments} payments of ${copy} were removed before. Nothing is left to do.`;
  expect(await remove(copy)).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(text) });
}

/** Writes, copies and removes. */
async function archiveAll(): Promise<void> {
  expect(await write()).toMatchObject({ exitCode: 0 });
  for (const copy of await copyAll()) expect(await remove(copy)).toMatchObject({ exitCode: 0, stderr: '' });
}

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
  await issueNow(apis.db);
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

/** What keeps a payment in PostgreSQL. */
const CHANGES: [name: string, statement: string][] = [
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
];

/** Makes a change, with a delivery if it is one of deliveries. */
async function plant(statement: string): Promise<void> {
  await change(statement);
  if (!statement.includes('webhook_deliveries')) return;
  await change(
    `insert into webhook_deliveries (id, payment_id, payment_version, endpoint_id, merchant_id, event, status)
     select gen_random_uuid(), id, 1, gen_random_uuid(), merchant_id, 'payment.created', 'pending' from payments`,
  );
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

    const { exitCode, stdout } = await write('--json');
    expect(exitCode).toBe(0);
    const { written, days } = z
      .object({ written: z.number(), days: z.array(z.record(z.string(), z.unknown())) })
      .parse(JSON.parse(stdout));
    expect(written).toBe(4);
    expect(days).toMatchObject([
      { day: FIRST_DAY, written: 2, kept: 0, open: 1 },
      { day: '2026-01-31', written: 2, kept: 0, open: 0 },
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

    expect(await countRows()).toEqual(rowsBefore);
    for (const copy of await copyAll()) await removeTwice(copy, 2);
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
    expect((await write()).stdout).toContain('There is no final payment before that day.');
  });

  it('`lunas archive write --dry-run` only counts', async () => {
    await settled({ paymentId: idOn(0) });
    await backdate();
    await verified();
    expect((await write('--dry-run')).stdout).toMatch(/1 payments would be written/);
    expect(await readdir(directory)).toEqual([]);
    expect(await countRows()).toMatchObject({ payments: 1 });
  });

  it.each(CHANGES)('keeps a payment with %s', async (_name, statement) => {
    const { terms } = await applyTransitions(ledger, ['issue', 'cancel'], { paymentId: idOn(0) });
    await backdate();
    await verified();
    await plant(statement);
    const { exitCode, stdout } = await write();
    expect(exitCode).toBe(0);
    expect(stdout).toContain(`1 (${terms.referenceId})`);
    expect(stdout).toContain('0 payments written');
    expect(await countRows()).toMatchObject({ payments: 1 });
    await change('delete from exceptions');
  });

  it('keeps a payment whose ledger was changed after its verification, with what to do', async () => {
    const { terms } = await settled({ paymentId: idOn(0) });
    await backdate();
    await verified();
    await change("update ledger_entries set account = 'suspense' where account = 'fee_revenue'");
    const { exitCode, stderr } = await write();
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`The ledger of payment ${terms.paymentId} has a break: Posting`);
    expect(stderr).toContain('lunas ledger verify --all');
    expect(await countRows()).toMatchObject({ payments: 1 });
  });

  it('refuses days that are too young, or whose ledger is not verified', async () => {
    await settled({ paymentId: idOn(0) });
    await backdate();
    const notVerified = await write();
    expect(notVerified).toMatchObject({ exitCode: 1, stdout: '' });
    expect(notVerified.stderr).toContain('The ledger is verified not yet. Run lunas ledger verify first');
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
    expect((await lunas('archive', 'write', '--before', tomorrow)).stderr).toMatch(/last 7 days stay: give \d{4}-/);
    expect(await lunas('archive', 'write')).toMatchObject({ exitCode: 2 });
    expect((await lunas('archive', 'write', '--before', 'May')).stderr).toContain(
      "must be a day such as 2027-01-01, not 'May'",
    );
    expect(await countRows()).toMatchObject({ payments: 1 });
  });
});

describe('a removal', () => {
  /** Payments of the first day that are written. @returns the copy of their file */
  async function writtenCopy(count: number): Promise<string> {
    for (let n = 0; n < count; n += 1) await applyTransitions(ledger, ['issue', 'cancel'], { paymentId: idOn(0) });
    await backdate();
    await verified();
    await write();
    const [copy = ''] = await copyAll();
    return copy;
  }

  const expectRefused = async (copy: string, text: string) => {
    const before = await countRows();
    const refused = await remove(copy);
    expect(refused).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining(text) });
    expect(await countRows()).toEqual(before);
  };

  it.each(CHANGES)('removes nothing if a payment of the file has %s since it was written', async (_name, statement) => {
    const copy = await writtenCopy(1);
    await plant(statement);
    await expectRefused(
      copy,
      'is not as it was written, or has open work now. Nothing was removed. Write that day again',
    );
    await change('delete from exceptions');
  });

  it('removes nothing if one byte of the copy was changed', async () => {
    const copy = await writtenCopy(3);
    const bytes = await readFile(copy);
    for (const index of [9, Math.floor(bytes.length / 2), bytes.length - 1]) {
      const changed = Buffer.from(bytes);
      changed[index] = (changed[index] ?? 0) ^ 1;
      await writeFile(copy, changed);
      await expectRefused(copy, `${copy} was changed, or is no file of this database`);
    }
    await writeFile(copy, bytes.subarray(0, -1));
    await expectRefused(copy, `${copy} was changed`);
    await writeFile(copy, bytes);
    expect(await remove(copy)).toMatchObject({ exitCode: 0 });
  });

  it('removes nothing by the copy of another file, whatever its name is', async () => {
    const copy = await writtenCopy(3);
    await change(`update payments set provider_transaction_id = 'X'`);
    await write();
    const other = (await copyAll()).find((each) => each !== copy) ?? '';
    const bytes = await readFile(other);
    await copyFile(copy, other);
    await expectRefused(other, `${other} is the file ${path.basename(copy)}. Give it its name back.`);
    await writeFile(other, Buffer.concat([bytes, await readFile(copy)]));
    await expectRefused(other, `${other} was changed, or is no file of this database`);
    await writeFile(other, bytes);
    expect((await remove(other)).stdout).toContain('3 payments removed');
  });

  it('removes nothing by a file that is not recorded, by no file, and by the file itself', async () => {
    const copy = await writtenCopy(3);
    const name = path.basename(copy);
    await expectRefused(path.join(directory, name), 'is the file that was written, and no copy.');
    await expectRefused(`${copy}.gone`, 'cannot be read');
    await change('update archive_files set completed_at = null, sha256 = null, path = null');
    await expectRefused(copy, `${copy} was changed, or is no file of this database`);
    expect(await lunas('archive', 'remove')).toMatchObject({ exitCode: 2 });
  });

  it('removes each payment once if two runs remove one file', async () => {
    const copy = await writtenCopy(120);
    const gate = await openGate(apis.db);
    const other = createPool(apis.operatorDatabaseUrl, { max: 2 });
    try {
      await gate.closeAt('archived_payments', 'after insert');
      const runs = [removeArchived(operator, copy), removeArchived(other, copy)];
      await gate.waiting(2);
      await gate.open();
      const removed = (await Promise.all(runs)).map((run) => run.removed);
      expect((removed[0] ?? 0) + (removed[1] ?? 0)).toBe(120);
    } finally {
      await gate.remove();
      await other.end();
    }
    expect(await countRows()).toMatchObject({ payments: 0 });
    expect((await readFiles()).size).toBe(120);
  });

  it('keeps a payment that changes while it is removed, and names it', async () => {
    await apis.db.query(
      `insert into webhook_endpoints (id, merchant_id, url) values (gen_random_uuid(), $1, 'http://127.0.0.1:9')`,
      [key.merchantId],
    );
    const payment = await settled({ paymentId: idOn(0) });
    await change(`update webhook_deliveries set status = 'delivered', finished_at = now()`);
    await backdate();
    await verified();
    await write();
    const [copy = ''] = await copyAll();
    const gate = await openGate(apis.db);
    try {
      await gate.closeAt('archived_payments', 'after insert');
      const refused = removeArchived(operator, copy).catch((error: unknown) => error);
      await gate.waiting(1);
      const { rows } = await apis.db.query<{ id: string }>('select id from webhook_deliveries limit 1');
      const ids = rows.map(({ id }) => id);
      expect(await redeliverNamed(operator, ids)).toMatchObject({ redelivered: 1 });
      await gate.open();
      const text = `Payment ${payment.terms.referenceId} is not as it was written`;
      expect(await refused).toMatchObject({ message: expect.stringContaining(text) });
    } finally {
      await gate.remove();
    }
    expect(await countRows()).toMatchObject({ payments: 1, payment_transitions: payment.version });
  });

  it('removes the rest by a new file after a payment has changed', async () => {
    const old = await writtenCopy(3);
    await change(
      `update payments set provider_transaction_id = 'X' where id = (select min(id::text)::uuid from payments)`,
    );
    await expectRefused(old, 'Write that day again with lunas archive write');
    await write();
    const fresh = (await copyAll()).find((copy) => copy !== old) ?? '';
    expect((await remove(fresh)).stdout).toContain('3 payments removed');
    await expectRefused(old, 'is not as it was written');
  });
});

describe('an archived payment', () => {
  const KEY = { 'idempotency-key': 'order-1' };

  async function archived(): Promise<AppliedPath> {
    const { paymentId, idempotencyKey } = paymentIdentity(key.merchantId, 'order-1');
    const payment = await settled({ paymentId, referenceId: referenceIdOf('LN', '00', paymentId), idempotencyKey });
    await backdate();
    await verified();
    await archiveAll();
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
        message: expect.stringContaining('There is no such transaction.'),
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
    await operator.query(
      `with file as (insert into archive_files (day) values ($1) returning id)
       insert into archive_batches (file_id, number, payment_count, created_from, created_to, sha256)
       select file.id, 1, 1, now(), now(), sha256(convert_to(payment_document(payments)::text || E'\\n', 'utf8'))
       from file, payments`,
      [FIRST_DAY],
    );
    const removal = () =>
      operator.query('select archive_payments(array[$1::uuid], (select id from archive_batches))', [terms.paymentId]);
    await expect(removal()).rejects.toThrow('archive_files_recorded_if_completed');
    await operator.query("update archive_files set completed_at = now(), sha256 = sha256('file'), path = '/file'");
    await expect(removal()).rejects.toThrow('1 of 1 payments cannot be archived');
    await change('update archive_batches set removed_at = now()');
    await expect(removal()).rejects.toThrow('with these payments is to be removed');
    expect(await countRows()).toMatchObject({ payments: 1 });
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
    await archiveAll();
    expect((await lunas('exceptions', 'list', '--all')).stdout).toContain(referenceId);
    expect((await readFiles()).get(paymentId)).toMatchObject({ exceptions: [{ reference_id: referenceId }] });
  });
});
