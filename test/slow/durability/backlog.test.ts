import { setTimeout as sleep } from 'node:timers/promises';
import { setPolicy } from '../../../src/services/provider-accounts/catalog';
import { createOpenPayments } from '../../support/bulk';
import { eventually } from '../../support/eventually';
import { newNamespace, startTestService, type TestService } from '../../support/service';

const EXPIRING = 100;
const EXPIRES_IN_SECONDS = 40;
const PER_BULK = 50;
/** A machine with ten times the load processes less than one payment per second. */
const PROCESSING_TIMEOUT_MS = 300_000;

let service: TestService;
beforeAll(async () => {
  service = await startTestService(await newNamespace());
});
afterAll(() => service.close());

it('creates payments without delay while a backlog of expired payments is processed', async () => {
  const policy = { provider: 'gopay', channel: 'qris', settlementDelaySeconds: 60 } as const;
  await setPolicy(service.db, { ...policy, expiresInSeconds: EXPIRES_IN_SECONDS });
  for (let made = 0; made < EXPIRING; made += PER_BULK) await createOpenPayments(service, PER_BULK, 20_000);
  await service.stopWorker();
  await setPolicy(service.db, { ...policy, expiresInSeconds: 900 });
  const overdue = async (): Promise<number> => {
    const { rows } = await service.db.query(
      "select count(*)::integer as overdue from payments where status = 'pending' and expires_at < now()",
    );
    return rows[0].overdue;
  };
  const before = await eventually(overdue, (count) => count > 0.9 * EXPIRING);
  // The timers, and one second until a task no longer waits for the worker that cached the workflow.
  await sleep(3_000);

  const created = eventually(
    () => service.call('POST', '/payments', { amount: 20_000 }, { 'idempotency-key': 'beside-a-backlog' }),
    ({ status }) => status === 201,
  );
  await sleep(500);
  await service.startWorker();
  await created;
  expect(await overdue()).toBeGreaterThan(before / 2);
  await eventually(overdue, (count) => count === 0, PROCESSING_TIMEOUT_MS);
});
