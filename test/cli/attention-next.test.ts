import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { openException } from '../../src/db/operations/open-exception';
import { failedRunReference } from '../../src/db/operations/reconciliation-findings';
import { setPolicy } from '../../src/services/provider-accounts/catalog';
import { connectClient } from '../../src/temporal/connection';
import { NO_PAYLOAD_KEYS } from '../../src/temporal/payload-codec';
import { PAYMENTS_TASK_QUEUE, paymentWorkflowId } from '../../workflows/messages';
import { eventually } from '../support/eventually';
import { runBuiltLunas } from '../support/lunas-process';
import { reconcile } from '../support/reconcile';
import { newNamespace, startTestService, type TestService } from '../support/service';

/** Each cause is planted, the command in NEXT is executed literally, and the cause is gone, not only its row. */

let service: TestService;
let environment: NodeJS.ProcessEnv;
let home: string;
beforeAll(async () => {
  service = await startTestService(await newNamespace(), { refundHoldSeconds: 0 });
  home = await mkdtemp(path.join(os.tmpdir(), 'lunas-attention-'));
  environment = {
    LUNAS_HOME: home,
    DATABASE_URL: service.operatorDatabaseUrl,
    TEMPORAL_ADDRESS: service.temporal.address,
    TEMPORAL_NAMESPACE: service.temporal.namespace,
    LUNAS_MASTER_KEY: service.masterKey,
  };
  await setPolicy(service.db, { provider: 'gopay', channel: 'qris', expiresInSeconds: 900 });
});
afterAll(async () => {
  await service.close();
  await rm(home, { recursive: true });
});

const documentSchema = z.object({
  cases: z.array(
    z.object({
      kind: z.string(),
      subject: z.string().nullable(),
      cause: z.string().nullable(),
      next: z.string(),
      page: z.string().nullable(),
    }),
  ),
});

/** On a busy machine a half may take longer than its 2 s. */
async function attention() {
  return eventually(
    async () => {
      const { stdout } = await runBuiltLunas(['attention', '--json'], environment);
      return documentSchema.parse(JSON.parse(stdout)).cases;
    },
    (cases) => !cases.some(({ kind }) => kind === 'postgresql' || kind === 'temporal'),
  );
}

/** Runs the command of a row as it stands there. */
async function runNext(next: string) {
  const words = [...next.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '');
  expect(words[0]).toBe('lunas');
  const outcome = await runBuiltLunas(words.slice(1), environment);
  expect(outcome).toMatchObject({ exitCode: 0 });
  return outcome.stdout;
}

interface Created {
  readonly id: string;
  readonly reference_id: string;
}

async function createPaid(): Promise<Created> {
  const payment: Created = (await service.call('POST', '/payments', { amount: 50_000 })).body.payment;
  await service.pay(payment.reference_id);
  await eventually(
    async () => (await service.call('GET', `/payments/${payment.id}`)).body.payment.status,
    (status) => status === 'paid',
  );
  return payment;
}

const workflowOf = ({ id }: Created) => service.client.workflow.getHandle(paymentWorkflowId(id));

describe('the exception of a workflow that is lost', () => {
  it('NEXT starts the workflow again, and closes the exception', async () => {
    const [payment, other] = [await createPaid(), await createPaid()];
    for (const lost of [payment, other]) await workflowOf(lost).terminate('by hand');
    await reconcile(service);
    const found = (await attention()).find(({ next }) => next.includes(payment.reference_id));
    expect(found).toMatchObject({
      kind: 'exception',
      cause: 'reconciliation lost',
      next: `lunas recover ${payment.reference_id} --note "…"`,
    });
    const text = await runNext(found?.next ?? '');
    expect(text).toMatch(new RegExp(`${payment.reference_id} +started again +0 +1$`, 'm'));
    expect((await workflowOf(payment).describe()).status.name).toMatch(/^(RUNNING|COMPLETED)$/);
    expect((await attention()).filter(({ subject }) => subject === found?.subject)).toEqual([]);

    // A recovery of everything closes the exception of the other one too.
    expect((await workflowOf(other).describe()).status.name).toBe('TERMINATED');
    await runNext('lunas recover');
    // It runs, or has settled meanwhile.
    expect((await workflowOf(other).describe()).status.name).toMatch(/^(RUNNING|COMPLETED)$/);
    expect((await attention()).filter(({ cause }) => cause === 'reconciliation lost')).toEqual([]);
  });
});

/** Plants a case, runs NEXT of its row, and expects that the row is gone. */
async function repair(kind: string, cause: string | null = null): Promise<string> {
  const isIt = (found: { readonly kind: string; readonly cause: string | null }) =>
    found.kind === kind && (cause === null || found.cause === cause);
  const found = (await attention()).find(isIt);
  expect(found).toBeDefined();
  const text = await runNext(found?.next ?? '');
  expect((await attention()).filter(isIt)).toEqual([]);
  return text;
}

