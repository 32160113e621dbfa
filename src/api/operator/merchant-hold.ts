import * as operator from '../../operator/merchant-hold';
import type { Merchant } from '../../operator/merchants';
import type { OperatorContext } from '../../operator/payment-actions';
import { snakeCaseKeys } from '../../snake-case';
import { operatorEndpoint, type OperatorEndpoint } from '../endpoint';
import { mapErrors, noteSchema, parseActionBody, uuidInPath } from './operator-request';

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
    async handler({ db, workflows }, request, { actor }) {
      const { note } = parseActionBody(request, noteSchema);
      const id = uuidInPath(request);
      const merchant = await mapErrors('not_found', () => change({ db, workflows, by: actor }, id, note));
      return { status: 200, body: snakeCaseKeys({ merchant }) };
    },
  });
}
