import type { RecordedOutcome } from '../../domain/recorded-outcome';
import { messageOf, UserError } from '../../errors';

/**
 * Executes an action whose row is written already, and records its outcome.
 * @param record it must not throw: a failed write would hide the outcome
 * @param failureOf what a result lacks; the action is then `indeterminate`
 */
export async function executeRecorded<Result>(
  work: () => Promise<Result>,
  record: (outcome: RecordedOutcome, detail: string | null) => Promise<void>,
  failureOf: (result: Result) => string | undefined = () => undefined,
): Promise<Result> {
  try {
    const result = await work();
    const failure = failureOf(result);
    await record(failure === undefined ? 'succeeded' : 'indeterminate', failure ?? null);
    return result;
  } catch (error) {
    await record(error instanceof UserError ? 'rejected' : 'indeterminate', messageOf(error));
    throw error;
  }
}
