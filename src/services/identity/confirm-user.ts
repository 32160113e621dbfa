import { z } from 'zod';
import { confirmUserRow } from '../../db/identity/users';
import { Operation } from '../operations/operation';
import { done, rejected } from '../operations/rejections';
import { onUser } from './on-user';

/**
 * Operators have spoken to the person: only the user has the login, although another person saw its link or invited it.
 * Then the user counts as a second person for payouts. In production two operators decide it, of the credentials and
 * memberships of that time.
 */
export const confirmUser = new Operation({
  name: 'user.confirm',
  ...onUser,
  input: z.object({}),
  rejections: { not_shown: {}, superseded: {} },
  messages: {
    not_shown: () => 'Only this user has seen the links of the login: nothing to confirm.',
    superseded: () => 'This user has other credentials or memberships since then: speak to the person again.',
  },
  allows: ({ linksShownTo }) => (linksShownTo.length === 0 ? { reason: 'not_shown' } : null),
  approval: { executes: 'database', replaces: ({ linkedSince }) => linkedSince.getTime() },
  async perform({ needs: { db }, subject, approval }) {
    const { userId, email, linksShownTo, linkedSince } = subject;
    const agreed = approval === null ? linkedSince : new Date(approval.replaces ?? 0);
    const isConfirmed = await confirmUserRow(db, { userId, linkedSince: agreed });
    return isConfirmed ? done({ userId, email, linksShownTo }) : rejected({ reason: 'superseded' });
  },
});
