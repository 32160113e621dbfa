import { withAudit } from '../../services/audit/audit';
import { REDELIVER, redeliver } from '../../services/webhooks/webhook-redelivery';
import type { ApiDependencies } from '../dependencies';
import { operatorEndpoint } from '../endpoint';
import { mapErrors, noteSchema, parseActionBody, uuidInPath } from './operator-request';

/** `not_found` also for a delivery that is pending, or whose endpoint is disabled. */
export const redeliverWebhook = operatorEndpoint({
  method: 'post',
  path: '/operator/deliveries/:id/redeliver',
  scope: 'redeliver',
  readsBody: true,
  async handler({ db, log }: Pick<ApiDependencies, 'db' | 'log'>, request, { actor }) {
    const { note } = parseActionBody(request, noteSchema);
    const id = uuidInPath(request);
    const action = { action: REDELIVER, target: id, note };
    await mapErrors('not_found', () => withAudit({ db, log }, actor, action, () => redeliver(db, [id])));
    return { status: 200, body: { delivery: { id, status: 'pending' } } };
  },
});
