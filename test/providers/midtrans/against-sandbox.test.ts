import { createMidtransProvider } from '../../../src/providers/midtrans/midtrans-provider';
import type { ProviderPayment } from '../../../src/providers/provider';
import { parseQris } from '../../../src/qris/qris';
import { SANDBOX_SERVER_KEY } from '../../../src/sandbox/server-key';
import {
  newOrderId,
  openSandbox,
  startNotificationReceiver,
  type NotificationReceiver,
  type SandboxUnderTest,
} from '../../sandbox/sandbox-under-test';
import { until } from '../../support/until';

let sandbox: SandboxUnderTest;
let receiver: NotificationReceiver;
let provider: ReturnType<typeof createMidtransProvider>;

beforeAll(async () => {
  receiver = await startNotificationReceiver();
  sandbox = await openSandbox();
  const options = { baseUrl: sandbox.url, serverKey: SANDBOX_SERVER_KEY, notificationUrl: receiver.url };
  provider = createMidtransProvider(options);
});

afterAll(async () => {
  await provider.close();
  await sandbox.close();
  await receiver.close();
});

const call = (deadlineMs = 5000) => ({ signal: new AbortController().signal, deadlineMs });
const pay = (id: string) => sandbox.call('POST', `/simulator/payments/${id}/pay`);
const fault = (operation: string, kind: string) => sandbox.call('PUT', '/simulator/faults', { operation, kind });

function issue(referenceId: string, { expiresInMs = 900_000, deadlineMs = 5000 } = {}) {
  const createdAt = new Date();
  const expiresAt = new Date(createdAt.getTime() + expiresInMs);
  return provider.issueQris(
    { provider: 'gopay', referenceId, totalRupiah: 50_000, createdAt, expiresAt },
    call(deadlineMs),
  );
}

async function find(referenceId: string): Promise<ProviderPayment> {
  const found = await provider.findPayment(referenceId, call());
  if (found.outcome !== 'found') throw new Error(`${referenceId} is ${found.outcome}`);
  return found.payment;
}

async function issued(): Promise<string> {
  const referenceId = newOrderId();
  expect(await issue(referenceId)).toMatchObject({ outcome: 'accepted' });
  return referenceId;
}

it('issues a QRIS, sees it paid, and gets the signed news of it', async () => {
  const referenceId = newOrderId();
  const outcome = await issue(referenceId);
  expect(outcome).toMatchObject({ outcome: 'accepted', providerTransactionId: expect.any(String) });
  expect(outcome.outcome === 'accepted' && parseQris(outcome.qrisPayload)).toMatchObject({
    ok: true,
    value: { totalRupiah: 50_000 },
  });
  expect(await find(referenceId)).toMatchObject({ status: 'pending', totalRupiah: 50_000, paidAt: null });

  await pay(referenceId);
  const paid = await find(referenceId);
  expect(paid).toMatchObject({ status: 'paid', totalRupiah: 50_000, refunds: [] });
  expect(Math.abs((paid.paidAt?.getTime() ?? 0) - Date.now())).toBeLessThan(5000);

  await receiver.waitFor(1);
  const rawBody = Buffer.from(receiver.bodies[0] ?? '');
  expect(provider.verifyNotification({ rawBody, headers: {} })).toEqual({
    verdict: 'genuine',
    referenceId,
    hasNews: true,
  });
});

it('is heard: the acquirer expires the order when we said, not later', async () => {
  const referenceId = newOrderId();
  await issue(referenceId, { expiresInMs: 2000 });
  const deadline = Date.now() + 2000;
  expect(await find(referenceId)).toMatchObject({ status: 'pending' });
  await until(
    () => find(referenceId),
    ({ status }) => status === 'expired',
  );
  expect(Date.now()).toBeLessThan(deadline + 1000);
  expect(await provider.expirePayment(referenceId, call())).toEqual({ outcome: 'accepted' });
});

it('ends an open order and cannot end a paid one', async () => {
  const [expired, cancelled, paid] = [await issued(), await issued(), await issued()];
  await pay(paid);
  expect(await provider.expirePayment(expired, call())).toEqual({ outcome: 'accepted' });
  expect(await find(expired)).toMatchObject({ status: 'expired' });
  expect(await provider.cancelPayment(cancelled, call())).toEqual({ outcome: 'accepted' });
  expect(await find(cancelled)).toMatchObject({ status: 'cancelled' });
  expect(await provider.expirePayment(paid, call())).toMatchObject({ outcome: 'refused' });
  expect(await provider.cancelPayment(paid, call())).toMatchObject({ outcome: 'refused' });
  expect(await find(paid)).toMatchObject({ status: 'paid' });
});

