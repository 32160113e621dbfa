import { withAudit } from '../../operator/audit';
import { redeliver } from '../../operator/webhook-redelivery';
import type { OperatorEndpoint } from '../endpoint';
import { noteSchema, parseActionBody, mapErrors, uuidInPath } from './operator-request';

/** `POST /operator/deliveries/:id/redeliver`; one that is pending, or whose endpoint is disabled, is not there to be sent. */
export const redeliverWebhook: OperatorEndpoint = async ({ db }, request, { actor }) => {
  const { note } = parseActionBody(request, noteSchema);
  const id = uuidInPath(request);
  const action = { action: 'webhook.redeliver', target: id, note } as const;
  await mapErrors('not_found', () => withAudit(db, actor, action, () => redeliver(db, [id])));
  return { status: 200, body: { delivery: { id, status: 'pending' } } };
};
