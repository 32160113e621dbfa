import type { PaymentState, PaymentTerms } from './payment';

/** What a workflow gives to each of its activities: the payment, where it stands, and the business instant. */
export interface PaymentStep {
  readonly terms: PaymentTerms;
  readonly state: PaymentState;
  /** The workflow's clock, in milliseconds since 1970. */
  readonly atMs: number;
  /** When the payment began, likewise: the same at every step, whatever was lost in between. */
  readonly createdAtMs: number;
}

/** Where the payment stands after a step, and what a person should look into, if anything. */
export interface StepResult {
  readonly state: PaymentState;
  readonly attention?: string;
}
