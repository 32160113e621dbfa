import { z } from 'zod';
import { findAuthority } from '../../db/identity/members';
import { findProposedSettings, saveProposedSettings } from '../../db/payouts/payout-settings';
import { actorText, type Person } from '../../domain/actor';
import type { AuditDependencies } from '../audit/audit';
import { Operation } from '../operations/operation';
import { done, rejected } from '../operations/rejections';
import { payoutUserOf } from './payout-settings';
import { findSecondMemberRejection, secondMemberMessages, secondMemberReasons } from './second-member';

/** A second member approves the settings that they have seen. */
export const approvePayoutSettings = new Operation({
  name: 'payout_settings.approve',
  member: { area: 'payouts', level: 'authorise', stepUp: true },
  path: z.object({}),
  input: z.object({ proposal: z.uuid() }),
  rejections: { ...secondMemberReasons, own_proposal: {}, superseded: {} },
  messages: {
    ...secondMemberMessages,
    own_proposal: () => 'Another member has to approve them.',
    superseded: () => 'These settings do not wait any more: look at them again.',
  },
  load: loadProposal,
  target: ({ subject }) => subject.merchantId,
  allows({ proposed, ...authority }, by, input) {
    if (proposed === null || (input !== undefined && input.proposal !== proposed.id)) return { reason: 'superseded' };
    if (proposed.proposedBy === actorText(by)) return { reason: 'own_proposal' };
    return findSecondMemberRejection(authority);
  },
  async perform({ needs: { db }, by, subject: { merchantId }, input: { proposal: id } }) {
    const isSaved = await saveProposedSettings(db, { merchantId, id, approvedBy: actorText(by), now: new Date() });
    return isSaved ? done(null) : rejected({ reason: 'superseded' });
  },
});

/** What waits for a second member, and whether the member may be this one. */
async function loadProposal({ db }: AuditDependencies, _scope: unknown, _path: unknown, by: Person) {
  const user = payoutUserOf(by);
  const proposed = (await findProposedSettings(db, user.merchantId)) ?? null;
  const authority = await findAuthority(db, user, proposed?.proposedBy ?? null);
  return { merchantId: user.merchantId, proposed, ...authority };
}
