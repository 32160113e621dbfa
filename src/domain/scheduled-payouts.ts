/** A part of the daily run of payouts. */
export interface ScheduledPayoutsPart {
  /** The day of the run, in WIB. */
  readonly day: string;
  /** The start of the run, Unix time. */
  readonly startedAtMs: number;
  /** Merchants with greater ids; null: from the first one. */
  readonly after: string | null;
  /** Only these; null: all merchants who are due. */
  readonly merchantIds: readonly string[] | null;
}

/** One attempt of a part. */
export interface ScheduledPayoutsRun {
  /** From 1. */
  readonly attempt: number;
  /** Called after each merchant. */
  readonly onProgress: () => void;
}

export interface ScheduledPayouts {
  readonly requested: number;
  /** The merchants whose payouts could not be requested. */
  readonly failed: readonly string[];
  /** Where the next part begins; null: there is none. */
  readonly next: string | null;
}
