import { ApiError } from '../../http/api-error';
import { publicEndpoint, StreamBody } from '../../http/endpoint';
import { EVENT_STREAM_HEADERS } from '../../http/event-stream';
import { logPayment } from '../../temporal/log-payment';
import type { CheckoutDependencies } from './checkout-dependencies';

/**
 * The changes of a payment's status as server-sent events. The id of the last one, or `?seen=` of the page, is the
 * status that the browser knows.
 */
export const streamCheckout = publicEndpoint({
  method: 'get',
  path: '/pay/:token/events',
  isUnobserved: true,
  countsAgainstNetworkLimit: true,
  async handler(
    { checkoutLinks, checkoutWatch }: Pick<CheckoutDependencies, 'checkoutLinks' | 'checkoutWatch'>,
    request,
  ) {
    const paymentId = await checkoutLinks.idOf(String(request.params.token));
    if (paymentId === undefined) throw new ApiError('not_found', 'There is no such payment.');
    logPayment(paymentId);
    const { seen } = request.query;
    const statusKey = request.get('last-event-id') ?? (typeof seen === 'string' ? seen : '');
    return {
      status: 200,
      headers: { ...EVENT_STREAM_HEADERS, 'Cache-Control': 'no-store' },
      body: new StreamBody((response) => checkoutWatch.add({ paymentId, statusKey, user: null }, response)),
    };
  },
});
