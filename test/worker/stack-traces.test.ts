import { paymentWorkflowId } from '../../workflows/ids';
import { newNamespace, startTestService, type TestService } from '../support/service';

let service: TestService;
beforeAll(async () => {
  service = await startTestService(await newNamespace());
});
afterAll(() => service.close());

/** The call stack that the Web UI shows. */
async function callStackOf(paymentId: string): Promise<string> {
  return service.client.workflow.getHandle(paymentWorkflowId(paymentId)).query('__stack_trace');
}

it('the call stack of a payment is taken only with WORKFLOW_STACK_TRACES', async () => {
  const { id } = (await service.call('POST', '/payments', { amount: 50_000 })).body.payment;
  expect(await callStackOf(id)).not.toContain('payment.ts');
  await service.stopWorker();
  await service.startWorker({ hasWorkflowStackTraces: true });
  expect(await callStackOf(id)).toMatch(/payment\.ts:\d+/);
});
