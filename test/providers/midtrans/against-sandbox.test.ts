import { z } from 'zod';
import type { ProviderOperation } from '../../../src/providers/calls/wrap-calls';
import { createMidtransProvider } from '../../../src/providers/midtrans/midtrans-provider';
import { SANDBOX_SERVER_KEY } from '../../../src/sandbox/acquirers';
import type { FaultOperation } from '../../../src/sandbox/faults';
import { openSandbox, startNotificationReceiver } from '../../sandbox/sandbox-under-test';
import { eventually } from '../../support/eventually';
import { describeProvider, type AcquirerUnderTest } from '../conformance';

/** The sandbox's names of the adapter's operations. */
const OPERATIONS = {
  issueQris: 'charge',
  findPayment: 'status',
  expirePayment: 'expire',
  cancelPayment: 'cancel',
  refundPayment: 'refund',
} as const satisfies Record<ProviderOperation, FaultOperation>;

const ledgerSchema = z.object({
  payments: z.array(
    z.object({ order_id: z.string(), charge_calls: z.number(), refunds: z.array(z.object({ status: z.string() })) }),
  ),
});

async function openAcquirer(): Promise<AcquirerUnderTest> {
  const receiver = await startNotificationReceiver();
  const sandbox = await openSandbox();
  const connect = (serverKey: string, baseUrl = sandbox.url) =>
    createMidtransProvider({ baseUrl, serverKey, notificationUrl: receiver.url });
  const [provider, stranger] = [connect(SANDBOX_SERVER_KEY), connect('SB-Mid-server-of-another-account')];
  return {
    provider,
    stranger,
    connectTo: (baseUrl) => connect(SANDBOX_SERVER_KEY, baseUrl),
    async pay(referenceId) {
      await sandbox.call('POST', `/simulator/payments/${referenceId}/pay`);
    },
    async fail(operation, kind) {
      await sandbox.call('PUT', '/simulator/faults', { operation: OPERATIONS[operation], kind });
    },
    async readOrder(referenceId) {
      const { payments } = ledgerSchema.parse(await sandbox.call('GET', '/simulator/payments'));
      const order = payments.find((payment) => payment.order_id === referenceId);
      const refunds = order?.refunds.filter(({ status }) => status !== 'rejected').length ?? 0;
      return order && { charges: order.charge_calls, refunds };
    },
    async notificationOf(referenceId) {
      const read = () => Promise.resolve(receiver.bodies.find((body) => body.includes(referenceId)));
      const body = await eventually(read, (found) => found !== undefined);
      return { rawBody: Buffer.from(body ?? ''), headers: {} };
    },
    async close() {
      await Promise.all([provider.close(), stranger.close()]);
      await sandbox.close();
      await receiver.close();
    },
  };
}

describeProvider("Midtrans' adapter at the sandbox", openAcquirer);

it('treats a wrong server key as a rejection of a new order, and as indeterminate in a status query', async () => {
  const acquirer = await openAcquirer();
  const call = { signal: new AbortController().signal, deadlineAtMs: Date.now() + 60_000 };
  const createdAt = new Date();
  const expiresAt = new Date(createdAt.getTime() + 900_000);
  const request = { provider: 'gopay', referenceId: 'LN1', totalRupiah: 1000, createdAt, expiresAt } as const;
  const rejected = await acquirer.stranger.issueQris(request, call);
  expect(rejected).toMatchObject({ outcome: 'rejected', merchantReason: expect.any(String) });
  expect(await acquirer.stranger.findPayment({ referenceId: 'LN1', issued: null }, call)).toMatchObject({
    outcome: 'indeterminate',
  });
  expect(await acquirer.stranger.expirePayment({ referenceId: 'LN1', issued: null }, call)).toMatchObject({
    outcome: 'indeterminate',
  });
  await acquirer.close();
});
