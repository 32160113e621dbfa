import type { ProviderName } from '../../../domain/provider-capabilities';

/** As customers know them. */
export const PROVIDER_NAMES = { gopay: 'GoPay', shopeepay: 'ShopeePay' } as const satisfies Record<
  ProviderName,
  string
>;
