import { z } from 'zod';
import { findLinkedUser, type LinkedUser } from '../../db/identity/users';
import type { Scope } from '../../domain/actor';
import { NotFoundError } from '../../errors';
import type { AuditDependencies } from '../audit/audit';

/** What every operation of operators on an active user of merchants has. */
export const onUser = {
  operator: 'all',
  path: z.object({ user: z.uuid() }),
  async load({ db }: AuditDependencies, _scope: Scope, { user }: { readonly user: string }): Promise<LinkedUser> {
    const found = await findLinkedUser(db, user);
    if (found === undefined) throw new NotFoundError('user', user);
    return found;
  },
  target: ({ subject }: { readonly subject: LinkedUser }) => subject.userId,
} as const;
