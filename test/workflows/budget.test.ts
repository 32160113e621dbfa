import type { Client } from '@temporalio/client';
import { setPolicy } from '../../src/operator/catalog';
import { newNamespace, startTestService, type TestService } from '../support/service';
import { until } from '../support/until';

let service: TestService;
beforeAll(async () => {
  service = await startTestService(await newNamespace());
  await setPolicy(service.db, { provider: 'gopay', channel: 'qris', settlementDelaySeconds: 1 });
}, 60_000);
afterAll(() => service.close());

async function costOf(client: Client, workflowId: string) {
  const handle = client.workflow.getHandle(workflowId);
  await handle.result();
  const { events } = await handle.fetchHistory();
  const { raw } = await handle.describe();
  return {
    events: events?.length ?? Infinity,
    workflowTasks: events?.filter((event) => event.workflowTaskCompletedEventAttributes).length ?? Infinity,
    stateTransitions: Number(raw.workflowExecutionInfo?.stateTransitionCount),
    historyBytes: Number(raw.workflowExecutionInfo?.historySizeBytes),
  };
}

describe('the cost of a life', () => {
  it('from accepted to settled stays within its budget', async () => {
    const { body } = await service.call('POST', '/payments', { amount: 50_000, merchant_reference_id: 'ORDER-1' });
    const { id, reference_id } = body.payment;
    await service.pay(reference_id);
    await until(
      () => service.call('GET', `/payments/${id}`),
      (answer) => answer.body.payment.status === 'settled',
    );
    const cost = await costOf(service.client, `payment-${id}`);
    expect(cost.events).toBeLessThanOrEqual(26);
    expect(cost.workflowTasks).toBeLessThanOrEqual(3);
    expect(cost.stateTransitions).toBeLessThanOrEqual(10);
    expect(cost.historyBytes).toBeLessThanOrEqual(6_000);
  });
});
