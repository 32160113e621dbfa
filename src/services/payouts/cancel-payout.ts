import { Operation } from '../operations/operation';
import { actOnPayout, findPerformed, findStateRejection, ON_PAYOUT, seenVersion } from './act-on-payout';

/** Cancels a payout that was not submitted: its money is available again. */
export const cancelPayout = new Operation({
  name: 'payout.cancel',
  member: { area: 'payouts', level: 'manage', stepUp: true, whileSuspended: true },
  operator: 'payout',
  ...ON_PAYOUT,
  input: seenVersion,
  allows: (payout, by, input) => findStateRejection('cancel', payout, by, input),
  earlier: (act) => findPerformed(act, 'cancel'),
  perform: (act) => actOnPayout(act, 'cancel', act.note),
});
