import { SdkFlags } from '@temporalio/workflow/lib/flags';
import { getActivator } from '@temporalio/workflow/lib/global-attributes';

/**
 * Must be called before anything else by a workflow that takes signals and updates and runs local activities.
 *
 * Temporal's SDK delivers the signals and updates of a task in one batch, and records that as a flag in the history of
 * the first task with a signal. If a slow local activity prolongs that task, the flag is not recorded (SDK 1.24). If
 * the worker stops then, a history replay delivers signals first and updates after them. The order may differ from the
 * original one, and the workflow is blocked. This call records the flag with the first task instead. No public API does
 * that; `test/workflows/sdk-single-batch-flag.test.ts` checks it.
 */
export function forceSingleBatchActivation(): void {
  getActivator().hasFlag(SdkFlags.ProcessWorkflowActivationJobsAsSingleBatch);
}
