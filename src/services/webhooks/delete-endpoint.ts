import { z } from 'zod';
import { requireRow } from '../../db/connection/require-row';
import { markDead } from '../../webhooks/mark-dead';
import type { AuditDependencies } from '../audit/audit';
import { Operation } from '../operations/operation';
import { done } from '../operations/rejections';
import { disabledReasonOf, findEndpoint, type WebhookEndpoint } from './webhook-endpoints';

/**
 * Deletes an endpoint for good: no list has it, and nothing is sent to it again. Its pending deliveries become dead, as
 * those of a disabled endpoint, and cannot be redelivered. Events and deliveries stay as history; its secrets end.
 */
export const deleteEndpoint = new Operation({
  name: 'webhook.delete',
  member: { area: 'developers', level: 'manage', stepUp: true, whileSuspended: true },
  operator: 'all',
  path: z.object({ endpoint: z.uuid() }),
  input: z.object({}),
  rejections: {},
  messages: {},
  load: ({ db }: AuditDependencies, scope, { endpoint }) => findEndpoint(db, scope, endpoint),
  target: ({ subject }) => subject.id,
  async perform({ needs: { db }, by, subject: { id } }) {
    const { rows } = await db.query<Pick<WebhookEndpoint, 'id' | 'merchantId'>>(
      `with endpoint as (
         update webhook_endpoints set status = 'disabled', deleted_at = now(),
           disabled_reason = coalesce(disabled_reason, $2)
         where id = $1 and deleted_at is null
         returning id, merchant_id
       ),
       ended as (
         update webhook_secrets set expires_at = least(expires_at, now()) from endpoint where endpoint_id = endpoint.id
       )
       select id, merchant_id as "merchantId" from endpoint`,
      [id, disabledReasonOf(by)],
    );
    const deleted = requireRow(rows, 'endpoint', id);
    await markDead(db, id);
    return done(deleted);
  },
});
