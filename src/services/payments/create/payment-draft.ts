import type { DerivedKeys } from '../../../crypto/derived-keys';
import type { Sealer } from '../../../crypto/sealing';
import type { CreatingMerchantRow } from '../../../db/merchants/find-creating-merchant';
import type { SealedDetails } from '../../../db/payments/payment-details';
import { sealDetails } from '../payment-details';
import type { NewPayment } from './new-payment';
import { paymentIdentity, type PaymentIdentity } from './payment-identity';
import { fingerprintOf } from './request-fingerprint';

/** A requested payment, with its identity. */
export interface PaymentDraft {
  readonly request: NewPayment;
  readonly fingerprint: string;
  readonly identity: PaymentIdentity;
}

export function draftPayment(
  { derivedKeys }: { readonly derivedKeys: DerivedKeys },
  { merchantId }: Pick<CreatingMerchantRow, 'merchantId'>,
  request: NewPayment,
  idempotencyKey: string | null,
): PaymentDraft {
  const identity = paymentIdentity(merchantId, idempotencyKey);
  return { request, fingerprint: fingerprintOf(request, derivedKeys), identity };
}

/** The details of the requests that have some, sealed. */
export function sealedDetailsOf(
  { sealer }: { readonly sealer: Sealer },
  drafts: readonly PaymentDraft[],
): SealedDetails[] {
  return drafts.flatMap(({ request, fingerprint, identity: { paymentId } }) => {
    const sealed = sealDetails(sealer, paymentId, request);
    return sealed === null ? [] : [{ paymentId, fingerprint, sealed }];
  });
}
