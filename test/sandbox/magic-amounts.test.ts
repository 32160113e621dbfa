import { SANDBOX_SERVER_KEY } from '../../src/sandbox/acquirers';
import { MAGIC_AMOUNTS } from '../../src/sandbox/magic-amounts';
import { runLunas } from '../cli/run-lunas';
import { eventually } from '../support/eventually';
import {
  basicAuth,
  openSandbox,
  startNotificationReceiver,
  type Json,
  type NotificationReceiver,
  type SandboxUnderTest,
} from './sandbox-under-test';

let receiver: NotificationReceiver;
let sandbox: SandboxUnderTest;

beforeAll(async () => {
  receiver = await startNotificationReceiver();
  sandbox = await openSandbox();
});

afterAll(async () => {
  await sandbox.close();
  await receiver.close();
});

const status = (id: string): Promise<Json> => sandbox.call('GET', `/v2/${id}/status`);
const waitForStatus = (id: string, expected: string) =>
  eventually(
    () => status(id),
    ({ transaction_status }) => transaction_status === expected,
  );

async function charged(grossAmount: number): Promise<string> {
  const response = await sandbox.charge({ grossAmount }, { 'x-override-notification': receiver.url });
  expect(response).toMatchObject({ status_code: '201', transaction_status: 'pending' });
  return response.order_id;
}

/** The statuses in the notifications of an order, in the order received. */
const notificationsOf = (id: string): string[] =>
  receiver.bodies.flatMap((body) => {
    const { order_id, transaction_status } = JSON.parse(body);
    return order_id === id ? [transaction_status] : [];
  });

it('Rp 1.000.200 is paid automatically, and the merchant is notified', async () => {
  const id = await charged(1_000_200);
  await waitForStatus(id, 'settlement');
  await eventually(
    () => Promise.resolve(notificationsOf(id)),
    (notifications) => notifications.length === 1,
  );
  expect(notificationsOf(id)).toEqual(['settlement']);
});

it('Rp 1.000.200 stays cancelled if it was cancelled in time', async () => {
  const id = await charged(1_000_200);
  await sandbox.call('POST', `/v2/${id}/cancel`);
  await waitForStatus(await charged(1_000_200), 'settlement');
  expect(await status(id)).toMatchObject({ transaction_status: 'cancel' });
});

it('Rp 1.000.402 is rejected every time', async () => {
  for (let count = 0; count < 3; count += 1) {
    expect(await sandbox.charge({ grossAmount: 1_000_402 })).toMatchObject({ status_code: '402' });
  }
});

it.each(['expire', 'cancel'])('Rp 1.000.407 is paid after its %s', async (operation) => {
  const id = await charged(1_000_407);
  await sandbox.call('POST', `/v2/${id}/${operation}`);
  expect(await status(id)).toMatchObject({ transaction_status: operation });
  await waitForStatus(id, 'settlement');
  await eventually(
    () => Promise.resolve(notificationsOf(id)),
    (notifications) => notifications.length === 2,
  );
  expect(notificationsOf(id)).toEqual([operation, 'settlement']);
});

it('Rp 1.000.408 gets no response and opens no order', async () => {
  const charge = { payment_type: 'qris', transaction_details: { order_id: 'LN408', gross_amount: 1_000_408 } };
  for (let count = 0; count < 2; count += 1) {
    const response = fetch(`${sandbox.url}/v2/charge`, {
      method: 'POST',
      headers: { authorization: basicAuth(SANDBOX_SERVER_KEY), 'content-type': 'application/json' },
      body: JSON.stringify(charge),
      signal: AbortSignal.timeout(400),
    });
    await expect(response).rejects.toThrow('timeout');
  }
  expect(await status('LN408')).toMatchObject({ status_code: '404' });
});

it('Rp 1.000.414 is paid like any other order, and its refunds are rejected', async () => {
  const id = await charged(1_000_414);
  await sandbox.call('POST', `/simulator/payments/${id}/pay`);
  for (const refund_key of ['r1', 'r2', 'r1']) {
    expect(await sandbox.call('POST', `/v2/${id}/refund`, { refund_key })).toMatchObject({ status_code: '202' });
  }
  expect(await status(id)).toMatchObject({ transaction_status: 'settlement' });
});

it('applies to the exact total: one rupiah more or less is an ordinary order', async () => {
  const magic = new Set<number>(MAGIC_AMOUNTS.map(({ totalRupiah }) => totalRupiah));
  const neighbours = [...magic].flatMap((total) => [total - 1, total + 1]).filter((total) => !magic.has(total));
  for (const grossAmount of neighbours)
    expect(await sandbox.charge({ grossAmount })).toMatchObject({ status_code: '201' });
});

it('the command help lists the magic amounts', async () => {
  const { stdout } = await runLunas(['sandbox', '--help']);
  for (const { totalRupiah, description } of MAGIC_AMOUNTS) expect(stdout).toContain(`${totalRupiah}  ${description}`);
});

it('an armed fault has precedence', async () => {
  await sandbox.call('PUT', '/simulator/faults', { operation: 'charge', kind: 'http_500' });
  expect(await sandbox.charge({ grossAmount: 1_000_402 })).toMatchObject({ status_code: '500' });
  expect(await sandbox.charge({ grossAmount: 1_000_402 })).toMatchObject({ status_code: '402' });
});
