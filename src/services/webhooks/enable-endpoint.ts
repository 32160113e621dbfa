import { z } from 'zod';
import { scopeOf } from '../../domain/actor';
import { RESET_HEALTH } from '../../webhooks/record-attempt';
import type { AuditDependencies } from '../audit/audit';
import { Operation } from '../operations/operation';
import { done } from '../operations/rejections';
import { findEndpoint } from './webhook-endpoints';

/** Enables an endpoint and resets its health. An operator can repeat it, for the health alone. */
export const enableEndpoint = new Operation({
  name: 'webhook.enable',
  member: { area: 'developers', level: 'manage', stepUp: true },
  operator: 'all',
  path: z.object({ endpoint: z.uuid() }),
  input: z.object({}),
  rejections: { enabled: {} },
  messages: { enabled: () => 'The endpoint is enabled already.' },
  load: ({ db }: AuditDependencies, scope, { endpoint }) => findEndpoint(db, scope, endpoint),
  target: ({ subject }) => subject.id,
  allows: ({ status }, by) => (by.kind === 'merchant_user' && status === 'enabled' ? { reason: 'enabled' } : null),
  async perform({ needs: { db }, by, subject: { id } }) {
    await db.query(
      `update webhook_endpoints set status = 'enabled', disabled_reason = null, ${RESET_HEALTH}
       where id = $1 and deleted_at is null`,
      [id],
    );
    return done(await findEndpoint(db, scopeOf(by), id));
  },
});
