import { ApiError } from '../../http/api-error';
import { publicEndpoint } from '../../http/endpoint';
import type { CheckoutPageDependencies } from './checkout-dependencies';
import { imageResponse } from './checkout-headers';
import { hasReceipt } from './facts';
import { findCheckoutPage, languageOf } from './find-checkout-page';

/** What the customer keeps of a payment that was paid. */
export const getCheckoutReceipt = publicEndpoint({
  method: 'get',
  path: '/pay/:token/receipt.png',
  countsAgainstNetworkLimit: true,
  async handler(dependencies: CheckoutPageDependencies, request) {
    const payment = await findCheckoutPage(dependencies, request);
    const nowMs = Date.now();
    if (!payment || !hasReceipt(payment, nowMs)) throw new ApiError('not_found', 'There is no receipt.');
    const body = await dependencies.checkoutPages.receipt(payment, languageOf(request), nowMs);
    return imageResponse(`receipt-${payment.referenceId}.png`, body);
  },
});
