import { insertResetLink } from '../../db/identity/reset-links';
import { NotFoundError } from '../../errors';
import { Operation } from '../operations/operation';
import { done } from '../operations/rejections';
import { linkInput, linkOf, RESET_MS, validFor } from './new-link';
import { onUser } from './on-user';

/**
 * A link for one hour, from the decision on, by which a user sets a new password. It replaces every credential of the
 * user: who has it becomes the user. In production two operators decide it.
 */
export const resetUser = new Operation({
  name: 'user.reset',
  ...onUser,
  input: linkInput,
  rejections: {},
  messages: {},
  approval: { executes: 'database' },
  async perform({ needs: { db }, by, subject: { userId }, input }) {
    const times = validFor(RESET_MS);
    const result = await insertResetLink(db, { ...linkOf(by, input), ...times, userId, merchantId: null });
    if (result !== 'created') throw new NotFoundError('user', userId);
    return done(times.expiresAt);
  },
});
