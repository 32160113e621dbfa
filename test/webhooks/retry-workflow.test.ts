import { historyToJSON } from '@temporalio/common/lib/proto-utils';
import { z } from 'zod';
import { createSealer } from '../../src/crypto/sealing';
import { listDeliveries } from '../../src/services/webhooks/webhook-deliveries';
import { eventually } from '../support/eventually';
import { startReceiver, type Receiver } from '../support/receiver';
import { newNamespace, startTestService, type TestService } from '../support/service';
import { registerEndpoint } from '../support/webhooks';

/** The details that Temporal's Web UI shows besides the history. */
const metadataSchema = z.looseObject({ currentDetails: z.string() });

const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

const REQUEST = { amount: 10_000, metadata: { cart: 'not-in-the-history' } };

let service: TestService;
let receiver: Receiver;

beforeAll(async () => {
  [service, receiver] = await Promise.all([newNamespace().then(startTestService), startReceiver()]);
});

afterAll(() => Promise.all([service.close(), receiver.close()]));

it('the retry workflow shows endpoint, attempts and the last failure', async () => {
  const endpoint = await registerEndpoint(service.db, createSealer(service.masterKey), {
    merchantId: service.merchantId,
    url: `${receiver.url}?token=not-for-everybody`,
    events: ['payment.created'],
    expand: ['metadata', 'checkout_url', 'settlement'],
  });
  receiver.respond = (response) => response.writeHead(receiver.received.length === 1 ? 500 : 502).end();
  const { body } = await service.call('POST', '/payments', REQUEST, { traceparent: TRACEPARENT });
  const { id, reference_id: reference } = body.payment;
  const [delivery] = await eventually(
    () => listDeliveries(service.db, { payment: id, limit: 1 }),
    ([delivery]) => delivery?.attempts.length === 1,
  );
  const workflowId = `webhook-${delivery?.id}`;

  const found = await eventually(
    async () => {
      const ids: string[] = [];
      const query = `ReferenceId = "${reference}"`;
      for await (const workflow of service.client.workflow.list({ query })) ids.push(workflow.workflowId);
      return ids;
    },
    (ids) => ids.length === 2,
  );
  expect(found.sort()).toEqual([`payment-${id}`, workflowId]);

  const workflow = service.client.workflow.getHandle(workflowId);
  const details = async () => metadataSchema.parse(await workflow.query('__temporal_workflow_metadata')).currentDetails;
  expect(await details()).toContain('The first attempt failed: the receiver returned 500.');

  // The second attempt is due after about 10 s. Its body states the payment as it was at the event.
  await service.pay(reference);
  const description = await eventually(
    () => workflow.describe(),
    ({ raw }) => raw.pendingActivities?.[0]?.lastFailure?.message !== undefined,
  );
  expect(description.raw.pendingActivities?.[0]?.lastFailure?.message).toBe(
    'Attempt 2 of 12 failed: the receiver returned 502',
  );
  expect(receiver.received.map(({ headers }) => headers.traceparent)).toEqual([TRACEPARENT, TRACEPARENT]);
  const [first, second] = receiver.received;
  expect(second?.rawBody).toBe(first?.rawBody);
  expect(first?.body).toMatchObject({
    metadata: REQUEST.metadata,
    checkout_url: null,
    settlement: { due_at: null, settled_at: null },
  });
  expect(description.taskQueue).toBe('lunas-webhooks');
  expect(description.priority?.fairnessKey).toBe(service.merchantId);
  expect(await description.staticSummary()).toBe(`payment.created of ${reference} to ${new URL(receiver.url).host}`);
  expect(await description.staticDetails()).toContain(endpoint.id);
  const history = historyToJSON(await workflow.fetchHistory()).replaceAll(/"data": "(.*?)"/g, (_, data: string) =>
    Buffer.from(data, 'base64').toString(),
  );
  expect(history).toContain(reference);
  expect(history).not.toContain('not-for-everybody');
  expect(history).not.toContain('not-in-the-history');
});
