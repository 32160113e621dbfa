import { findAuthority } from '../../db/identity/members';
import { changeBankAccount } from '../../db/transitions/bank-account-transitions';
import { actorText } from '../../domain/actor';
import { Operation } from '../operations/operation';
import { done, rejected } from '../operations/rejections';
import { seenVersion } from './act-on-payout';
import { changeOf, ON_BANK_ACCOUNT, type BankAccountNeeds } from './bank-accounts';
import { payoutUserOf } from './payout-settings';
import { findSecondMemberRejection, secondMemberMessages, secondMemberReasons } from './second-member';

/** A second member confirms a proposal with the holder that they have seen: then Lunas can approve it. */
export const confirmBankAccount = new Operation({
  name: 'bank_account.confirm',
  member: { area: 'bank_account', level: 'manage', stepUp: true },
  ...ON_BANK_ACCOUNT,
  input: seenVersion,
  rejections: { ...secondMemberReasons, no_proposal: {}, superseded: {}, not_needed: {}, own_proposal: {} },
  messages: {
    ...secondMemberMessages,
    no_proposal: () => 'The bank account does not wait for its approval.',
    superseded: () => 'The bank account has changed meanwhile: look at it again.',
    not_needed: () => 'The bank account waits for no second member.',
    own_proposal: () => 'Another member has to confirm it.',
  },
  async load(needs: BankAccountNeeds, scope, path, by) {
    const account = await ON_BANK_ACCOUNT.load(needs, scope, path);
    return { ...account, ...(await findAuthority(needs.db, payoutUserOf(by), account.proposedBy)) };
  },
  /** A trigger has the same rule. */
  allows({ status, version, waitsForMember, proposedBy, ...authority }, by, input) {
    if (status !== 'pending_approval') return { reason: 'no_proposal' };
    if (!waitsForMember) return { reason: 'not_needed' };
    if ((input?.version ?? version) !== version) return { reason: 'superseded' };
    if (proposedBy === actorText(by)) return { reason: 'own_proposal' };
    return findSecondMemberRejection(authority);
  },
  async perform(act) {
    const seen = { ...changeOf(act), version: act.input.version ?? act.subject.version };
    const changed = await changeBankAccount(act.needs.db, 'confirm', seen);
    return changed ? done(changed) : rejected({ reason: 'superseded' });
  },
});
