import { findAuthority } from '../../db/identity/members';
import { actorText } from '../../domain/actor';
import { APPROVER_TEXTS, findApproverRejection } from '../../domain/payout-actions';
import { Operation } from '../operations/operation';
import type { Reasons } from '../operations/rejections';
import {
  actMessages,
  actOnPayout,
  actReasons,
  findPerformed,
  findStateRejection,
  loadPayout,
  ON_PAYOUT,
  payoutApproval,
  seenVersion,
  type PayoutActNeeds,
} from './act-on-payout';
import { findSecondMemberRejection, secondMemberMessages, secondMemberReasons } from './second-member';

export const approveReasons = {
  ...actReasons,
  ...secondMemberReasons,
  not_needed: {},
  own_request: {},
  by_member: {},
  by_operator: {},
} as const satisfies Reasons;

/** Whom the request determined approves it: a second member of the merchant, or an operator. */
export const approvePayout = new Operation({
  name: 'payout.approve',
  member: { area: 'payouts', level: 'authorise', stepUp: true },
  operator: 'payout',
  ...ON_PAYOUT,
  input: seenVersion,
  rejections: approveReasons,
  messages: {
    ...actMessages,
    ...secondMemberMessages,
    not_needed: () => APPROVER_TEXTS.not_needed,
    own_request: () => APPROVER_TEXTS.own_request,
    by_member: () => APPROVER_TEXTS.by_member,
    by_operator: () => APPROVER_TEXTS.by_operator,
  },
  async load(needs: PayoutActNeeds, scope, path, by) {
    const payout = await loadPayout(needs, scope, path);
    if (by.kind !== 'merchant_user') return { ...payout, isAuthorised: true, isSecondUser: true };
    const { id: userId, merchantId } = by;
    return { ...payout, ...(await findAuthority(needs.db, { userId, merchantId }, payout.requestedBy)) };
  },
  allows(payout, by, input) {
    const rejection = findStateRejection('approve', payout, by, input);
    if (rejection !== null) return rejection;
    const reason = findApproverRejection(payout.approvalKind, actorText(by), payout.requestedBy);
    return reason === null ? findSecondMemberRejection(payout) : { reason };
  },
  earlier: (act) => findPerformed(act, 'approve'),
  approval: payoutApproval,
  perform: (act) => actOnPayout(act, 'approve', act.note),
});
