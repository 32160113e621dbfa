/** How an audited action ended. `indeterminate`: it may have been executed, or only a part of it. */
export type RecordedOutcome = 'succeeded' | 'rejected' | 'indeterminate';

/** How an audited action ended, with its reason. */
export interface ActionEnd {
  readonly outcome: RecordedOutcome;
  /** Why it was rejected, or is indeterminate. */
  readonly detail: string | null;
}
