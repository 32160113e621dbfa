import { v5 as uuidV5, v7 as uuidV7 } from 'uuid';
import type { DerivedKeys } from '../../crypto/derived-keys';
import { referenceIdOf } from '../../crypto/reference-id';
import type { Queryable } from '../../db/connection/pool';
import { onlyRow } from '../../db/connection/require-row';
import { findLink } from '../../db/links/find-link';
import type { PaymentLinkRow } from '../../db/links/payment-link-row';
import { insertLink } from '../../db/links/store-link';
import type { CreatingMerchantRow } from '../../db/merchants/find-creating-merchant';
import { findCurrentPolicy } from '../../db/operations/find-current-policy';
import type { ActorText } from '../../domain/actor';
import { LINK_END_MS, linkAmountOf, type LinkAmountRejection, type NewLinkTerms } from '../../domain/payment-link';
import type { ProviderName } from '../../domain/provider-capabilities';
import { isAtShop } from '../merchants/shop-address';
import { findTermsRejection } from '../payments/create/capture-terms';
import type { CreateRejection } from '../payments/create/create-rejection';
import { isSameLink, linkFingerprint } from './link-fingerprint';

/** What creates payment links. */
export interface LinkDependencies {
  readonly db: Queryable;
  readonly derivedKeys: DerivedKeys;
}

/** No payment of the amount is possible with its fee. */
export type FeeRejection = CreateRejection<'fee_reaches_amount' | 'total_too_large'>;

/** Why a link is not created. */
export type LinkRejection =
  | { readonly reason: LinkAmountRejection }
  | FeeRejection
  | { readonly reason: 'provider_not_enabled'; readonly provider: ProviderName }
  /** The return URL is not at a registered address of the shop. */
  | { readonly reason: 'return_url_not_allowed'; readonly origin: string }
  /** The end is too near or too far. */
  | { readonly reason: 'expires_at_out_of_range' }
  /** The idempotency key has another link. */
  | { readonly reason: 'idempotency_key_reused' };

interface CreatedLink {
  readonly outcome: 'created';
  /** With its present figures. */
  readonly link: PaymentLinkRow;
  /** An earlier request with the key created it. */
  readonly isRepeat: boolean;
}

export interface NewLinkRequest {
  readonly terms: NewLinkTerms;
  readonly idempotencyKey: string | null;
  readonly by: ActorText;
  readonly now: Date;
}

/** The id of the link of a key, so that the same key is the same link. Without a key each request creates a link. */
export function linkIdOf(merchantId: string, idempotencyKey: string | null): string {
  return idempotencyKey === null ? uuidV7() : uuidV5(`link:${idempotencyKey}`, merchantId);
}

/** Creates a link, or finds the one of an earlier request with the key. */
export async function createPaymentLink(
  dependencies: LinkDependencies,
  merchant: CreatingMerchantRow,
  { terms: named, idempotencyKey, by, now }: NewLinkRequest,
): Promise<CreatedLink | { readonly outcome: 'rejected'; readonly rejection: LinkRejection }> {
  const { db, derivedKeys } = dependencies;
  const { merchantId } = merchant;
  const amount = linkAmountOf(named);
  if (typeof amount === 'string') return { outcome: 'rejected', rejection: { reason: amount } };
  const terms = { ...named, ...amount };
  const id = linkIdOf(merchantId, idempotencyKey);
  const earlier = idempotencyKey === null ? undefined : await findLink(db, { merchantId }, { id });
  const rejection =
    earlier === undefined
      ? (findLinkRejection(merchant, terms, now) ?? (await findFeeRejection(db, merchant, terms)))
      : null;
  if (rejection !== null) return { outcome: 'rejected', rejection };
  const isNew =
    earlier === undefined &&
    (await insertLink(db, {
      ...terms,
      id,
      referenceId: referenceIdOf('LK', merchant.cell, id),
      merchantId,
      idempotencyKey,
      fingerprint: linkFingerprint(terms, derivedKeys),
      createdAt: now,
      createdBy: by,
    }));
  const link = earlier ?? onlyRow([await findLink(db, { merchantId }, { id })].flatMap((found) => found ?? []));
  if (!isNew && !(await isSameLink(link.fingerprint, terms, derivedKeys))) {
    return { outcome: 'rejected', rejection: { reason: 'idempotency_key_reused' } };
  }
  return { outcome: 'created', link, isRepeat: !isNew };
}

/** Why the merchant cannot have this link now; null: it can. */
function findLinkRejection(merchant: CreatingMerchantRow, terms: NewLinkTerms, now: Date): LinkRejection | null {
  const { provider, returnUrl, expiresAt } = terms;
  if (!merchant.providers.includes(provider)) return { reason: 'provider_not_enabled', provider };
  if (returnUrl !== null && !isAtShop(merchant, returnUrl)) {
    return { reason: 'return_url_not_allowed', origin: new URL(returnUrl).origin };
  }
  if (expiresAt === null) return null;
  const aheadMs = expiresAt.getTime() - now.getTime();
  return aheadMs < LINK_END_MS.min || aheadMs > LINK_END_MS.max ? { reason: 'expires_at_out_of_range' } : null;
}

/** Each visitor of such a link would read that the shop takes no payments. Null: none, or the amount is open. */
async function findFeeRejection(
  db: Queryable,
  merchant: CreatingMerchantRow,
  { provider, amountRupiah }: NewLinkTerms,
): Promise<FeeRejection | null> {
  if (amountRupiah === null) return null;
  const query = { merchantId: merchant.merchantId, provider, channel: 'qris' } as const;
  const current = await findCurrentPolicy(db, query);
  const why = findTermsRejection(merchant, { provider, paymentMethod: query.channel, amountRupiah }, current);
  return why?.reason === 'fee_reaches_amount' || why?.reason === 'total_too_large' ? why : null;
}
