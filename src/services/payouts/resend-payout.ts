import { Operation } from '../operations/operation';
import {
  actOnPayout,
  findPerformed,
  findStateRejection,
  ON_PAYOUT,
  payoutApproval,
  seenVersion,
} from './act-on-payout';

/** Sends a payout again that the bank does not know, with the same reference. */
export const resendPayout = new Operation({
  name: 'payout.resend',
  operator: 'resolve',
  ...ON_PAYOUT,
  input: seenVersion,
  allows: (payout, by, input) => findStateRejection('resend', payout, by, input),
  earlier: (act) => findPerformed(act, 'resend'),
  approval: payoutApproval,
  perform: (act) => actOnPayout(act, 'resend', act.note),
});
