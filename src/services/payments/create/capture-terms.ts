import { referenceIdOf } from '../../../crypto/reference-id';
import type { Queryable } from '../../../db/connection/pool';
import type { CreatingMerchantRow } from '../../../db/merchants/find-creating-merchant';
import { findCurrentPolicy, type CurrentPolicy, type Policy } from '../../../db/operations/find-current-policy';
import { feeTermsOf, NO_RATES } from '../../../domain/fee-terms';
import { amountsOf, type Amounts } from '../../../domain/fees';
import type { PaymentTerms } from '../../../domain/payment';
import { isAtShop } from '../../merchants/shop-address';
import { CreationRejectedError, type CreateRejection } from './create-rejection';
import type { NewPayment } from './new-payment';
import type { PaymentDraft } from './payment-draft';

/** The newest policy of a provider, and our provider account. */
export interface ResolvedPolicy {
  readonly policy: Policy;
  readonly providerAccountId: string;
}

type ProviderChoice = Pick<NewPayment, 'provider' | 'paymentMethod'>;

/** @throws CreationRejectedError if the merchant or the catalog does not allow the provider */
export async function resolvePolicy(
  { db }: { readonly db: Queryable },
  merchant: CreatingMerchantRow,
  request: ProviderChoice,
): Promise<ResolvedPolicy> {
  requireProvider(merchant, request);
  const query = { merchantId: merchant.merchantId, provider: request.provider, channel: request.paymentMethod };
  return requirePolicy(request, await findCurrentPolicy(db, query));
}

/**
 * Why the merchant cannot have a payment of this amount under the newest policy of the provider; null: nothing is known
 * that prevents it.
 */
export function findTermsRejection(
  merchant: CreatingMerchantRow,
  request: ProviderChoice & Pick<NewPayment, 'amountRupiah'>,
  current: CurrentPolicy | undefined,
): CreateRejection | null {
  try {
    requireProvider(merchant, request);
    computeAmounts(request.amountRupiah, requirePolicy(request, current).policy, merchant);
    return null;
  } catch (error) {
    if (error instanceof CreationRejectedError) return error.rejection;
    throw error;
  }
}

function requireProvider(merchant: CreatingMerchantRow, { provider, paymentMethod }: ProviderChoice): void {
  if (!merchant.paymentMethodActive) {
    throw new CreationRejectedError({ reason: 'payment_method_inactive', paymentMethod });
  }
  if (!merchant.providers.includes(provider)) {
    throw new CreationRejectedError({ reason: 'provider_not_enabled', provider });
  }
}

function requirePolicy({ provider }: ProviderChoice, current: CurrentPolicy | undefined): ResolvedPolicy {
  const { policy, providerAccountId } = current ?? {};
  if (!policy || !providerAccountId) throw new CreationRejectedError({ reason: 'provider_unavailable', provider });
  return { policy, providerAccountId };
}

/**
 * Fixes the terms of the new payment: its amounts under the policy, and the provider account.
 * @throws CreationRejectedError if the amount is not possible with the fee, or the return URL is not at the shop
 */
export function captureTerms(
  merchant: CreatingMerchantRow,
  { request, fingerprint, identity }: PaymentDraft,
  { policy, providerAccountId }: ResolvedPolicy,
): PaymentTerms {
  requireOwnReturnUrl(merchant, request.returnUrl);
  const { policyId, settlementKind, settlementDelaySeconds } = policy;
  return {
    ...identity,
    referenceId: referenceIdOf('LN', merchant.cell, identity.paymentId),
    merchantId: merchant.merchantId,
    merchantReferenceId: request.merchantReferenceId,
    fingerprint,
    paymentMethod: request.paymentMethod,
    provider: request.provider,
    providerAccountId,
    ...computeAmounts(request.amountRupiah, policy, merchant),
    feePayer: merchant.feePayer,
    policyId,
    settlementKind,
    settlementDelaySeconds,
    expiresInSeconds: request.expiresInSeconds ?? policy.expiresInSeconds,
  };
}

function requireOwnReturnUrl(merchant: CreatingMerchantRow, returnUrl: string | null): void {
  if (returnUrl === null || isAtShop(merchant, returnUrl)) return;
  throw new CreationRejectedError({ reason: 'return_url_not_allowed', origin: new URL(returnUrl).origin });
}

function computeAmounts(amountRupiah: number, policy: Policy, { feePayer }: CreatingMerchantRow): Amounts {
  const computed = amountsOf(amountRupiah, feeTermsOf(amountRupiah, policy, NO_RATES), feePayer);
  switch (computed.outcome) {
    case 'ok':
      return computed.amounts;
    case 'total_above_limit':
      throw new CreationRejectedError({ reason: 'total_too_large', feeRupiah: computed.feeRupiah });
    case 'fee_reaches_amount':
      throw new CreationRejectedError({ reason: 'fee_reaches_amount', feeRupiah: computed.feeRupiah });
  }
}
