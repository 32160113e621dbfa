/** Providers, payment methods and the currency of docs/contract.md#create. */
export const PROVIDERS = ['gopay', 'shopeepay'] as const;
export type ProviderName = (typeof PROVIDERS)[number];

/** The provider if a request, a form or a command names none. */
export const DEFAULT_PROVIDER: ProviderName = 'gopay';

export const PAYMENT_METHODS = ['qris'] as const;
export type PaymentMethod = (typeof PAYMENT_METHODS)[number];

export const CURRENCY = 'IDR';

/**
 * What a provider supports besides issuing, status query and expiry (docs/contract.md#cancel-and-refund).
 */
export const PROVIDER_CAPABILITIES = {
  gopay: { cancel: true, refund: true },
  shopeepay: { cancel: false, refund: false },
} as const satisfies Record<ProviderName, { cancel: boolean; refund: boolean }>;
