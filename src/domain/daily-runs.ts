/** What a schedule starts, each as a row of `daily_runs`. */
export const RUN_KINDS = [
  'payouts',
  'closing',
  'retention',
  'reconciliation',
  'ledger_verification',
  'audit_verification',
] as const;
export type RunKind = (typeof RUN_KINDS)[number];

/** A run is known by its kind and its start. */
export interface StartedRun {
  readonly kind: RunKind;
  /** Unix time. */
  readonly startedAtMs: number;
}

/** What a run has done. */
export interface RunResult {
  /** Nothing is left that this run should have done. */
  readonly isComplete: boolean;
  readonly done: number;
  /** With whom it failed: merchants, kinds of data, or provider accounts. */
  readonly failed: readonly string[];
}

export interface EndedRun extends StartedRun, RunResult {
  readonly finishedAtMs: number;
  /** Why the run has failed as a whole; null: it went to its end. */
  readonly failure: string | null;
}

const HOUR_SECONDS = 3_600;

/**
 * How long after the end of the last complete run another one should have ended, in seconds. Beside the period of the
 * schedule it has the time of the run itself.
 */
export const MAX_RUN_AGE_SECONDS: Readonly<Record<RunKind, number>> = {
  payouts: 25 * HOUR_SECONDS,
  closing: 25 * HOUR_SECONDS,
  retention: 48 * HOUR_SECONDS,
  reconciliation: 4 * HOUR_SECONDS,
  ledger_verification: 26 * HOUR_SECONDS,
  audit_verification: 26 * HOUR_SECONDS,
};
