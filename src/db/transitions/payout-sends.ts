import type { PayoutFailureKind } from '../../domain/bank-payout';
import type { SendOutcome } from '../../domain/payout-decision';
import type { Queryable } from '../connection/pool';
import { bindStatement, prepareStatement } from '../connection/statement';
import { BANK_REFERENCE, FAILED } from './payout-transitions';

/** The bank's response to a call. */
export interface PayoutSend {
  readonly payoutId: string;
  /** The number of the permission under which the call was made. */
  readonly sendCount: number;
  readonly outcome: SendOutcome;
  readonly bankReference: string | null;
  /** Why the bank rejected it; null if it did not. */
  readonly failureKind: PayoutFailureKind | null;
  readonly reason: string | null;
}

const RECORD_SEND = prepareStatement(
  'record_payout_send',
  ['payoutId', 'sendCount', 'outcome', 'bankReference', 'failureKind', 'reason'],
  `update payouts set send_outcome = :outcome, ${BANK_REFERENCE}, ${FAILED.join(', ')}
   where id = :payoutId and send_count = :sendCount and status = 'submitted'`,
);

/** No transition: only the bank's status makes a payout final. */
export async function recordPayoutSend(db: Queryable, send: PayoutSend): Promise<void> {
  await db.query(bindStatement(RECORD_SEND, { ...send }));
}
