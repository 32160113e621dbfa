import { z } from 'zod';
import { insertResetLink } from '../../db/identity/reset-links';
import { actorText } from '../../domain/actor';
import { NotFoundError } from '../../errors';
import { Operation } from '../operations/operation';
import { done, rejected } from '../operations/rejections';
import { newLink, RESET_MS, validFor } from './new-link';
import { onMember } from './on-member';

/**
 * A link for one hour, by which a member sets a new password. It replaces every credential of the user. The owner who
 * passes the link on could use it, and would then be the user at every merchant. So an owner resets only a user whose
 * only merchant is the owner's: there the owner could give themselves the same rights. Lunas resets all others.
 */
export const resetMember = new Operation({
  name: 'member.reset',
  ...onMember,
  input: z.object({}),
  rejections: { own_login: {}, other_merchants: {} },
  messages: {
    own_login: () => 'Another owner resets a login: the own one is changed in the profile.',
    other_merchants: () => 'This user is a member of other merchants too: Lunas resets the login.',
  },
  allows: ({ userId }, by) => (actorText(by) === `user:${userId}` ? { reason: 'own_login' } : null),
  async perform({ needs: { db }, by, subject: { merchantId, userId, name } }) {
    const { token, ...link } = newLink();
    const times = validFor(RESET_MS);
    const result = await insertResetLink(db, { ...link, ...times, merchantId, userId, createdBy: actorText(by) });
    if (result === 'unknown') throw new NotFoundError('user', userId);
    if (result === 'other_merchants') return rejected({ reason: 'other_merchants' });
    return done({ name, token, expiresAt: times.expiresAt });
  },
});
