/** A regular activity whose last attempt failed, and which Temporal repeats. */
export interface RetriedStep {
  readonly activity: string;
  /** The number of the attempt that failed. */
  readonly attempt: number;
  readonly failure: string;
  /** Null while the next attempt runs. */
  readonly nextAttemptAt: Date | null;
}

/** A retried step for operators, without the full stop of the failure. */
export function describeRetriedStep({ activity, attempt, failure }: RetriedStep): string {
  return `attempt ${attempt} of ${activity} failed: ${failure.replace(/\.$/, '')}`;
}
