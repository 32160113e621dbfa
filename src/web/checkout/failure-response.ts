import type { Request } from 'express';
import type { ApiError } from '../../http/api-error';
import type { EndpointResponse } from '../../http/endpoint';
import type { CheckoutDependencies } from './checkout-dependencies';
import { pageHeaders } from './checkout-headers';
import { languageOf } from './find-checkout-page';

/** A failed request for a page of a customer, who reads no JSON. */
export function failureResponse(
  { checkoutPages }: Pick<CheckoutDependencies, 'checkoutPages'>,
  { httpStatus, headers }: ApiError,
  request: Request,
): EndpointResponse {
  return {
    status: httpStatus,
    headers: { ...headers, ...pageHeaders([]) },
    body: checkoutPages.failed(httpStatus === 429 ? 'busy' : 'unavailable', languageOf(request)),
  };
}
