import { z } from 'zod';
import { expireInvitation, listOpenInvitations } from '../../db/identity/invitations';
import { NotFoundError } from '../../errors';
import type { AuditDependencies } from '../audit/audit';
import { Operation } from '../operations/operation';
import { done, rejected } from '../operations/rejections';
import { ofTeam } from './on-member';

/** Ends an invitation that waits. */
export const withdrawInvitation = new Operation({
  name: 'member.withdraw_invitation',
  member: ofTeam,
  path: z.object({ invitation: z.uuid() }),
  input: z.object({}),
  rejections: { ended: {} },
  messages: { ended: () => 'This invitation was used or withdrawn, or it has expired.' },
  async load({ db }: AuditDependencies, scope, { invitation: id }) {
    if (scope === 'all') throw new NotFoundError('invitation', id);
    const open = await listOpenInvitations(db, scope.merchantId, new Date());
    const found = open.find((invitation) => invitation.id === id);
    if (found === undefined) throw new NotFoundError('invitation', id);
    return { ...found, ...scope };
  },
  target: ({ subject }) => subject.id,
  async perform({ needs: { db }, subject }) {
    return (await expireInvitation(db, { ...subject, now: new Date() }))
      ? done(undefined)
      : rejected({ reason: 'ended' });
  },
});
