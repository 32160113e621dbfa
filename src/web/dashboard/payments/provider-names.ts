import type { ProviderName } from '../../../domain/provider-capabilities';

/** The names that customers know. */
export const PROVIDER_NAMES = { gopay: 'GoPay', shopeepay: 'ShopeePay' } as const satisfies Record<
  ProviderName,
  string
>;
