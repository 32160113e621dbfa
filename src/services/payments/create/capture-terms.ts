import { referenceIdOf } from '../../../crypto/reference-id';
import type { Queryable } from '../../../db/connection/pool';
import type { CreatingMerchantRow } from '../../../db/merchants/find-creating-merchant';
import { findCurrentPolicy, type CurrentPolicy, type Policy } from '../../../db/operations/find-current-policy';
import { feeTermsOf } from '../../../domain/fee-terms';
import { amountsOf, vatOf, type Amounts, type FeeTerms } from '../../../domain/fees';
import type { PaymentTerms } from '../../../domain/payment';
import { isAtShop } from '../../merchants/shop-address';
import { CreationRejectedError, type CreateRejection } from './create-rejection';
import type { NewPayment } from './new-payment';
import type { PaymentDraft } from './payment-draft';

/** The newest policy of a provider, the rates of the merchant, and our provider account. */
export interface ResolvedPolicy extends Pick<CurrentPolicy, 'rates'> {
  readonly policy: Policy;
  readonly providerAccountId: string;
}

interface RatedAmounts extends Amounts {
  readonly feeTerms: FeeTerms;
  readonly vatRupiah: number;
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
    requireAmounts(merchant, request, current);
    return null;
  } catch (error) {
    if (error instanceof CreationRejectedError) return error.rejection;
    throw error;
  }
}

/**
 * The rate and the amounts that a payment would have.
 * @throws CreationRejectedError if the merchant cannot have it
 */
export function requireAmounts(
  merchant: CreatingMerchantRow,
  request: ProviderChoice & Pick<NewPayment, 'amountRupiah'>,
  current: CurrentPolicy | undefined,
): RatedAmounts {
  requireProvider(merchant, request);
  return computeAmounts(request.amountRupiah, requirePolicy(request, current), merchant);
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
  const { policy, rates, providerAccountId } = current ?? {};
  if (!policy || !rates || !providerAccountId) {
    throw new CreationRejectedError({ reason: 'provider_unavailable', provider });
  }
  return { policy, rates, providerAccountId };
}

/**
 * Fixes the terms of the new payment: its rate and its amounts, and the provider account.
 * @throws CreationRejectedError if the amount is not possible with the fee, or the return URL is not at the shop
 */
export function captureTerms(
  merchant: CreatingMerchantRow,
  { request, fingerprint, identity }: PaymentDraft,
  resolved: ResolvedPolicy,
): PaymentTerms {
  requireOwnReturnUrl(merchant, request.returnUrl);
  const { policy, providerAccountId } = resolved;
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
    ...computeAmounts(request.amountRupiah, resolved, merchant),
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

/** What of a resolved policy decides about the fee. */
type FeeBasis = Pick<ResolvedPolicy, 'policy' | 'rates'>;

/** @throws CreationRejectedError if the amount is not possible with its fee */
function computeAmounts(
  amountRupiah: number,
  { policy, rates }: FeeBasis,
  { feePayer }: Pick<CreatingMerchantRow, 'feePayer'>,
): RatedAmounts {
  const feeTerms = feeTermsOf(amountRupiah, policy, rates);
  const computed = amountsOf(amountRupiah, feeTerms, feePayer);
  switch (computed.outcome) {
    case 'ok':
      return { ...computed.amounts, feeTerms, vatRupiah: vatOf(computed.amounts.feeRupiah, feeTerms) };
    case 'total_above_limit':
      throw new CreationRejectedError({ reason: 'total_too_large', feeRupiah: computed.feeRupiah });
    case 'fee_reaches_amount':
      throw new CreationRejectedError({ reason: 'fee_reaches_amount', feeRupiah: computed.feeRupiah });
  }
}
