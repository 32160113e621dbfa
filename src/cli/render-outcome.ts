import type { ActionOutcome } from '../services/payments/actions/perform-action';
import { explainError } from './error-hints';

/** The outcome of one payment of a batch, with its reason as text. */
export function explainOutcome({ payment, outcome, error }: ActionOutcome<string>) {
  return { payment, outcome, reason: error === null ? null : explainError(error) };
}

export function outcomeRow(performed: ActionOutcome<string>) {
  const { payment, outcome, reason } = explainOutcome(performed);
  return { PAYMENT: payment, OUTCOME: outcome, REASON: reason };
}
