import type { ActionEnd } from '../../domain/recorded-outcome';
import { messageOf, UserError } from '../../errors';

const SUCCEEDED: ActionEnd = { outcome: 'succeeded', detail: null };

/**
 * Executes an action whose row is written already, and records its outcome.
 * @param record it must not throw: a failed write would hide the outcome
 * @param endOf how a result ends the action; by default each result is a success
 */
export async function executeRecorded<Result>(
  work: () => Promise<Result>,
  record: (end: ActionEnd) => Promise<void>,
  endOf: (result: Result) => ActionEnd = () => SUCCEEDED,
): Promise<Result> {
  try {
    const result = await work();
    await record(endOf(result));
    return result;
  } catch (error) {
    await record({ outcome: error instanceof UserError ? 'rejected' : 'indeterminate', detail: messageOf(error) });
    throw error;
  }
}
