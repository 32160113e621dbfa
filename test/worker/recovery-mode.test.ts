import { randomUUID } from 'node:crypto';
import { RECOVERY_MODE } from '../../activities/step-result';
import { readRecoveryMode } from '../../src/db/operations/recovery-mode';
import { withAudit } from '../../src/services/audit/audit';
import { requireDone } from '../../src/services/operations/require-done';
import { setPolicy } from '../../src/services/provider-accounts/catalog';
import { reconcileNow } from '../../src/services/reconciliation/reconcile-all';
import { beginRecovery, endRecoveryMode } from '../../src/services/recovery/recovery-mode';
import { recoverAll } from '../../src/services/recovery/run-recovery';
import { runLunas } from '../cli/run-lunas';
import { osUser } from '../support/actors';
import { asSuperuser } from '../support/backdate';
import { eventually } from '../support/eventually';
import { newNamespace, operatorEnvironment, startTestService, type TestService } from '../support/service';

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

const begin = async () => {
  const { db } = service.operatorContext;
  const call = { path: {}, input: {}, formId: randomUUID(), note: NOTE };
  return requireDone(await beginRecovery.run({ db }, DEWI, call));
};
const end = (hasLostNothing = true) => {
  const { db } = service.operatorContext;
  return endRecoveryMode({ db, workflows: service.workflows }, DEWI, { note: NOTE, hasLostNothing });
};

const lunas = (...args: readonly string[]) =>
  runLunas(args, {
    ...operatorEnvironment(service),
  });

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
  const { exitCode, stdout } = await lunas('reconcile', '--json');
  const { reconciliation } = JSON.parse(stdout);
  expect([exitCode, reconciliation.breaks]).toEqual([0, []]);
  await expect(end(false)).rejects.toThrow(
    'PostgreSQL may be behind the provider: no recovery has succeeded since the mode began.',
  );
  expect(await readRecoveryMode(service.db)).toMatchObject({ isOn: true });
  const { rows } = await service.db.query('select detail from exceptions');
  expect(rows).toEqual([]);
});

it('a recovery and a reconciliation that exit with 1 do not count', async () => {
  await begin();
  const compared = await createPaid(3_600);
  const { payment: lost } = (await service.call('POST', '/payments', { amount: 50_000, provider: 'gopay' })).body;
  await reach(lost, 'issue');
  const setTransaction = (value: string) =>
    `update payments set provider_transaction_id = ${value} where id = '${compared.id}'`;
  await asSuperuser(
    service.db,
    // Its row cannot be written again.
    `insert into archived_payments (payment_id, reference_id, merchant_id, batch_id, received_money)
     select gen_random_uuid(), reference_id, merchant_id, 0, true from payments where id = '${lost.id}'`,
    ...['webhook_deliveries', 'webhook_events', 'payment_transitions'].map(
      (table) => `delete from ${table} where payment_id = '${lost.id}'`,
    ),
    `delete from payments where id = '${lost.id}'`,
    setTransaction("provider_transaction_id || 'X'"),
  );
  await eventually(
    () => service.workflows.records.list(new Date(0), new Date(), null),
    ({ items }) => items.some(({ paymentId }) => paymentId === lost.id),
  );
  for (const command of ['recover', 'reconcile']) expect(await lunas(command)).toMatchObject({ exitCode: 1 });
  await expect(end(false)).rejects.toThrow(
    'PostgreSQL may be behind the provider: no recovery has succeeded since the mode began, ' +
      'no full reconciliation has succeeded since the mode began, 1 of its exceptions are open.',
  );
  const { rows } = await service.db.query(
    `select action, outcome, outcome.detail from operator_actions action
     join operator_action_outcomes outcome on action_id = id
     where action like '%.run' and requested_at >= (select begun_at from recovery_mode) order by id`,
  );
  expect(rows).toEqual([
    { action: 'recovery.run', outcome: 'indeterminate', detail: expect.stringContaining('1 items not recovered') },
    { action: 'reconciliation.run', outcome: 'indeterminate', detail: expect.stringContaining('1 break') },
  ]);

  await asSuperuser(service.db, 'delete from archived_payments', setTransaction("rtrim(provider_transaction_id, 'X')"));
  expect(await lunas('recover')).toMatchObject({ exitCode: 0 });
  await reach(lost, 'issue');
  expect(await lunas('reconcile')).toMatchObject({ exitCode: 0 });
  await end(false);
  expect(await readRecoveryMode(service.db)).toMatchObject({ isOn: false });
});

it('a recovery before the mode began does not count on another timeline', async () => {
  const { db } = service.operatorContext;
  const since = new Date(Date.now() - 8 * 86_400_000).toISOString();
  for (const action of [recoverAll, reconcileNow])
    await withAudit({ db }, DEWI, { action, target: since }, async () => {});
  await service.db.query('update recovery_mode set timeline = 7');
  await expect(end(false)).rejects.toThrow('no recovery has succeeded since the mode began, no full reconciliation');
  expect(await readRecoveryMode(service.db)).toMatchObject({
    isOn: true,
    reason: 'PostgreSQL is on timeline 1, and 7 is recorded',
  });
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
