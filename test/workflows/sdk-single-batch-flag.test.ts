import { readFileSync } from 'node:fs';
import path from 'node:path';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils';
import { Worker } from '@temporalio/worker';
import { SdkFlags } from '@temporalio/workflow/lib/flags';
import { paymentWorkflowId } from '../../workflows/messages';
import { workflowBundlePath } from '../support/temporal';
import { newNamespace, startTestService, type TestService } from '../support/service';

/** Found by `npm run test:faults`: a signal and an update in a task that a local activity prolonged, before its worker was lost. */
const TRUNCATED = readFileSync(path.join(__dirname, 'truncated-history.json'), 'utf8');
const NOTE = SdkFlags.ProcessWorkflowActivationJobsAsSingleBatch.id;

let service: TestService;
beforeAll(async () => (service = await startTestService(await newNamespace())));
afterAll(() => service.close());

function replay({ isNoted }: { isNoted: boolean }): Promise<void> {
  const history = historyFromJSON(JSON.parse(TRUNCATED));
  const firstTask = history.events?.find((event) => event.workflowTaskCompletedEventAttributes);
  const metadata = firstTask?.workflowTaskCompletedEventAttributes?.sdkMetadata;
  if (!metadata) throw new Error('The history has no first task');
  metadata.langUsedFlags = isNoted ? [NOTE] : [];
  return Worker.runReplayHistory({ workflowBundle: { codePath: workflowBundlePath() } }, history, 'payment-truncated');
}

describe('a payment whose worker is lost in a task that was prolonged', () => {
  it('goes on, since its first task says how messages are taken', async () => {
    await expect(replay({ isNoted: true })).resolves.toBeUndefined();
  });

  it("would be stuck without that note (when it no longer is, Temporal's SDK has mended it, and we need no note)", async () => {
    await expect(replay({ isNoted: false })).rejects.toThrow(/[Nn]ondeterminis/);
  });

  it('has the note in its first task', async () => {
    const { body } = await service.call('POST', '/payments', { amount: 50_000 });
    const { events } = await service.client.workflow.getHandle(paymentWorkflowId(body.payment.id)).fetchHistory();
    const firstTask = events?.find((event) => event.workflowTaskCompletedEventAttributes);
    expect(firstTask?.workflowTaskCompletedEventAttributes?.sdkMetadata?.langUsedFlags).toContain(NOTE);
  });
});
