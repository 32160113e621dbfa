/** How an audited action ended. `indeterminate`: it may have been executed, or only a part of it. */
export type RecordedOutcome = 'succeeded' | 'rejected' | 'indeterminate';
