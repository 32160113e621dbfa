/** How an audited action ended. `indeterminate`: it may have been executed. */
export type RecordedOutcome = 'succeeded' | 'rejected' | 'indeterminate';
