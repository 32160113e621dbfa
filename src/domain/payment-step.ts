import type { PaymentState, PaymentTerms } from './payment';

/** What a workflow gives to each of its activities: the payment, where it stands, and the business instant. */
export interface PaymentStep {
  readonly terms: PaymentTerms;
  readonly state: PaymentState;
  /** The workflow's clock, in milliseconds since 1970. */
  readonly atMs: number;
  /** When the payment began, likewise: the same at every step, whatever was lost in between. */
  readonly createdAtMs: number;
  /** Who asked for it, where someone did. */
  readonly by?: Requester;
}

/** A merchant or an operator, as the history of the payment names them. */
export interface Requester {
  readonly actor: string;
  readonly note?: string;
}

/** Where the payment stands after a step. */
export interface StepResult {
  readonly state: PaymentState;
  /** What a person should look into, if anything. */
  readonly attention?: string;
  /** Why it did not do what someone asked for, in words for them. */
  readonly refusal?: string;
}
