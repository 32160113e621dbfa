import { referenceIdOf } from '../../../crypto/reference-id';
import { findCurrentPolicy, type Policy } from '../../../db/operations/find-current-policy';
import { amountsOf, type Amounts } from '../../../domain/fees';
import { formatRupiah, MAX_TOTAL_RUPIAH } from '../../../domain/money';
import type { PaymentTerms } from '../../../domain/payment';
import { ApiError } from '../../../http/api-error';
import type { AuthenticatedMerchant } from '../../../http/auth/authenticate';
import type { ApiDependencies } from '../../dependencies';
import { paymentIdentity, type PaymentIdentity } from './payment-identity';
import type { PaymentRequest } from './payment-request';
import { fingerprintOf } from './request-fingerprint';

/** The request for a payment, and the payment's identity. */
export interface PaymentDraft {
  readonly request: PaymentRequest;
  readonly fingerprint: string;
  readonly identity: PaymentIdentity;
}

/** The merchant of a new payment, created by its key or by a member. */
export type CreatingMerchant = Omit<AuthenticatedMerchant, 'keyId' | 'scopes'>;

export function draftPayment(
  { derivedKeys }: Pick<ApiDependencies, 'derivedKeys'>,
  { merchantId }: Pick<CreatingMerchant, 'merchantId'>,
  request: PaymentRequest,
  idempotencyKey: string | null,
): PaymentDraft {
  const identity = paymentIdentity(merchantId, idempotencyKey);
  return { request, fingerprint: fingerprintOf(request, derivedKeys), identity };
}

/** The newest policy of a provider, and our provider account. */
export interface ResolvedPolicy {
  readonly policy: Policy;
  readonly providerAccountId: string;
}

/** @throws ApiError if the merchant or the catalog does not allow the provider */
export async function resolvePolicy(
  { db }: Pick<ApiDependencies, 'db'>,
  merchant: CreatingMerchant,
  request: Pick<PaymentRequest, 'provider' | 'payment_method'>,
): Promise<ResolvedPolicy> {
  if (!merchant.paymentMethodActive) throw new ApiError('payment_method_inactive', 'qris is not active for you.');
  if (!merchant.providers.includes(request.provider)) {
    throw new ApiError('provider_not_enabled', `provider ${request.provider} is not enabled for you.`);
  }
  const { policy, providerAccountId } = await findCurrentPolicy(db, request.provider, request.payment_method);
  if (!policy || !providerAccountId) {
    throw new ApiError('provider_unavailable', `provider ${request.provider} is not available at present.`);
  }
  return { policy, providerAccountId };
}

/**
 * Fixes the terms of the new payment: its amounts under the policy, and the provider account.
 * @throws ApiError if the amount is not possible with the fee
 */
export function captureTerms(
  merchant: CreatingMerchant,
  { request, fingerprint, identity }: PaymentDraft,
  { policy, providerAccountId }: ResolvedPolicy,
): PaymentTerms {
  const { policyId, settlementKind, settlementDelaySeconds, expiresInSeconds } = policy;
  return {
    ...identity,
    referenceId: referenceIdOf('LN', identity.paymentId),
    merchantId: merchant.merchantId,
    merchantReferenceId: request.merchant_reference_id,
    fingerprint,
    paymentMethod: request.payment_method,
    provider: request.provider,
    providerAccountId,
    ...computeAmounts(request.amount, policy, merchant),
    feePayer: merchant.feePayer,
    policyId,
    settlementKind,
    settlementDelaySeconds,
    expiresInSeconds,
  };
}

function computeAmounts(amountRupiah: number, policy: Policy, { feePayer }: CreatingMerchant): Amounts {
  const computed = amountsOf(amountRupiah, policy, feePayer);
  const fee = formatRupiah(computed.outcome === 'ok' ? 0 : computed.feeRupiah);
  switch (computed.outcome) {
    case 'ok':
      return computed.amounts;
    case 'total_above_limit':
      throw new ApiError('total_too_large', `amount and its fee of ${fee} exceed ${formatRupiah(MAX_TOTAL_RUPIAH)}.`);
    case 'fee_reaches_amount':
      throw new ApiError('fee_reaches_amount', `amount does not exceed its fee of ${fee}, which you pay.`);
  }
}
