import { randomUUID } from 'node:crypto';
import { redeliver, requireRedelivered } from '../../services/webhooks/redeliver';
import type { ApiDependencies } from '../dependencies';
import { operatorEndpoint } from '../endpoint';
import { mapErrors, noteSchema, parseActionBody, uuidInPath } from './operator-request';

/** `not_found` also for a delivery that is pending, or whose endpoint is disabled. */
export const redeliverWebhook = operatorEndpoint({
  method: 'post',
  path: '/operator/deliveries/:id/redeliver',
  scope: redeliver.scope,
  readsBody: true,
  async handler({ db, log }: Pick<ApiDependencies, 'db' | 'log'>, request, { actor }) {
    const { note } = parseActionBody(request, noteSchema);
    const id = uuidInPath(request);
    const call = { path: { deliveries: [id] }, input: {}, formId: randomUUID(), note };
    await mapErrors('not_found', async () => requireRedelivered(await redeliver.run({ db, log }, actor, call)));
    return { status: 200, body: { delivery: { id, status: 'pending' } } };
  },
});
