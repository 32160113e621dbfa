/**
 * What the daily job deletes, in this order. Payments, transitions, ledger, refunds and the audit log are kept.
 * `unused_payment_details`: the details of creations that failed before their payment existed.
 */
export const EXPIRING_DATA = [
  'webhook_deliveries',
  'webhook_events',
  'provider_notifications',
  // Before those of payments, because it examines the same index, and deleted rows stay in that for a while.
  'unused_payment_details',
  'payment_details',
  'sessions',
  'sign_in_links',
] as const;
export type ExpiringData = (typeof EXPIRING_DATA)[number];

/** Days after which each is deleted. */
export type RetentionDays = Readonly<Record<ExpiringData, number>>;

/** A row in the order of its time and key, as texts of PostgreSQL. */
export type RetentionPosition = readonly string[];

/** The result of a part of the job. */
export interface RetentionSlice {
  readonly deleted: number;
  /** False if more remains. */
  readonly isDone: boolean;
  /** The row that was examined last; null if there was none. */
  readonly reached: RetentionPosition | null;
  /** The first row that is old enough and cannot be deleted yet. The next run begins there. */
  readonly firstKept: RetentionPosition | null;
}

/** One run of the job. */
export interface RetentionRun {
  readonly startedAtMs: number;
  /** Nothing was left of any kind of data. */
  readonly isComplete: boolean;
  readonly deleted: Readonly<Partial<Record<ExpiringData, number>>>;
  /** Where the next run begins. A kind of data that failed has none: it begins where it began. */
  readonly positions: Readonly<Partial<Record<ExpiringData, RetentionPosition>>>;
}
