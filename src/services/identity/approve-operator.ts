import { z } from 'zod';
import type { AuditDependencies } from '../audit/audit';
import { Operation } from '../operations/operation';
import { done } from '../operations/rejections';
import { findOperatorById } from './operators';

/** Accepts the key of an operator whom another one has created. In production two operators decide it. */
export const approveOperator = new Operation({
  name: 'operator.approve',
  operator: 'all',
  path: z.object({ operator: z.uuid() }),
  /** The login of PostgreSQL with which the operator would decide. */
  input: z.object({ login: z.string().nullable() }),
  rejections: {},
  messages: {},
  load: ({ db }: AuditDependencies, _scope, { operator }) => findOperatorById(db, operator),
  target: ({ subject }) => subject.name,
  approval: { executes: 'database' },
  async perform({ needs: { db }, subject }) {
    await db.query('update operators set is_approved = true where id = $1', [subject.id]);
    return done(subject.id);
  },
});
