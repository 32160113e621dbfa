import type { RecordedOutcome } from '../../domain/recorded-outcome';
import { messageOf, UserError } from '../../errors';

/**
 * Executes an action whose row is written already, and records its outcome.
 * @param record it must not throw: a failed write would hide the outcome
 */
export async function executeRecorded<Result>(
  work: () => Promise<Result>,
  record: (outcome: RecordedOutcome, detail: string | null) => Promise<void>,
): Promise<Result> {
  try {
    const result = await work();
    await record('succeeded', null);
    return result;
  } catch (error) {
    await record(error instanceof UserError ? 'rejected' : 'indeterminate', messageOf(error));
    throw error;
  }
}
