/** Payment methods, providers and currencies of the contract. */
export const PROVIDERS = ['gopay', 'shopeepay'] as const;
export type ProviderName = (typeof PROVIDERS)[number];

export const PAYMENT_METHODS = ['qris'] as const;
export type PaymentMethod = (typeof PAYMENT_METHODS)[number];

export const CURRENCY = 'IDR';

/**
 * What a provider supports besides issuing, status query and expiry. Contract: shopeepay has no cancel and no refund.
 */
export const PROVIDER_CAPABILITIES = {
  gopay: { cancel: true, refund: true },
  shopeepay: { cancel: false, refund: false },
} as const satisfies Record<ProviderName, { cancel: boolean; refund: boolean }>;
