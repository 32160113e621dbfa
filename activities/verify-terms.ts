import type { Queryable } from '../src/db/connection/pool';
import { findRecordedTerms, type RecordedTerms } from '../src/db/payments/find-terms';
import { isSameRate } from '../src/domain/fees';
import { OPERATOR_STEPS } from '../src/domain/operator-steps';
import type { PaymentTerms } from '../src/domain/payment';
import { UNPROVEN_OPERATOR } from '../src/domain/payment-actions';
import { payloadRejection } from '../src/domain/rejected-payload';
import type { StepInput, StepResult } from '../src/domain/workflow-step';
import type { ActivityDependencies } from './dependencies';
import { inputRejectedError } from './errors';
import { deferred, keepState } from './step-result';

/** The terms of a payment, with what PostgreSQL records of it and the workflow does not have. */
export interface VerifiedTerms {
  readonly terms: PaymentTerms;
  /** The transaction that the provider issued. An input from a workflow has none: the check sets it. */
  readonly issuedTransactionId?: string | null;
}

export interface VerifiedStep extends StepInput, VerifiedTerms {}

type Step = (dependencies: ActivityDependencies, request: VerifiedStep) => Promise<StepResult>;
type UnverifiedStep = (dependencies: ActivityDependencies, request: StepInput) => Promise<StepResult>;
type ActivityOf<Request, Result> = (dependencies: ActivityDependencies, request: Request) => Promise<Result>;

/** An activity, with what is registered: its input passes the check that the activity declares beside itself. */
export interface DeclaredActivity {
  (dependencies: ActivityDependencies, input: never): Promise<unknown>;
  readonly checked: (dependencies: ActivityDependencies, input: never) => Promise<unknown>;
}

/** What decides where money goes, and how much. A row of `payments` never changes it. */
const DECISIVE_TERMS = [
  'referenceId',
  'merchantId',
  'provider',
  'providerAccountId',
  'amountRupiah',
  'feeRupiah',
  'totalRupiah',
  'netRupiah',
  'feePayer',
  'settlementKind',
  'settlementDelaySeconds',
] as const satisfies readonly (keyof PaymentTerms)[];

/** @throws ApplicationFailure, without a retry, if the codec rejected the payload of the input */
export function requireAuthenticInput(input: unknown): void {
  const rejection = payloadRejection(input);
  if (rejection !== null) throw inputRejectedError(`its payload is not authentic: ${rejection}`);
}

/**
 * Compares the terms with the payment's row, if there is one: PostgreSQL decides, and not the input from Temporal.
 * @throws ApplicationFailure, without a retry, if they differ
 */
export async function requireRecordedTerms(db: Queryable, terms: PaymentTerms): Promise<RecordedTerms | undefined> {
  const recorded = await findRecordedTerms(db, terms.paymentId);
  if (!recorded) return undefined;
  const differing: (keyof PaymentTerms)[] = DECISIVE_TERMS.filter((term) => recorded[term] !== terms[term]);
  // A worker of a version before rates of classes has written no rate.
  if (recorded.feeTerms) {
    if (!isSameRate(recorded.feeTerms, terms.feeTerms)) differing.push('feeTerms');
    if ((recorded.vatRupiah ?? 0) !== (terms.vatRupiah ?? 0)) differing.push('vatRupiah');
  }
  if (differing.length === 0) return recorded;
  throw inputRejectedError(`payment ${terms.paymentId} has another ${differing.join(', ')} in PostgreSQL`);
}

/** For an activity without terms of a payment, or one that compares them itself. */
export function unchecked<Activity>(activity: Activity): Activity {
  return activity;
}

/** Wraps an activity so that it compares its terms with the payment's row first. */
export function verifyTerms<Request extends VerifiedTerms, Result>(
  activity: ActivityOf<Request, Result>,
): ActivityOf<Request, Result> {
  return async (dependencies, request) => {
    const recorded = await requireRecordedTerms(dependencies.db, request.terms);
    return activity(dependencies, { ...request, issuedTransactionId: recorded?.issuedTransactionId ?? null });
  };
}

/**
 * Wraps a step of a payment whose row exists. In production, a step that only a signal requested is rejected: anyone
 * who reaches Temporal can send a signal.
 */
export function verifyStep(step: Step): UnverifiedStep {
  return async (dependencies, request) => {
    const recorded = await requireRecordedTerms(dependencies.db, request.terms);
    if (!isProven(dependencies, request)) return rejectUnproven(dependencies, request);
    return step(dependencies, { ...request, issuedTransactionId: recorded?.issuedTransactionId ?? null });
  };
}

/** Verifies the terms of a settlement, which waits while the merchant is on hold. */
export function verifySettlement(settle: UnverifiedStep): UnverifiedStep {
  return async (dependencies, request) => {
    const recorded = await requireRecordedTerms(dependencies.db, request.terms);
    if (!isProven(dependencies, request)) return rejectUnproven(dependencies, request);
    if (recorded?.isMerchantOnHold) {
      return deferred(dependencies, request, { reason: OPERATOR_STEPS.merchantOnHold, isMerchantOnHold: true });
    }
    return settle(dependencies, request);
  };
}

function isProven({ environment }: ActivityDependencies, { by }: StepInput): boolean {
  return environment !== 'production' || by?.name !== UNPROVEN_OPERATOR.name;
}

function rejectUnproven(dependencies: ActivityDependencies, request: StepInput): Promise<StepResult> {
  return keepState(dependencies, request, {
    rejection: 'In production a signal moves no money: an operator has to request it.',
  });
}