it('knows nothing of an order that was never opened', async () => {
  expect(await provider.findPayment(newOrderId(), call())).toEqual({ outcome: 'not_found' });
  expect(await provider.expirePayment(newOrderId(), call())).toMatchObject({ outcome: 'refused' });
});

it('gets the QR after all when the first answer was lost, and is charged once', async () => {
  for (const kind of ['accept_then_timeout', 'accept_then_reset', 'half_body']) {
    const referenceId = newOrderId();
    await fault('charge', kind);
    expect(await issue(referenceId, { deadlineMs: 500 })).toMatchObject({ outcome: 'unclear' });
    expect(await find(referenceId)).toMatchObject({ status: 'pending', qrisPayload: null });
    expect(await issue(referenceId)).toMatchObject({ outcome: 'accepted', qrisPayload: expect.any(String) });
    const { payments } = await sandbox.call('GET', '/simulator/payments');
    expect(payments).toContainEqual(expect.objectContaining({ order_id: referenceId, charge_calls: 1 }));
  }
});

it('finds nothing when the charge itself was lost', async () => {
  for (const kind of ['timeout', 'reset', 'http_500']) {
    const referenceId = newOrderId();
    await fault('charge', kind);
    expect(await issue(referenceId, { deadlineMs: 500 })).toMatchObject({ outcome: 'unclear' });
    expect(await provider.findPayment(referenceId, call())).toEqual({ outcome: 'not_found' });
  }
});

it('is refused when the acquirer says no', async () => {
  await fault('charge', 'reject');
  expect(await issue(newOrderId())).toMatchObject({ outcome: 'refused', reason: expect.stringMatching(/^402 /) });
});

it('refunds: taken first, final only when the bank has confirmed', async () => {
  const referenceId = await issued();
  await pay(referenceId);
  const refund = { referenceId, refundKey: `${referenceId}-1`, totalRupiah: 50_000, reason: 'out of stock' };
  expect(await provider.refundPayment(refund, call())).toEqual({ outcome: 'accepted' });
  expect(await provider.refundPayment(refund, call())).toEqual({ outcome: 'accepted' });
  expect(await find(referenceId)).toMatchObject({
    status: 'paid',
    refunds: [{ refundKey: refund.refundKey, confirmedAt: null }],
  });
  const refunded = await until(
    () => find(referenceId),
    ({ status }) => status === 'refunded',
  );
  expect(refunded.refunds).toEqual([
    { refundKey: refund.refundKey, totalRupiah: 50_000, confirmedAt: expect.any(Date) },
  ]);
});

it('is told that a refund was turned down, again and again, and that ShopeePay has none', async () => {
  const referenceId = await issued();
  await pay(referenceId);
  await fault('refund', 'reject');
  const refund = { referenceId, refundKey: `${referenceId}-1`, totalRupiah: 50_000, reason: '' };
  expect(await provider.refundPayment(refund, call())).toMatchObject({ outcome: 'refused' });
  expect(await provider.refundPayment(refund, call())).toMatchObject({ outcome: 'refused' });
  expect(await find(referenceId)).toMatchObject({ status: 'paid', refunds: [] });

  const { order_id } = await sandbox.charge({ acquirer: 'airpay shopee' });
  await pay(order_id);
  expect(await provider.refundPayment({ ...refund, referenceId: order_id }, call())).toMatchObject({
    outcome: 'refused',
  });
});

it('is unclear, not refused, when a wrong server key makes a look-up fail', async () => {
  const options = { baseUrl: sandbox.url, serverKey: 'SB-Mid-server-wrong', notificationUrl: receiver.url };
  const stranger = createMidtransProvider(options);
  expect(await stranger.findPayment(newOrderId(), call())).toMatchObject({ outcome: 'unclear' });
  expect(await stranger.expirePayment(newOrderId(), call())).toMatchObject({ outcome: 'unclear' });
  await stranger.close();
});
