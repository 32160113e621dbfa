import { setTimeout as sleep } from 'node:timers/promises';
import {
  openSandbox,
  signatureOf,
  startNotificationReceiver,
  type Json,
  type NotificationReceiver,
  type SandboxUnderTest,
} from './sandbox-under-test';

let receiver: NotificationReceiver;
let sandbox: SandboxUnderTest;

beforeAll(async () => {
  receiver = await startNotificationReceiver();
  sandbox = await openSandbox({ notificationDelaysMs: [100, 100, 100] });
});

beforeEach(() => {
  receiver.bodies.length = 0;
  receiver.respond = (response) => void response.end();
});

afterAll(async () => {
  await sandbox.close();
  await receiver.close();
});

async function charge(change = {}): Promise<string> {
  const { order_id } = await sandbox.charge(change, { 'x-override-notification': receiver.url });
  return order_id;
}

const pay = (id: string, body?: object) => sandbox.call('POST', `/simulator/payments/${id}/pay`, body);
const received = (): Json[] => receiver.bodies.map((body) => JSON.parse(body));

/** Long enough for an unexpected notification to arrive. */
const A_WHILE_MS = 700;

it('notifies the merchant of a payment, signed, with the fields of the published example', async () => {
  const id = await charge();
  await pay(id);
  await receiver.waitFor(1);
  const [notification] = received();
  expect(notification).toMatchObject({
    order_id: id,
    transaction_status: 'settlement',
    status_code: '200',
    status_message: 'midtrans payment notification',
    gross_amount: '50000.00',
    currency: 'IDR',
    payment_type: 'qris',
    fraud_status: 'accept',
    acquirer: 'gopay',
    issuer: 'gopay',
    transaction_type: 'on-us',
  });
  for (const field of ['transaction_id', 'transaction_time', 'settlement_time', 'merchant_id']) {
    expect(notification).toHaveProperty(field, expect.any(String));
  }
  expect(notification.signature_key).toBe(signatureOf(notification));
});

it('sends no notification of a new order', async () => {
  await charge();
  await sleep(A_WHILE_MS);
  expect(received()).toEqual([]);
});

it('sends no notification if notify is false', async () => {
  await pay(await charge(), { notify: false });
  await sleep(A_WHILE_MS);
  expect(received()).toEqual([]);
});

it('sends the same bytes as many times as requested', async () => {
  await pay(await charge(), { times: 50 });
  await receiver.waitFor(50);
  await sleep(A_WHILE_MS);
  expect(receiver.bodies).toHaveLength(50);
  expect(new Set(receiver.bodies).size).toBe(1);
});

it('retries until the merchant responds with 2xx', async () => {
  const statusCodes = [500, 302, 200];
  receiver.respond = (response) =>
    void response.writeHead(statusCodes.shift() ?? 200, { location: receiver.url }).end();
  await pay(await charge());
  await receiver.waitFor(3);
  await sleep(A_WHILE_MS);
  expect(receiver.bodies).toHaveLength(3);
});

it('stops at the end of its schedule', async () => {
  receiver.respond = (response) => void response.writeHead(503).end();
  await pay(await charge());
  await receiver.waitFor(4);
  await sleep(A_WHILE_MS);
  expect(receiver.bodies).toHaveLength(4);
});

it('retries if the merchant closes the connection', async () => {
  receiver.respond = (response) => {
    receiver.respond = (next) => void next.end();
    response.socket?.destroy();
  };
  await pay(await charge());
  await receiver.waitFor(2);
  expect(new Set(receiver.bodies).size).toBe(1);
});

it('sends the notification after a restart', async () => {
  receiver.respond = () => undefined;
  const id = await charge();
  await pay(id);
  await receiver.waitFor(1);
  await sandbox.restart(() => {
    receiver.respond = (response) => void response.end();
  });
  await receiver.waitFor(2);
  expect(received().at(-1)).toMatchObject({ order_id: id, transaction_status: 'settlement' });
});

it('notifies of an overdue order', async () => {
  const id = await charge({ customExpiry: { expiry_duration: 1, unit: 'second' } });
  await receiver.waitFor(1);
  const [notification] = received();
  expect(notification).toMatchObject({ order_id: id, transaction_status: 'expire', status_code: '202' });
  expect(notification.signature_key).toBe(signatureOf(notification));
});

it('notifies of a cancellation, and of the late payment after it', async () => {
  const id = await charge();
  await sandbox.call('POST', `/v2/${id}/cancel`);
  await receiver.waitFor(1);
  await pay(id);
  await receiver.waitFor(2);
  expect(received().map((notification) => notification.transaction_status)).toEqual(['cancel', 'settlement']);
});

it('notifies of a refund twice, the second time with the confirmation of the bank', async () => {
  const id = await charge();
  await pay(id, { notify: false });
  await sandbox.call('POST', `/v2/${id}/refund`, { refund_key: 'r1', amount: 50_000 });
  await receiver.waitFor(2);
  const [first, second] = received();
  expect(first).toMatchObject({ transaction_status: 'refund', refunds: [{ refund_key: 'r1' }] });
  expect(first.refunds[0]).not.toHaveProperty('bank_confirmed_at');
  expect(second.refunds[0]).toHaveProperty('bank_confirmed_at', expect.any(String));
});

it("sends to the order's own URL, else to none", async () => {
  const [own, plain, invalid] = [
    await charge(),
    (await sandbox.charge()).order_id,
    (await sandbox.charge({}, { 'x-override-notification': 'not a url' })).order_id,
  ];
  for (const id of [plain, invalid, own]) expect(await pay(id)).toMatchObject({ payment: { status: 'settlement' } });
  await receiver.waitFor(1);
  expect(received()).toMatchObject([{ order_id: own }]);
});

it('stops while a merchant does not respond', async () => {
  receiver.respond = () => undefined;
  const waiting = await openSandbox();
  const { order_id } = await waiting.charge({}, { 'x-override-notification': receiver.url });
  await waiting.call('POST', `/simulator/payments/${order_id}/pay`);
  await receiver.waitFor(1);
  await expect(waiting.close()).resolves.toBeUndefined();
});
