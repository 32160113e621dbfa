import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { PAYOUT_STATUSES } from '../../domain/payout-transitions';
import { snakeCaseKeys } from '../../lib/snake-case';
import { requireDone } from '../../services/operations/require-done';
import { listAllPayouts } from '../../services/payouts/list-all-payouts';
import * as record from '../../services/payouts/show-payout';
import { startPayouts } from '../../services/payouts/start-payouts';
import { stopPayouts } from '../../services/payouts/stop-payouts';
import type { ApiDependencies } from '../dependencies';
import { operatorEndpoint } from '../endpoint';
import { readQuery } from '../read-query';
import { limitSchema, mapErrors, noteSchema, parseActionBody, payoutInPath } from './operator-request';

const querySchema = z.object({
  limit: limitSchema,
  status: z.enum(PAYOUT_STATUSES, { error: 'must be a status of payouts' }).optional(),
  merchant_id: z.uuid({ error: 'must be a UUID' }).optional(),
  needs_attention: z.enum(['true', 'false'], { error: 'must be true or false' }).default('false'),
});

/** The payouts of all merchants, newest first. */
export const listPayouts = operatorEndpoint({
  method: 'get',
  path: '/operator/payouts',
  scope: 'read',
  async handler({ db }: Pick<ApiDependencies, 'db'>, request) {
    const { limit, status, merchant_id: merchantId, needs_attention: needsAttention } = readQuery(request, querySchema);
    const payouts = await listAllPayouts(db, {
      merchantId: merchantId ?? null,
      status: status ?? null,
      needsAttention: needsAttention === 'true',
      limit,
    });
    return { status: 200, body: snakeCaseKeys({ payouts }) };
  },
});

/** What PostgreSQL and the workflow contain of a payout, of any merchant. */
export const showPayout = operatorEndpoint({
  method: 'get',
  path: '/operator/payouts/:id',
  scope: 'read',
  async handler({ db, workflows }: Pick<ApiDependencies, 'db' | 'workflows'>, request) {
    const details = await mapErrors('not_found', () => record.showPayout(db, workflows.payouts, payoutInPath(request)));
    return { status: 200, body: snakeCaseKeys(details) };
  },
});

export const stopPayoutsByOperator = stopEndpoint('stop', stopPayouts);
export const startPayoutsByOperator = stopEndpoint('start', startPayouts);

function stopEndpoint(path: 'stop' | 'start', operation: typeof stopPayouts | typeof startPayouts) {
  return operatorEndpoint({
    method: 'post',
    path: `/operator/payouts/${path}`,
    scope: operation.scope,
    readsBody: true,
    async handler({ db, log }: Pick<ApiDependencies, 'db' | 'log'>, request, { actor }) {
      const call = { path: {}, input: {}, formId: randomUUID(), ...parseActionBody(request, noteSchema) };
      await mapErrors('payment_cancel_failed', async () => requireDone(await operation.run({ db, log }, actor, call)));
      return { status: 200, body: { is_stopped: path === 'stop' } };
    },
  });
}
