import { z } from 'zod';
import { requireRow } from '../../db/connection/require-row';
import { disableUserRow } from '../../db/identity/users';
import type { AuditDependencies } from '../audit/audit';
import { Operation } from '../operations/operation';
import { done } from '../operations/rejections';

/** The user cannot sign in any more, and is signed out. Memberships stay. */
export const disableUser = new Operation({
  name: 'user.disable',
  operator: 'all',
  path: z.object({ user: z.uuid() }),
  input: z.object({}),
  rejections: {},
  messages: {},
  async load({ db }: AuditDependencies, _scope, { user }) {
    const { rows } = await db.query<{ id: string }>('select id from users where id = $1', [user]);
    return requireRow(rows, 'user', user);
  },
  target: ({ subject }) => subject.id,
  async perform({ needs: { db }, subject: { id } }) {
    await disableUserRow(db, id, new Date());
    return done(id);
  },
});
