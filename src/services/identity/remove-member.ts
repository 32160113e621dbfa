import { z } from 'zod';
import { listKeysOfCreator } from '../merchants/keys/api-key';
import { Operation } from '../operations/operation';
import { changeMember, lastOwner, onMember } from './on-member';

/**
 * Ends a membership: the next request of the user is rejected. With `revokesKeys` the keys that the member created are
 * revoked in the same statement.
 */
export const removeMember = new Operation({
  name: 'member.remove',
  ...onMember,
  ...lastOwner,
  input: z.object({ revokesKeys: z.boolean() }),
  async load(needs, scope, path) {
    const member = await onMember.load(needs, scope, path);
    return { ...member, keys: await listKeysOfCreator(needs.db, member) };
  },
  detail: ({ subject: { keys }, input: { revokesKeys } }) => ({
    revoke_keys: revokesKeys,
    keys: revokesKeys ? keys.map(({ id }) => id) : [],
  }),
  perform: ({ needs, subject, by, input: { revokesKeys } }) =>
    changeMember(needs, subject, by, { role: null, revokesKeys }),
});
