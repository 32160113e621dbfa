import { z } from 'zod';
import { actorText } from '../../domain/actor';
import type { AuditDependencies } from '../audit/audit';
import { Operation } from '../operations/operation';
import { done } from '../operations/rejections';
import { createDevelopmentLink } from './sessions';

/** A link that signs a user of a sandbox in, once and without a password. */
export const linkUser = new Operation({
  name: 'user.link',
  operator: 'all',
  path: z.object({}),
  input: z.object({ email: z.email() }),
  rejections: {},
  messages: {},
  load: (needs: AuditDependencies) => Promise.resolve(needs),
  target: ({ input }) => input.email,
  async perform({ needs: { db }, by, input: { email } }) {
    const request = { realm: 'merchant', email, createdBy: actorText(by) } as const;
    return done(await createDevelopmentLink(db, request, new Date()));
  },
});
