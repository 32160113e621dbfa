import { SdkFlags } from '@temporalio/workflow/lib/flags';
import { getActivator } from '@temporalio/workflow/lib/global-attributes';

/**
 * To be called before anything else by a workflow that takes signals and updates and runs local activities.
 *
 * Temporal's SDK hands the signals and updates of a task over together, and says so in the history of the first task with a signal.
 * A task that a slow local activity prolongs is recorded without that note (SDK 1.24): when its worker is lost then, the history
 * replays signals first, updates after, which may be another life, and the workflow is stuck for ever. The note is made with the
 * first task instead. No public call does that; `test/workflows/one-batch.test.ts` watches over it.
 */
export function forceSingleBatchActivation(): void {
  getActivator().hasFlag(SdkFlags.ProcessWorkflowActivationJobsAsSingleBatch);
}
