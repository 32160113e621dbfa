import { z } from 'zod';
import { MEMBER_ROLES } from '../../domain/member-roles';
import { Operation } from '../operations/operation';
import { changeMember, lastOwner, onMember } from './on-member';

/** Changes the role of a member, from the next request on. */
export const setMemberRole = new Operation({
  name: 'member.set_role',
  ...onMember,
  ...lastOwner,
  input: z.object({ role: z.enum(MEMBER_ROLES) }),
  detail: ({ subject, input: { role } }) => ({ before: subject.role, role }),
  perform: ({ needs, subject, by, input: { role } }) => changeMember(needs, subject, by, { role }),
});
