import { z } from 'zod';
import { PAYOUT_RESOLUTIONS, RESOLVE_PAYOUT_ACTIONS } from '../../domain/payout-actions';
import { Operation } from '../operations/operation';
import {
  actOnPayout,
  findPerformed,
  findStateRejection,
  ON_PAYOUT,
  payoutApproval,
  seenVersion,
} from './act-on-payout';

/** Records what another source than the bank's status proves. */
export const resolvePayout = new Operation({
  name: 'payout.resolve',
  operator: 'resolve',
  ...ON_PAYOUT,
  input: seenVersion.extend({
    resolution: z.enum(PAYOUT_RESOLUTIONS),
    /** A line of the bank statement, or a ticket of the bank. The merchant sees it, and not the note. */
    evidence: z.string().min(1),
  }),
  allows: (payout, by, input) =>
    input === undefined ? null : findStateRejection(RESOLVE_PAYOUT_ACTIONS[input.resolution], payout, by, input),
  earlier: (act) => findPerformed(act, RESOLVE_PAYOUT_ACTIONS[act.input.resolution]),
  approval: payoutApproval,
  perform: (act) => actOnPayout(act, RESOLVE_PAYOUT_ACTIONS[act.input.resolution], act.input.evidence),
});
