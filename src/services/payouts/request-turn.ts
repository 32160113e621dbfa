import type { Queryable } from '../../db/connection/pool';
import { findRequestTurn, takeRequestTurn, type RequestTurn } from '../../db/payouts/payout-request-turns';
import type { PayoutClient } from '../../temporal/payout-client';

/** After this time a start that was called has reached Temporal, or never does: longer than any call may take. */
const START_GRACE_SECONDS = 30;

interface TurnDependencies {
  readonly db: Queryable;
  readonly workflows: Pick<PayoutClient, 'findRequest'>;
}

/**
 * Takes the merchant's turn to request this payout: of several requests, only one starts a workflow at a time, so none
 * of them waits for the same money. The turn is free when the request before was decided.
 * @returns whether the payout may be requested now
 */
export async function takeTurn({ db, workflows }: TurnDependencies, turn: RequestTurn): Promise<boolean> {
  if (await takeRequestTurn(db, turn)) return true;
  const taken = await findRequestTurn(db, turn.merchantId);
  if (taken === undefined) return false;
  const request = await workflows.findRequest(taken.payoutId);
  const mayStart = request === 'none' && taken.takenForSeconds < START_GRACE_SECONDS;
  if (request === 'undecided' || mayStart) return false;
  return takeRequestTurn(db, turn, taken.payoutId);
}
