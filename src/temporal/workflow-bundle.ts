import { readFile } from 'node:fs/promises';
import type { WorkflowBundle } from '@temporalio/worker';

/** On the bundle's first line, so that its source map stays valid. It acts on the workflows' own `Error` only. */
const WITHOUT_STACK_TRACES = 'Error.stackTraceLimit = 0; ';

/**
 * The workflows' code for a worker. The SDK takes a stack trace for each promise of a workflow, a fifth of a worker's
 * CPU, and has no option for it (docs/performance.md). With `hasStackTraces` the Web UI has call stacks, and failures
 * of workflow tasks have stack traces.
 */
export async function readWorkflowBundle(file: string, hasStackTraces: boolean): Promise<WorkflowBundle> {
  const code = await readFile(file, 'utf8');
  return { code: hasStackTraces ? code : `${WITHOUT_STACK_TRACES}${code}` };
}
