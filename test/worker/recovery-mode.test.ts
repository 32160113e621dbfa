import { RECOVERY_MODE } from '../../activities/step-result';
import { readRecoveryMode } from '../../src/db/records/recovery-mode';
import { setPolicy } from '../../src/services/provider-accounts/catalog';
import { beginRecoveryMode, endRecoveryMode } from '../../src/services/recovery/recovery-mode';
import { osUser } from '../support/actors';
import { asSuperuser } from '../support/backdate';
import { eventually } from '../support/eventually';
import { runBuiltLunas } from '../support/lunas-process';
import { newNamespace, startTestService, type TestService } from '../support/service';

const NOTE = 'incident 12';
const DEWI = osUser('dewi');
/** How often both workers restart while payments wait. */
const RESTARTS = 2;

let service: TestService;
beforeAll(async () => {
  service = await startTestService(await newNamespace(), { refundHoldSeconds: 1 });
});
afterAll(() => service.close());
afterEach(async () => {
  await end();
});

interface Created {
  readonly id: string;
  readonly reference_id: string;
}

const begin = () => beginRecoveryMode({ db: service.operatorContext.db }, DEWI, NOTE);
const end = (hasLostNothing = true) => {
  const { db } = service.operatorContext;
  return endRecoveryMode({ db, workflows: service.workflows }, DEWI, { note: NOTE, hasLostNothing });
};

async function createPaid(settlementDelaySeconds: number): Promise<Created> {
  const policy = { provider: 'gopay', channel: 'qris', settlementKind: 'automatic', settlementDelaySeconds } as const;
  await setPolicy(service.db, policy);
  const { payment } = (await service.call('POST', '/payments', { amount: 50_000, provider: 'gopay' })).body;
  await service.pay(payment.reference_id);
  await reach(payment, 'pay');
  return payment;
}

async function reach({ id }: Created, transition: string): Promise<void> {
  await eventually(
    () => service.transitionsOf(id),
    (names) => names.includes(transition),
  );
}

async function waitUntilDeferred({ id }: Created): Promise<void> {
  await eventually(
    () => service.workflows.queryStatus(id),
    (status) => status?.attentionReason?.includes(RECOVERY_MODE) === true,
  );
}

/** A due settlement and a refund whose hold is over, both deferred. */
async function createDeferred(): Promise<{ settled: Created; refunded: Created }> {
  const refunded = await createPaid(3_600);
  await service.call('POST', `/payments/${refunded.id}/refund`);
  const settled = await createPaid(1);
  await Promise.all([waitUntilDeferred(settled), waitUntilDeferred(refunded)]);
  return { settled, refunded };
}

it('two workers that are restarted again and again neither settle nor refund before the end of the mode', async () => {
  expect(await begin()).toMatchObject({ isOn: true, begunBy: 'cli:dewi', reason: NOTE });
  const { settled, refunded } = await createDeferred();
  let second = await service.anotherWorker();
  for (let restart = 1; restart <= RESTARTS; restart += 1) {
    await Promise.all([service.stopWorker(), second.close()]);
    await service.startWorker();
    second = await service.anotherWorker();
    await Promise.all([settled, refunded].map(({ id }) => service.workflows.signalProviderUpdate(id)));
    await Promise.all([waitUntilDeferred(settled), waitUntilDeferred(refunded)]);
  }
  expect(await service.transitionsOf(settled.id)).toEqual(['create', 'issue', 'pay']);
  expect(await service.transitionsOf(refunded.id)).toEqual(['create', 'issue', 'pay', 'request_refund']);
  expect((await service.atProvider(refunded.reference_id))?.refunds).toEqual([]);

  await end();
  await Promise.all([reach(settled, 'settle'), reach(refunded, 'confirm_refund')]);
  expect((await service.atProvider(refunded.reference_id))?.refunds).toHaveLength(1);
  await second.close();
});

it('`lunas reconcile` in a process without the variable reports nothing that is deferred', async () => {
  await begin();
  const { settled, refunded } = await createDeferred();
  const ids = `('${settled.id}', '${refunded.id}')`;
  await asSuperuser(
    service.db,
    `update payments set settlement_due_at = settlement_due_at - interval '1 hour' where id in ${ids}`,
    `update refunds set submit_at = submit_at - interval '1 hour' where payment_id in ${ids}`,
  );
  const { exitCode, stdout } = await runBuiltLunas(['reconcile', '--json'], {
    DATABASE_URL: service.operatorDatabaseUrl,
    TEMPORAL_ADDRESS: service.temporal.address,
    TEMPORAL_NAMESPACE: service.temporal.namespace,
    LUNAS_MASTER_KEY: service.masterKey,
  });
  const { reconciliation } = JSON.parse(stdout);
  expect([exitCode, reconciliation.breaks]).toEqual([0, []]);
  await expect(end(false)).rejects.toThrow(
    'PostgreSQL may be behind the provider: no recovery has succeeded since the mode began.',
  );
  expect(await readRecoveryMode(service.db)).toMatchObject({ isOn: true });
  const { rows } = await service.db.query('select detail from exceptions');
  expect(rows).toEqual([]);
});

it('a worker on another timeline than the recorded one begins the mode, and the end records the timeline', async () => {
  await service.db.query('update recovery_mode set timeline = 7');
  const payment = await createPaid(1);
  await waitUntilDeferred(payment);
  expect(await readRecoveryMode(service.db)).toMatchObject({
    isOn: true,
    begunBy: 'worker',
    reason: 'PostgreSQL is on timeline 1, and 7 is recorded',
  });
  await end();
  expect(await readRecoveryMode(service.db)).toMatchObject({ isOn: false, recordedTimeline: 1 });
  await reach(payment, 'settle');
});

it('a worker with LUNAS_RECOVERY_MODE begins the mode for every worker', async () => {
  await service.stopWorker();
  await service.startWorker({ beginsRecovery: true });
  await service.stopWorker();
  await service.startWorker();
  const payment = await createPaid(1);
  await waitUntilDeferred(payment);
  expect(await readRecoveryMode(service.db)).toMatchObject({ reason: 'LUNAS_RECOVERY_MODE is set' });
  await end();
  await reach(payment, 'settle');
});
