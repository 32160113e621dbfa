import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { setPolicy } from '../../src/services/provider-accounts/catalog';
import { paymentWorkflowId } from '../../workflows/messages';
import { eventually } from '../support/eventually';
import { runBuiltLunas } from '../support/lunas-process';
import { reconcile } from '../support/reconcile';
import { newNamespace, startTestService, type TestService } from '../support/service';

/** Each cause is planted, the command in NEXT is executed literally, and the cause is gone, not only its row. */

let service: TestService;
let environment: NodeJS.ProcessEnv;
let home: string;
beforeAll(async () => {
  service = await startTestService(await newNamespace(), { refundHoldSeconds: 3_600 });
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
    z.object({ kind: z.string(), subject: z.string().nullable(), cause: z.string().nullable(), next: z.string() }),
  ),
});

async function attention() {
  const { stdout } = await runBuiltLunas(['attention', '--json'], environment);
  return documentSchema.parse(JSON.parse(stdout)).cases;
}

/** Runs the command of a row as it stands there. */
async function runNext(next: string) {
  const words = [...next.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '');
  expect(words[0]).toBe('lunas');
  const outcome = await runBuiltLunas(words.slice(1), environment);
  expect(outcome).toMatchObject({ exitCode: 0, stderr: '' });
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
    expect((await workflowOf(payment).describe()).status.name).toBe('RUNNING');
    expect((await attention()).filter(({ subject }) => subject === found?.subject)).toEqual([]);

    // A recovery of everything closes the exception of the other one too.
    expect((await workflowOf(other).describe()).status.name).toBe('TERMINATED');
    await runNext('lunas recover');
    expect((await workflowOf(other).describe()).status.name).toBe('RUNNING');
    expect((await attention()).filter(({ cause }) => cause === 'reconciliation lost')).toEqual([]);
  });
});
