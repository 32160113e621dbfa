import { randomUUID } from 'node:crypto';
import { snakeCaseKeys } from '../../lib/snake-case';
import { holdMerchant } from '../../services/merchants/hold-merchant';
import { releaseMerchant } from '../../services/merchants/release-merchant';
import { requireDone } from '../../services/operations/require-done';
import type { ApiDependencies } from '../dependencies';
import { operatorEndpoint } from '../endpoint';
import { mapErrors, noteSchema, parseActionBody, uuidInPath } from './operator-request';

export const holdByOperator = merchantHoldEndpoint('hold', holdMerchant);
export const releaseByOperator = merchantHoldEndpoint('release', releaseMerchant);

function merchantHoldEndpoint(path: 'hold' | 'release', operation: typeof holdMerchant | typeof releaseMerchant) {
  return operatorEndpoint({
    method: 'post',
    path: `/operator/merchants/:id/${path}`,
    scope: operation.scope,
    readsBody: true,
    async handler({ db, log, workflows }: Pick<ApiDependencies, 'db' | 'log' | 'workflows'>, request, { actor }) {
      const { note } = parseActionBody(request, noteSchema);
      const call = { path: { merchant: uuidInPath(request) }, input: {}, formId: randomUUID(), note };
      const merchant = await mapErrors('not_found', async () =>
        requireDone(await operation.run({ db, log, workflows }, actor, call)),
      );
      return { status: 200, body: snakeCaseKeys({ merchant }) };
    },
  });
}
