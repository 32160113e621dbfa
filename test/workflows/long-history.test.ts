import { setPolicy } from '../../src/services/provider-accounts/catalog';
import { paymentWorkflowId } from '../../workflows/ids';
import { SEARCH_ATTRIBUTES } from '../../workflows/messages';
import { MAX_HISTORY_EVENTS } from '../../workflows/retry-policies';
import { waitForStatus } from '../support/created-payment';
import { newNamespace, startTestService, type TestService } from '../support/service';

/** One after another they would take half a minute on a busy machine. */
const SIGNALS_PER_BATCH = 20;

let service: TestService;
beforeAll(async () => {
  service = await startTestService(await newNamespace());
  await setPolicy(service.db, { provider: 'gopay', channel: 'qris', settlementDelaySeconds: 1 });
});
afterAll(() => service.close());

it('a payment whose history is long continues as a new run in the same status', async () => {
  const { id, reference_id } = (await service.call('POST', '/payments', { amount: 50_000 })).body.payment;
  const workflow = service.client.workflow.getHandle(paymentWorkflowId(id));
  const first = await workflow.describe();
  // Each signal is an event, and causes a status query. No run may handle more signals than its history has events.
  let latest = first;
  for (let signals = 0; latest.runId === first.runId; signals += SIGNALS_PER_BATCH) {
    expect(signals).toBeLessThan(MAX_HISTORY_EVENTS);
    await Promise.all(Array.from({ length: SIGNALS_PER_BATCH }, () => workflow.signal('paid')));
    // The response to a query shows that the worker has handled the signals.
    await service.workflows.queryStatus(id);
    latest = await workflow.describe();
  }
  const { raw } = await service.client.workflow.getHandle(workflow.workflowId, first.runId).describe();
  expect(raw.workflowExecutionInfo?.historyLength?.toNumber()).toBeLessThan(2 * MAX_HISTORY_EVENTS);

  expect(latest.typedSearchAttributes.get(SEARCH_ATTRIBUTES.referenceId)).toBe(reference_id);
  expect(latest.typedSearchAttributes.get(SEARCH_ATTRIBUTES.paymentStatus)).toBe('pending');
  expect(latest.priority).toEqual(first.priority);
  expect(await service.workflows.records.readCreation(id)).toMatchObject({
    terms: { paymentId: id },
    creation: { outcome: 'issued', qrisPayload: expect.stringMatching(/^000201/) },
  });

  await service.pay(reference_id);
  await waitForStatus(service, id, 'settled');
  expect(await service.client.workflow.getHandle(workflow.workflowId).result()).toBe('settled');
});
