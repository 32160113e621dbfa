import type { StepActor } from './actor';
import { OPERATOR_STEPS } from './operator-steps';
import type { PayoutState, PayoutTerms } from './payout';
import type { PayoutResolution } from './payout-actions';
import type { Rail } from './payout-rails';
import type { PayoutObstacle } from './payout-rejections';

/** What the workflow of a payout starts with. */
export interface PayoutInput {
  readonly payoutId: string;
  readonly merchantId: string;
  /** Absent: the payout has its row. */
  readonly request?: PayoutRequestInput;
  /** An earlier run has submitted it. So no later one makes a call to the bank, also if PostgreSQL lost the submit. */
  readonly wasSubmitted?: true;
  /** PostgreSQL has lost the row of this request. It is written again, as submitted and without a call. */
  readonly lost?: { readonly requestedAtMs: number };
}

/** A payout as its requester has seen it. Its row adds the rest. */
export interface PayoutRequestInput extends Omit<PayoutTerms, 'approvalKind' | 'requestedAtMs'> {
  readonly rail: Rail;
  readonly payoutPolicyId: number;
  /** The payout pays the lines after the first posting up to the second one that no other payout has claimed. */
  readonly afterPostingId: number;
  /** 0: it is paid on account, and claims no line. */
  readonly upToPostingId: number;
  readonly by: StepActor;
}

/** The payout as its row has it. `rejected`: the balance or a condition is not what the requester has seen. */
export type PayoutRequestResult =
  | { readonly outcome: 'requested'; readonly terms: PayoutTerms; readonly state: PayoutState }
  | { readonly outcome: 'rejected' };

/** The input of each activity of a payout that has its row. */
export interface PayoutStepInput {
  readonly terms: PayoutTerms;
  readonly state: PayoutState;
  /** The timestamp of the step by the workflow's clock, Unix time. */
  readonly atMs: number;
  /** Absent if the workflow decided the step. */
  readonly by?: StepActor;
  /** What an operator resolves it as. */
  readonly resolution?: PayoutResolution;
  /** An earlier step has submitted it, and PostgreSQL has lost that: no call to the bank. */
  readonly wasSubmitted?: true;
}

/** What defers a payout that was requested. */
export type DeferralReason = PayoutObstacle | 'rail_closed';

/** What the workflow of a deferred payout waits for, for operators. */
export const DEFERRAL_TEXTS: Readonly<Record<DeferralReason, string>> = {
  rail_closed: 'the window of its rail to open',
  merchant_not_approved: OPERATOR_STEPS.approveMerchant,
  merchant_on_hold: OPERATOR_STEPS.releaseMerchant,
  payouts_stopped: OPERATOR_STEPS.startPayouts,
  recovery_mode: 'an operator to end recovery mode',
  no_payouts_account: OPERATOR_STEPS.enablePayoutsAccount,
  no_bank_account: 'its bank account',
  bank_account_suspended: OPERATOR_STEPS.reactivateBankAccount,
  proposal_open: 'the proposal of another bank account to end',
  cooling_down: 'the cool-down of the bank account to end',
};

export interface PayoutDeferral {
  readonly obstacle: DeferralReason;
  /** When the deferral ends by itself, Unix time; absent if something has to change. */
  readonly untilMs?: number;
}

export interface PayoutStepResult {
  /** After the step. */
  readonly state: PayoutState;
  /** Why an operator should look at the payout. */
  readonly attentionReason?: string;
  /** Why the step did not perform the requested action, in words for the caller. */
  readonly rejection?: string;
  /** PostgreSQL may have lost that it was sent: it goes on without a call, and the bank is asked. */
  readonly mayBeAtBank?: true;
  /** Why the payout was not submitted. */
  readonly deferral?: PayoutDeferral;
  /** The bank's status proves nothing before it, Unix time. */
  readonly queryNotBeforeMs?: number;
}
