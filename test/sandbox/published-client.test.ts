import { CoreApi } from 'midtrans-client';
import { SANDBOX_SERVER_KEY } from '../../src/sandbox/acquirers';
import { eventually } from '../support/eventually';
import {
  newOrderId,
  openSandbox,
  startNotificationReceiver,
  type NotificationReceiver,
  type SandboxUnderTest,
} from './sandbox-under-test';

let receiver: NotificationReceiver;
let sandbox: SandboxUnderTest;
let client: CoreApi;

beforeAll(async () => {
  receiver = await startNotificationReceiver();
  sandbox = await openSandbox();
  client = clientWith(SANDBOX_SERVER_KEY);
});

afterAll(async () => {
  await sandbox.close();
  await receiver.close();
});

/** Midtrans' published client has no option for its base URL. */
function clientWith(serverKey: string): CoreApi {
  const core = new CoreApi({ isProduction: false, serverKey, clientKey: '' });
  core.apiConfig.getCoreApiBaseUrl = () => sandbox.url;
  return core;
}

async function charged(): Promise<string> {
  const orderId = newOrderId();
  await client.charge({
    payment_type: 'qris',
    transaction_details: { order_id: orderId, gross_amount: 50_000 },
    qris: { acquirer: 'gopay' },
  });
  return orderId;
}

async function paid(): Promise<string> {
  const orderId = await charged();
  await sandbox.call('POST', `/simulator/payments/${orderId}/pay`);
  return orderId;
}

/** The client's error for a status code of 400 or more. */
function apiError(httpStatusCode: number | string, statusCode: string): object {
  return { name: 'MidtransError', httpStatusCode, ApiResponse: expect.objectContaining({ status_code: statusCode }) };
}

describe("Midtrans' published Node.js client", () => {
  it('charges a QRIS order', async () => {
    const order_id = newOrderId();
    const response = await client.charge({
      payment_type: 'qris',
      transaction_details: { order_id, gross_amount: 50_000 },
    });
    expect(response).toMatchObject({
      status_code: '201',
      order_id,
      transaction_status: 'pending',
      qr_string: expect.any(String),
    });
  });

  it('queries the status', async () => {
    const order_id = await paid();
    const response = await client.transaction.status(order_id);
    expect(response).toMatchObject({ status_code: '200', order_id, transaction_status: 'settlement' });
  });

  it('cancels, with the JSON body null', async () => {
    const order_id = await charged();
    const response = await client.transaction.cancel(order_id);
    expect(response).toMatchObject({ status_code: '200', order_id, transaction_status: 'cancel' });
  });

  it('expires, with the JSON body null: 407 is a success', async () => {
    const order_id = await charged();
    const response = await client.transaction.expire(order_id);
    expect(response).toMatchObject({ status_code: '407', order_id, transaction_status: 'expire' });
  });

  it.each(['refund', 'refundDirect'] as const)('requests a refund by %s', async (call) => {
    const order_id = await paid();
    const parameters = { refund_key: 'R1', amount: 20_000, reason: 'returned goods' };
    const response = await client.transaction[call](order_id, parameters);
    expect(response).toMatchObject({ status_code: '200', refund_key: 'R1', refund_amount: '20000.00' });
    expect(await client.transaction.status(order_id)).toMatchObject({ transaction_status: 'partial_refund' });
  });

  it('reads the status of the order that a notification names', async () => {
    const { order_id } = await sandbox.charge({}, { 'x-override-notification': receiver.url });
    await sandbox.call('POST', `/simulator/payments/${order_id}/pay`);
    const isOfOrder = (body: string) => body.includes(order_id) && body.includes('settlement');
    const received = await eventually(
      async () => receiver.bodies,
      (bodies) => bodies.some(isOfOrder),
    );
    const notification = received.find(isOfOrder) ?? '';
    const expected = { order_id, transaction_status: 'settlement' };
    expect(await client.transaction.notification(notification)).toMatchObject(expected);
    expect(await client.transaction.notification(JSON.parse(notification))).toMatchObject(expected);
  });

  it('throws its errors for an unknown order, a duplicate or invalid charge and rejected changes', async () => {
    const [unknown, settled] = [newOrderId(), await paid()];
    const charge = { payment_type: 'qris', transaction_details: { order_id: settled, gross_amount: 50_000 } };
    await expect(client.transaction.status(unknown)).rejects.toMatchObject(apiError('404', '404'));
    await expect(client.charge(charge)).rejects.toMatchObject(apiError('406', '406'));
    await expect(client.charge({})).rejects.toMatchObject(apiError(400, '400'));
    await expect(client.transaction.cancel(settled)).rejects.toMatchObject(apiError('412', '412'));
    await expect(client.transaction.expire(settled)).rejects.toMatchObject(apiError('412', '412'));
    await expect(client.transaction.refund(settled, { amount: 50_001 })).rejects.toMatchObject(apiError('414', '414'));
  });

  it('throws its error for a wrong server key', async () => {
    await expect(clientWith('wrong').transaction.status(newOrderId())).rejects.toMatchObject(apiError(401, '401'));
  });
});
