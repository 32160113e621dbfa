import {
  applyTransition,
  type TransitionInput,
  type TransitionContext,
  type TransitionResult,
} from './apply-transition';
import { updateStatement } from './transition-sql';

const STATEMENT = updateStatement('issue', ['qris_payload = $7', 'provider_transaction_id = $8']);

/** The provider issued the QR: the payment waits for its customer, and its creation can be answered. */
export function issuePayment(
  context: TransitionContext,
  step: TransitionInput,
  issued: { readonly qrisPayload: string; readonly providerTransactionId: string },
): Promise<TransitionResult> {
  return applyTransition(context, 'issue', STATEMENT, step, [issued.qrisPayload, issued.providerTransactionId]);
}
