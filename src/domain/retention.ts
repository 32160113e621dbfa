/** What the daily job deletes. Payments, transitions, ledger, refunds and the audit log are kept. */
export const EXPIRING_DATA = [
  'webhook_deliveries',
  'webhook_events',
  'provider_notifications',
  'payment_details',
] as const;
export type ExpiringData = (typeof EXPIRING_DATA)[number];

/** Days after which each is deleted. */
export type RetentionDays = Readonly<Record<ExpiringData, number>>;

/** The result of a part of the job. */
export interface ExpirySlice {
  readonly deleted: number;
  /** False if more remains. */
  readonly isDone: boolean;
}
