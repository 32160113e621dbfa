import { readFileSync } from 'node:fs';
import path from 'node:path';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils';
import { Worker } from '@temporalio/worker';
import { SdkFlags } from '@temporalio/workflow/lib/flags';
import { paymentWorkflowId } from '../../workflows/ids';
import { newNamespace, startTestService, type TestService } from '../support/service';
import { workflowBundlePath } from '../support/temporal';

/**
 * `npm run test:faults` found it: signal and update in a task that a local activity prolonged, before its worker
 * stopped.
 */
const TRUNCATED = readFileSync(path.join(__dirname, 'truncated-history.json'), 'utf8');
const FLAG = SdkFlags.ProcessWorkflowActivationJobsAsSingleBatch.id;

let service: TestService;
beforeAll(async () => (service = await startTestService(await newNamespace())));
afterAll(() => service.close());

function replay({ hasFlag }: { hasFlag: boolean }): Promise<void> {
  const history = historyFromJSON(JSON.parse(TRUNCATED));
  const firstTask = history.events?.find((event) => event.workflowTaskCompletedEventAttributes);
  const metadata = firstTask?.workflowTaskCompletedEventAttributes?.sdkMetadata;
  if (!metadata) throw new Error('The history has no first task');
  metadata.langUsedFlags = hasFlag ? [FLAG] : [];
  return Worker.runReplayHistory({ workflowBundle: { codePath: workflowBundlePath() } }, history, 'payment-truncated');
}

describe('a payment whose worker stops during a prolonged workflow task', () => {
  it('continues if the first task has the flag', async () => {
    await expect(replay({ hasFlag: true })).resolves.toBeUndefined();
  });

  it('a payment without the flag is blocked (if this fails, the SDK is fixed and the flag can go)', async () => {
    await expect(replay({ hasFlag: false })).rejects.toThrow(/[Nn]ondeterminis/);
  });

  it('a workflow of a payment has the flag in its first task', async () => {
    const { body } = await service.call('POST', '/payments', { amount: 50_000 });
    const { events } = await service.client.workflow.getHandle(paymentWorkflowId(body.payment.id)).fetchHistory();
    const firstTask = events?.find((event) => event.workflowTaskCompletedEventAttributes);
    expect(firstTask?.workflowTaskCompletedEventAttributes?.sdkMetadata?.langUsedFlags).toContain(FLAG);
  });
});
