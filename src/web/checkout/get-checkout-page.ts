import { publicEndpoint } from '../../http/endpoint';
import type { CheckoutDependencies, CheckoutPageDependencies } from './checkout-dependencies';
import { pageHeaders } from './checkout-headers';
import { statusKeyOf } from './checkout-watch';
import { failureResponse } from './failure-response';
import { findCheckoutPage, languageOf } from './find-checkout-page';

/** The page where a customer pays. It needs no script and sets no cookie. */
export const getCheckoutPage = publicEndpoint({
  method: 'get',
  path: '/pay/:token',
  countsAgainstNetworkLimit: true,
  failurePage: failureResponse,
  async handler(dependencies: CheckoutPageDependencies & Pick<CheckoutDependencies, 'lostWorkflows'>, request) {
    const language = languageOf(request);
    const payment = await findCheckoutPage(dependencies, request);
    if (!payment) {
      const body = dependencies.checkoutPages.unknown(language);
      return { status: 404, headers: pageHeaders([]), body };
    }
    dependencies.lostWorkflows.check(payment);
    const body = dependencies.checkoutPages.page({
      payment,
      path: `/pay/${String(request.params.token)}`,
      statusKey: statusKeyOf(payment),
      returnUrl: payment.returnUrl,
      language,
      nowMs: Date.now(),
    });
    return { status: 200, headers: pageHeaders(payment.checkoutOrigins), body };
  },
});
