import { ApiError } from '../../http/api-error';
import { publicEndpoint } from '../../http/endpoint';
import type { CheckoutPageDependencies } from './checkout-dependencies';
import { imageResponse } from './checkout-headers';
import { payablePayload } from './checkout-state';
import { findCheckoutPage, languageOf } from './find-checkout-page';

/** The QR with what to pay until when, for the gallery of a phone. There is none after the end. */
export const getCheckoutImage = publicEndpoint({
  method: 'get',
  path: '/pay/:token/qris.png',
  countsAgainstNetworkLimit: true,
  async handler(dependencies: CheckoutPageDependencies, request) {
    const payment = await findCheckoutPage(dependencies, request);
    const payload = payment && payablePayload(payment, Date.now());
    if (!payload) throw new ApiError('not_found', 'There is no QR code that can be paid.');
    const body = await dependencies.checkoutPages.code(payload, payment, languageOf(request));
    return imageResponse(`qris-${payment.referenceId}.png`, body);
  },
});
