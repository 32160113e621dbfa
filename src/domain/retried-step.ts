/** The type of the failure of a step whose provider gave no determinate response. */
export const PROVIDER_INDETERMINATE = 'ProviderIndeterminate';

/** A regular activity whose last attempt failed, and which Temporal repeats. */
export interface RetriedStep {
  readonly activity: string;
  /** The number of the attempt that failed. */
  readonly attempt: number;
  readonly failure: string;
  /** The provider gave no determinate response: its account, and not the payment, has the cause. */
  readonly isOfProvider: boolean;
  /** Null while the next attempt runs. */
  readonly nextAttemptAt: Date | null;
}

/** A retried step for operators, without the full stop of the failure. */
export function describeRetriedStep({ activity, attempt, failure }: RetriedStep): string {
  return `attempt ${attempt} of ${activity} failed: ${failure.replace(/\.$/, '')}`;
}
