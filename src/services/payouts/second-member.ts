import type { Authority } from '../../db/identity/members';
import type { Reasons, Rejection, RejectionTexts } from '../operations/rejections';

/** Why a member is not the second person for what another one requested or proposed. */
export const secondMemberReasons = { member_too_new: {}, same_person: {} } as const satisfies Reasons;

export const secondMemberMessages: RejectionTexts<typeof secondMemberReasons> = {
  member_too_new: () => 'Role and credentials of the member are less than a day old.',
  same_person: () => 'The two members do not count as two people.',
};

/** Null: the member is the second person. Triggers have the same rule. */
export function findSecondMemberRejection({
  isAuthorised,
  isSecondUser,
}: Authority): Rejection<typeof secondMemberReasons> | null {
  if (isSecondUser) return null;
  return { reason: isAuthorised ? 'same_person' : 'member_too_new' };
}
