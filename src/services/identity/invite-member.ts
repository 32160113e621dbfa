import { z } from 'zod';
import { insertInvitation } from '../../db/identity/invitations';
import { actorText } from '../../domain/actor';
import { MEMBER_ROLES } from '../../domain/member-roles';
import { ofMerchant } from '../merchants/merchants';
import { Operation } from '../operations/operation';
import { done, rejected } from '../operations/rejections';
import { INVITATION_MS, invitedEmail, newLink, validFor } from './new-link';
import { ofTeam } from './on-member';

/** An invited person is a member. */
export const isMember = {
  reasons: { is_member: { email: z.string() } },
  messages: {
    is_member: ({ email }: { readonly email: string }) => `${email} is a member of this merchant already.`,
  },
} as const;

/** Invites a person for 72 hours. An earlier invitation of the same e-mail ends. */
export const inviteMember = new Operation({
  name: 'member.invite',
  ...ofMerchant,
  member: ofTeam,
  input: z.object({ email: invitedEmail, role: z.enum(MEMBER_ROLES) }),
  rejections: isMember.reasons,
  messages: isMember.messages,
  // The e-mail is in the invitation. It is not written into the log, from which nothing is deleted.
  detail: ({ input: { role } }) => ({ role }),
  async perform({ needs: { db }, by, subject, input }) {
    const { token, ...link } = newLink();
    const times = validFor(INVITATION_MS);
    const invitation = { ...link, ...times, ...input, merchantId: subject.id, createdBy: actorText(by) };
    if (!(await insertInvitation(db, invitation))) return rejected({ reason: 'is_member', email: input.email });
    return done({ email: input.email, token, expiresAt: times.expiresAt });
  },
});
