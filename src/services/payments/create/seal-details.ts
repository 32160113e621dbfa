import type { Sealer } from '../../../crypto/sealing';
import type { SealedDetails } from '../../../db/payments/payment-details';
import type { PaymentDraft } from './payment-draft';

/** `customer` and `metadata` of the requests that have one of them, sealed. */
export function sealDetails({ sealer }: { readonly sealer: Sealer }, drafts: readonly PaymentDraft[]): SealedDetails[] {
  return drafts.flatMap(({ request: { customer, metadata }, fingerprint, identity: { paymentId } }) => {
    if (customer === null && metadata === null) return [];
    const sealed = sealer.seal(JSON.stringify({ customer, metadata }), ['payment-details', paymentId]);
    return [{ paymentId, fingerprint, sealed }];
  });
}
