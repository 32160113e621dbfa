import { sendRequest } from '../support/api';
import { eventually } from '../support/eventually';
import { signedNotification } from '../support/notification';
import { newNamespace, startTestService, type TestService } from '../support/service';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy';

/** A service whose API and worker lose Temporal. */

const NOTIFICATIONS = 5;

let temporal: TcpProxy;
let service: TestService;
let accountId: string;
beforeAll(async () => {
  const target = await newNamespace();
  temporal = await startTcpProxy(target.address);
  service = await startTestService({ ...target, address: temporal.address });
  const { rows } = await service.db.query("select id from provider_accounts where provider = 'gopay'");
  accountId = rows[0].id;
});
afterAll(async () => {
  await service.close();
  await temporal.close();
});

async function readiness(query = '') {
  const response = await fetch(`${service.apiUrl}/readyz${query}`);
  return { status: response.status, body: await response.json() };
}

async function paidAtProvider(): Promise<{ id: string; reference_id: string }> {
  const { payment } = (await service.call('POST', '/payments', { amount: 20_000 })).body;
  await service.pay(payment.reference_id, { notify: false });
  return payment;
}

function notify(referenceId: string) {
  return sendRequest(`${service.apiUrl}/provider-notifications/${accountId}`, {
    method: 'POST',
    body: JSON.stringify(signedNotification(referenceId)),
  });
}

function statusesOf(payments: readonly { id: string }[]): Promise<string[]> {
  return Promise.all(
    payments.map(async ({ id }) => (await service.call('GET', `/payments/${id}`)).body.payment.status),
  );
}

async function dueNotifications(): Promise<number> {
  const { rows } = await service.db.query<{ due: number }>(
    'select count(*) as due from provider_notifications where closed_at is null and next_notify_at <= now()',
  );
  return rows[0]?.due ?? 0;
}

it('the API is ready without Temporal for what PostgreSQL can serve, and handles notifications later', async () => {
  const payments = await Promise.all(Array.from({ length: NOTIFICATIONS }, paidAtProvider));
  await temporal.cut();
  await eventually(
    () => readiness('?for=creates'),
    ({ status }) => status === 503,
  );
  expect(await readiness()).toEqual({
    status: 200,
    body: { status: 'ready', postgresql: 'up', temporal: 'down' },
  });
  const notified = await Promise.all(payments.map(({ reference_id }) => notify(reference_id)));
  expect(notified.map(({ status }) => status)).toEqual(payments.map(() => 200));
  // At least one sweep fails meanwhile.
  await service.db.query('update provider_notifications set next_notify_at = now()');
  await eventually(dueNotifications, (due) => due === 0);
  await eventually(dueNotifications, (due) => due > 0);
  expect(await statusesOf(payments)).toEqual(payments.map(() => 'pending'));

  await temporal.restore();
  // The sweeper notifies again within seconds; the next reconciliation would take up to an hour.
  await eventually(
    () => statusesOf(payments),
    (statuses) => statuses.every((status) => status === 'paid'),
  );
  await eventually(
    () => readiness('?for=creates'),
    ({ status }) => status === 200,
  );
});
