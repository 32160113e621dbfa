import { findLogo } from '../../db/merchants/merchant-logos';
import { ApiError } from '../../http/api-error';
import { publicEndpoint } from '../../http/endpoint';
import type { CheckoutDependencies } from './checkout-dependencies';

const NAME = /^([\da-f]{64})\.png$/;

/** The logo of a shop. Its name is the hash of its bytes. */
export const getCheckoutLogo = publicEndpoint({
  method: 'get',
  path: '/checkout/logos/:file',
  countsAgainstNetworkLimit: true,
  async handler({ keylessDb }: Pick<CheckoutDependencies, 'keylessDb'>, { params }) {
    const hash = NAME.exec(String(params.file))?.[1];
    const body = hash === undefined ? undefined : await findLogo(keylessDb, hash);
    if (!body) throw new ApiError('not_found', 'There is no such logo.');
    return {
      status: 200,
      headers: { 'Content-Type': 'image/png', 'Cache-Control': 'public, max-age=31536000, immutable' },
      body,
    };
  },
});