async function lunas(...args: readonly string[]): Promise<void> {
  expect(await runBuiltLunas(args, environment)).toMatchObject({ exitCode: 0 });
}

const create = () => service.call('POST', '/payments', { amount: 50_000 });

describe('NEXT of a row', () => {
  it('account disabled: it is enabled, and payments are created again', async () => {
    const { rows } = await service.db.query(
      "select id from provider_accounts where status = 'enabled' and provider = 'gopay'",
    );
    for (const { id } of rows) await lunas('accounts', 'disable', id, '--note', 'x');
    expect((await create()).status).toBe(400);
    for (const _ of rows) {
      const found = (await attention()).find(({ kind }) => kind === 'account_disabled');
      expect(found?.next).toMatch(/^lunas accounts enable /);
      await runNext(found?.next ?? '');
    }
    expect((await attention()).filter(({ kind }) => kind === 'account_disabled')).toEqual([]);
    const created = await eventually(create, ({ status }) => status === 201);
    expect(created.status).toBe(201);
  });

  it('payouts stopped: they are started', async () => {
    await lunas('payouts', 'stop', '--note', 'x');
    expect(await repair('payouts_stopped')).toContain('Payouts are started.');
  });

  it('merchant on hold: it is released', async () => {
    await lunas('merchants', 'hold', service.merchantId, '--note', 'x');
    await repair('merchant_on_hold');
    const { rows } = await service.db.query('select held_at from merchants where id = $1', [service.merchantId]);
    expect(rows).toEqual([{ held_at: null }]);
  });

  it('merchant pending: it is approved', async () => {
    await lunas('merchants', 'create', '--name', 'Toko Baru');
    await repair('merchant_pending');
    const { rows } = await service.db.query("select status from merchants where name = 'Toko Baru'");
    expect(rows).toEqual([{ status: 'approved' }]);
  });

  it('refund failed: the next refund reaches the provider', async () => {
    const payment = await createPaid();
    await service.injectFault('refund', 'reject');
    await service.call('POST', `/payments/${payment.id}/refund`);
    const statusOf = async () => (await service.call('GET', `/payments/${payment.id}`)).body.payment.status;
    await eventually(statusOf, (status) => status === 'refund_failed');
    await service.clearFaults();
    await repair('refund_failed');
    await eventually(statusOf, (status) => status === 'refunded');
    expect(await statusOf()).toBe('refunded');
  });

  it('a reconciliation that failed: everything is compared, and the exception closed', async () => {
    const { rows } = await service.db.query("select id from provider_accounts where status = 'enabled' limit 1");
    const accountId: string = rows[0].id;
    await openException(service.db, {
      kind: 'reconciliation',
      cause: 'failed_run',
      referenceId: failedRunReference(accountId),
      providerAccountId: accountId,
      detail: 'A reconciliation run failed.',
    });
    expect(await repair('exception', 'reconciliation failed_run')).toContain('compared');
  });

  it('a notification of an order that is not here: the page comes first, then the exception is resolved', async () => {
    await openException(service.db, { kind: 'unknown_order', referenceId: 'LN7', detail: 'Not here.' });
    const found = (await attention()).find(({ cause }) => cause === 'unknown_order');
    expect(found?.page).toBe('docs/operations/forged-notifications.md');
    await repair('exception', 'unknown_order');
  });
});

describe('without a worker', () => {
  it('show, attention and actions name the task queue that no worker polls', async () => {
    const { payment } = (await service.call('POST', '/payments', { amount: 50_000 })).body;
    const { namespace } = await newNamespace();
    const alone = { ...environment, TEMPORAL_NAMESPACE: namespace };
    expect(await runBuiltLunas(['temporal', 'setup'], alone)).toMatchObject({ exitCode: 0 });
    const client = connectClient({ ...service.temporal, namespace }, NO_PAYLOAD_KEYS);
    const workflowId = paymentWorkflowId(payment.id);
    await client.workflow.start('payment', { workflowId, taskQueue: PAYMENTS_TASK_QUEUE, args: [] });
    await client.connection.close();
    // On a busy machine a command may not have the time to ask for the workers.
    const show = await eventually(
      () => runBuiltLunas(['payments', 'show', payment.reference_id], alone),
      ({ stdout }) => stdout.includes('no worker polls'),
    );
    const [action, list] = await Promise.all([
      runBuiltLunas(['payments', 'cancel', payment.reference_id, '--note', 'x'], alone),
      runBuiltLunas(['attention'], alone),
    ]);
    expect(show.stdout).toMatch(/ because no worker polls lunas-payments\.$/m);
    expect(action.stderr).toMatch(/^error: No worker polls lunas-payments \(lunas doctor\): .*\n$/);
    expect(list.stdout).toMatch(/ worker +lunas doctor +no worker polls lunas-payments \(docs/);
  });
});
