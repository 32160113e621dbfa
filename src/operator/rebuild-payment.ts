import { acceptPayment } from '../db/transitions/accept-payment';
import type { TransitionContext } from '../db/transitions/apply-transition';
import { issuePayment } from '../db/transitions/issue-payment';
import { rejectPayment } from '../db/transitions/reject-payment';
import type { RecordedCreation } from '../engine/creation-history';

const BY = { actor: 'operator', note: 'written again by lunas recover' };

/**
 * Writes the row of a payment again that PostgreSQL has lost, up to what its creation was answered with: the same request
 * gets the same response. Everything later comes from the provider, which the payment's workflow asks.
 */
export async function rebuildPayment(
  context: TransitionContext,
  { terms, createdAtMs, opening }: RecordedCreation,
): Promise<void> {
  const { state } = await acceptPayment(context, { terms, createdAtMs, by: BY });
  if (!opening) return;
  const step = { paymentId: terms.paymentId, version: state.version, at: new Date(opening.atMs), ...BY };
  if (opening.outcome === 'issued') await issuePayment(context, step, opening);
  else await rejectPayment(context, step, opening.reason);
}
