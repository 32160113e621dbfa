import type { ServerResponse } from 'node:http';
import { createSealer } from '../../../src/crypto/sealing';
import { freePort } from '../../../src/local-stack/ports';
import { startWorkerProcess, type BuiltProcess } from '../../support/api-process';
import { eventually } from '../../support/eventually';
import { runBuiltLunas } from '../../support/lunas-process';
import { startReceiver, type Receiver } from '../../support/receiver';
import { newNamespace, startTestService, type TestService } from '../../support/service';
import { registerEndpoint } from '../../support/webhooks';

let service: TestService;
let receiver: Receiver;
const workers: BuiltProcess[] = [];

beforeAll(async () => {
  service = await startTestService(await newNamespace());
  await service.stopWorker();
  receiver = await startReceiver();
  const endpoint = { merchantId: service.merchantId, url: receiver.url, events: [] } as const;
  await registerEndpoint(service.db, createSealer(service.masterKey), endpoint);
});

afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  await receiver.close();
  await service.close();
});

async function startRoles(roles: string): Promise<void> {
  workers.push(await startWorkerProcess(service, { WORKER_ROLES: roles, REFUND_HOLD_SECONDS: '0' }));
}

const events = (): unknown[] => receiver.received.map(({ headers }) => headers['x-service-event']);

/** The task queues that a worker polls, as Temporal has seen it. */
async function polledTaskQueues(): Promise<string[]> {
  const queues = ['lunas-payments', 'lunas-webhooks'];
  const polled = await Promise.all(
    queues.map(async (name) => {
      const { pollers } = await service.client.workflowService.describeTaskQueue({
        namespace: service.temporal.namespace,
        taskQueue: { name },
        taskQueueType: 1,
      });
      // Temporal remembers the stopped worker of this process for some minutes.
      const isPolled = pollers.some(({ identity }) => !identity?.startsWith(`${process.pid}@`));
      return isPolled ? [name] : [];
    }),
  );
  return polled.flat();
}

it('a worker whose METRICS_PORT is taken ends before its first poll', async () => {
  const changes = { METRICS_PORT: new URL(receiver.url).port };
  await expect(startWorkerProcess(service, changes)).rejects.toThrow(/EADDRINUSE|exit/);
  expect(await polledTaskQueues()).toEqual([]);
});

it('two processes share the roles: one moves payments, the other one delivers their webhooks', async () => {
  await startRoles('payments,sweeper');
  const { body } = await service.call('POST', '/payments', { amount: 20_000 });
  const { id, reference_id } = body.payment;
  await service.pay(reference_id);
  await eventually(
    () => service.transitionsOf(id),
    (transitions) => transitions.includes('pay'),
  );
  expect(await polledTaskQueues()).toEqual(['lunas-payments']);
  expect(events()).toEqual([]);

  await startRoles('relay,webhooks');
  await eventually(
    () => Promise.resolve(events()),
    (received) => received.includes('payment.paid'),
  );
  expect(await polledTaskQueues()).toEqual(['lunas-payments', 'lunas-webhooks']);
});

it('a worker that only relays is not ready while it stops', async () => {
  await workers[1]?.stop(); // the other relay
  const [port, held] = [await freePort(), new Set<ServerResponse>()];
  receiver.respond = (response) => void held.add(response);
  const worker = await startWorkerProcess(service, { WORKER_ROLES: 'relay', METRICS_PORT: String(port) });
  const readiness = async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).status;
  expect(await readiness()).toBe(200);
  await service.call('POST', '/payments', { amount: 30_000 });
  await eventually(
    () => Promise.resolve(held.size),
    (size) => size > 0,
  );
  const stopped = worker.stop();
  expect(await eventually(readiness, (status) => status === 503)).toBe(503);
  for (const response of held) response.end();
  expect(await stopped).toBe(0);
});

it('an unknown role ends the start with one line that has the roles', async () => {
  const { exitCode, stderr } = await runBuiltLunas(['worker'], { WORKER_ROLES: 'payments,mailer' });
  expect([exitCode, stderr]).toEqual([
    1,
    expect.stringMatching(/^error: .*WORKER_ROLES.*must be some of payments,webhooks,relay,sweeper/),
  ]);
});
