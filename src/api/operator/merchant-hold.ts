import type { OperatorActor } from '../../domain/actor';
import { snakeCaseKeys } from '../../lib/snake-case';
import * as operator from '../../services/merchants/merchant-hold';
import type { Merchant } from '../../services/merchants/merchants';
import type { PaymentActionDependencies } from '../../services/payments/actions/operator-action';
import type { ApiDependencies } from '../dependencies';
import { operatorEndpoint, type OperatorEndpoint } from '../endpoint';
import { mapErrors, noteSchema, parseActionBody, uuidInPath } from './operator-request';

export const holdMerchant = merchantHoldEndpoint('hold', operator.holdMerchant);
export const releaseMerchant = merchantHoldEndpoint('release', operator.releaseMerchant);

function merchantHoldEndpoint(
  path: string,
  change: (
    dependencies: PaymentActionDependencies,
    actor: OperatorActor,
    merchantId: string,
    note: string,
  ) => Promise<Merchant>,
): OperatorEndpoint {
  return operatorEndpoint({
    method: 'post',
    path: `/operator/merchants/:id/${path}`,
    scope: 'settle',
    readsBody: true,
    async handler({ db, log, workflows }: Pick<ApiDependencies, 'db' | 'log' | 'workflows'>, request, { actor }) {
      const { note } = parseActionBody(request, noteSchema);
      const id = uuidInPath(request);
      const merchant = await mapErrors('not_found', () => change({ db, log, workflows }, actor, id, note));
      return { status: 200, body: snakeCaseKeys({ merchant }) };
    },
  });
}
