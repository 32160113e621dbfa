import type { PaymentState, PaymentTerms } from './payment';

/** What a workflow gives to each of its activities: the payment, where it stands, and the business instant. */
export interface StepInput {
  readonly terms: PaymentTerms;
  readonly state: PaymentState;
  /** The workflow's clock, in milliseconds since 1970. */
  readonly atMs: number;
  /** When the payment began, likewise: the same at every step, whatever was lost in between. */
  readonly createdAtMs: number;
  /** Who asked for it, where someone did. */
  readonly by?: Actor;
}

/** A merchant or an operator, as the history of the payment names them. */
export interface Actor {
  readonly name: string;
  readonly note?: string;
}

/** Where the payment stands after a step. */
export interface StepResult {
  readonly state: PaymentState;
  /** What a person should look into, if anything. */
  readonly attentionReason?: string;
  /** Why it did not do what someone asked for, in words for them. */
  readonly rejection?: string;
  /** What opening the payment at the provider led to; only the step that opens it returns it. */
  readonly opening?: Opening;
}

/**
 * What a creation was answered with, beside the terms: the QR, or why there is none. It is part of the workflow's history,
 * so that a row that PostgreSQL has lost (it was restored to an earlier time) can be written again.
 */
export type Opening = IssuedOpening | RejectedOpening;

interface IssuedOpening {
  readonly outcome: 'issued';
  /** `occurred_at` of the transition, in milliseconds since 1970. */
  readonly atMs: number;
  readonly providerTransactionId: string;
  readonly qrisPayload: string;
}

interface RejectedOpening {
  readonly outcome: 'rejected';
  readonly atMs: number;
  readonly reason: string;
}
