import type { StepActor } from './actor';
import type { Correlation } from './correlation';
import type { PaymentState, PaymentTerms } from './payment';

/** The input of each activity of a payment. */
export interface StepInput {
  readonly terms: PaymentTerms;
  readonly state: PaymentState;
  /** The timestamp of the step by the workflow's clock, Unix time. */
  readonly atMs: number;
  /** When the payment was created, Unix time. The same in each run of the workflow. */
  readonly createdAtMs: number;
  /** Absent if the workflow decided the step. */
  readonly by?: StepActor;
  /** The correlation of the request that caused the step. Absent if the workflow decided the step. */
  readonly correlation?: Correlation;
  /** What the workflow knows of the creation. PostgreSQL may have lost it. Only the steps of the creation get it. */
  readonly creation?: CreationResult;
}

export interface StepResult {
  /** After the step. */
  readonly state: PaymentState;
  /** Why an operator should look at the payment. */
  readonly attentionReason?: string;
  /** The merchant is on hold: the workflow asks PostgreSQL again, and not the provider. */
  readonly isMerchantOnHold?: true;
  /** Why the step did not perform the requested action, in words for the caller. */
  readonly rejection?: string;
  /** The result of the creation; only the step that opens or fails the creation returns it. */
  readonly creation?: CreationResult;
}

/**
 * The result of the creation besides the terms: the QR code, or why there is none. It is part of the workflow's
 * history. So the row of a payment can be written again if PostgreSQL was restored to an earlier time.
 */
export type CreationResult = IssuedCreation | RejectedCreation;

interface IssuedCreation {
  readonly outcome: 'issued';
  /** `occurred_at` of the transition, Unix time. */
  readonly atMs: number;
  readonly providerTransactionId: string;
  readonly qrisPayload: string;
}

interface RejectedCreation {
  readonly outcome: 'rejected';
  readonly atMs: number;
  readonly reason: string;
}
