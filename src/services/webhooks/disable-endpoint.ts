import { z } from 'zod';
import { scopeOf } from '../../domain/actor';
import { markDead } from '../../webhooks/mark-dead';
import type { AuditDependencies } from '../audit/audit';
import { Operation } from '../operations/operation';
import { done } from '../operations/rejections';
import { disabledReasonOf, findEndpoint } from './webhook-endpoints';

/**
 * Disables an endpoint. Its pending deliveries become dead, in batches; the relay continues this if the process ends.
 * They can be redelivered after the endpoint is enabled again. An operator can repeat it, and the endpoint keeps its
 * reason.
 */
export const disableEndpoint = new Operation({
  name: 'webhook.disable',
  member: { area: 'developers', level: 'manage', stepUp: true, whileSuspended: true },
  operator: 'all',
  path: z.object({ endpoint: z.uuid() }),
  input: z.object({}),
  rejections: { disabled: {} },
  messages: { disabled: () => 'The endpoint is disabled already.' },
  load: ({ db }: AuditDependencies, scope, { endpoint }) => findEndpoint(db, scope, endpoint),
  target: ({ subject }) => subject.id,
  allows: ({ status }, by) => (by.kind === 'merchant_user' && status === 'disabled' ? { reason: 'disabled' } : null),
  async perform({ needs: { db }, by, subject: { id } }) {
    await db.query(
      `update webhook_endpoints set status = 'disabled', disabled_reason = $2
       where id = $1 and status = 'enabled' and deleted_at is null`,
      [id, disabledReasonOf(by)],
    );
    await markDead(db, id);
    return done(await findEndpoint(db, scopeOf(by), id));
  },
});
