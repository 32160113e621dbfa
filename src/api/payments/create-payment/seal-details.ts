import type { SealedDetails } from '../../../db/payments/payment-details';
import type { ApiDependencies } from '../../dependencies';
import type { PaymentDraft } from './capture-terms';

/** `customer` and `metadata` of the requests that have one of them, sealed. */
export function sealDetails(
  { sealer }: Pick<ApiDependencies, 'sealer'>,
  drafts: readonly PaymentDraft[],
): SealedDetails[] {
  return drafts.flatMap(({ request: { customer, metadata }, fingerprint, identity: { paymentId } }) => {
    if (customer === null && metadata === null) return [];
    const sealed = sealer.seal(JSON.stringify({ customer, metadata }), ['payment-details', paymentId]);
    return [{ paymentId, fingerprint, sealed }];
  });
}
