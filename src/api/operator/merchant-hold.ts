import * as operator from '../../services/merchants/merchant-hold';
import type { Merchant } from '../../services/merchants/merchants';
import type { OperatorContext } from '../../services/payments/payment-actions';
import { snakeCaseKeys } from '../../lib/snake-case';
import { operatorEndpoint, type OperatorEndpoint } from '../endpoint';
import { mapErrors, noteSchema, parseActionBody, uuidInPath } from './operator-request';
import type { ApiDependencies } from '../dependencies';

export const holdMerchant = merchantHoldEndpoint('hold', operator.holdMerchant);
export const releaseMerchant = merchantHoldEndpoint('release', operator.releaseMerchant);

function merchantHoldEndpoint(
  path: string,
  change: (context: OperatorContext, merchantId: string, note: string) => Promise<Merchant>,
): OperatorEndpoint {
  return operatorEndpoint({
    method: 'post',
    path: `/operator/merchants/:id/${path}`,
    scope: 'settle',
    readsBody: true,
    async handler({ db, workflows }: Pick<ApiDependencies, 'db' | 'workflows'>, request, { actor }) {
      const { note } = parseActionBody(request, noteSchema);
      const id = uuidInPath(request);
      const merchant = await mapErrors('not_found', () => change({ db, workflows, by: actor }, id, note));
      return { status: 200, body: snakeCaseKeys({ merchant }) };
    },
  });
}
