import { z } from 'zod';
import { findInvitee, insertInvitation } from '../../db/identity/invitations';
import { MEMBER_ROLES } from '../../domain/member-roles';
import type { AuditDependencies } from '../audit/audit';
import { Operation } from '../operations/operation';
import { done, rejected } from '../operations/rejections';
import { isMember } from './invite-member';
import { INVITATION_MS, invitedEmail, linkInput, linkOf, validFor } from './new-link';

/**
 * Invites a person to a merchant for 72 hours, from the decision on. In production an operator invites only the first
 * member alone, before a payment: afterwards an owner can.
 */
export const inviteUser = new Operation({
  name: 'user.invite',
  operator: 'all',
  path: z.object({ merchant: z.uuid(), email: invitedEmail }),
  input: linkInput.extend({ role: z.enum(MEMBER_ROLES) }),
  rejections: { ...isMember.reasons, replaced: {} },
  messages: { ...isMember.messages, replaced: () => 'A newer invitation has replaced this link.' },
  load: ({ db }: AuditDependencies, _scope, { merchant, email }) => findInvitee(db, merchant, email),
  target: ({ subject }) => subject.merchantId,
  approval: { executes: 'database', isExempt: ({ mayInviteAlone }) => mayInviteAlone },
  allows: ({ isMember, email }) => (isMember ? { reason: 'is_member', email } : null),
  async perform({ needs: { db }, by, subject: { merchantId, email }, input }) {
    const times = validFor(INVITATION_MS);
    const link = { ...linkOf(by, input), ...times, merchantId, email, role: input.role, yieldsToNewer: true };
    const isInvited = await insertInvitation(db, link);
    return isInvited ? done(times.expiresAt) : rejected({ reason: 'replaced' });
  },
});
