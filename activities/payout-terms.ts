import type { Sealer } from '../src/crypto/sealing';
import { findRecordedPayout, type RecordedPayout } from '../src/db/payouts/find-payout';
import { DECISIVE_TERMS, type PayoutTerms } from '../src/domain/payout';
import type { PayoutStepInput, PayoutStepResult } from '../src/domain/payout-step';
import type { ActivityDependencies } from './dependencies';
import { inputRejectedError } from './errors';

type DecisiveTerms = Pick<PayoutTerms, 'payoutId' | (typeof DECISIVE_TERMS)[number]>;

/** The step of a payout, with its row. */
export interface RecordedPayoutStep extends PayoutStepInput {
  readonly recorded: RecordedPayout;
}

/**
 * The decisive terms as they are requested, sealed: before each call to the bank they are compared with the row.
 * @param numberHmac the keyed hash of the number of the bank account
 */
export function sealPayoutTerms(sealer: Sealer, terms: DecisiveTerms, numberHmac: string): string {
  return sealer.seal(textOf(terms, numberHmac), ['payout-terms', terms.payoutId]);
}

/** @throws ApplicationFailure, without a retry, if a decisive column is not what was requested */
export function requireSealedTerms(sealer: Sealer, recorded: RecordedPayout): void {
  const { terms, sealedTerms, numberHmac } = recorded;
  if (sealer.open(sealedTerms, ['payout-terms', terms.payoutId]) === textOf(terms, numberHmac)) return;
  throw inputRejectedError(`payout ${terms.payoutId} is not what was requested: its row was changed`);
}

function textOf(terms: DecisiveTerms, numberHmac: string): string {
  return JSON.stringify([...DECISIVE_TERMS.map((term) => terms[term]), numberHmac]);
}

/**
 * Wraps a step of a payout so that its terms are compared with the row: PostgreSQL decides, and not the input from
 * Temporal. It throws an ApplicationFailure, without a retry, if they differ.
 */
export function verifyPayoutTerms(
  step: (dependencies: ActivityDependencies, request: RecordedPayoutStep) => Promise<PayoutStepResult>,
): (dependencies: ActivityDependencies, request: PayoutStepInput) => Promise<PayoutStepResult> {
  return async (dependencies, request) => {
    const { terms } = request;
    const recorded = await findRecordedPayout(dependencies.db, terms.payoutId);
    // A restored PostgreSQL may have lost it. Recovery writes it again.
    if (!recorded) throw new Error(`Payout ${terms.payoutId} is not in the database`);
    const differing = DECISIVE_TERMS.filter((term) => recorded.terms[term] !== terms[term]);
    if (differing.length === 0) return step(dependencies, { ...request, recorded });
    throw inputRejectedError(`payout ${terms.payoutId} has another ${differing.join(', ')} in PostgreSQL`);
  };
}
