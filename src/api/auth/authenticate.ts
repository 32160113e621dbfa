import type { Request } from 'express';
import type { ApiKeyRow } from '../../db/queries/find-api-key';
import { parseSecretKey } from '../../keys/secret-key';
import { ApiError } from '../api-error';
import type { ApiDependencies } from '../dependencies';
import { clientAddress } from './client-address';

/** The merchant on whose behalf a request is made. */
export type AuthenticatedMerchant = Pick<
  ApiKeyRow,
  'keyId' | 'merchantId' | 'feePayer' | 'providers' | 'paymentMethodActive'
>;

const BEARER = /^Bearer +(\S+)$/i;

/**
 * Who is calling: a live secret key, from an address that it allows, of an approved merchant; refused in this order.
 * Keys are found by their hash: how long a comparison takes tells nothing about a secret, so `timingSafeEqual` has nothing
 * to protect here.
 * @throws ApiError `invalid_api_key` (`rate_limited` after too many of them), `api_key_ip_not_allowed`, `merchant_not_approved`
 */
export async function authenticate(dependencies: ApiDependencies, request: Request): Promise<AuthenticatedMerchant> {
  const secret = parseSecretKey(bearerOf(request));
  const key = secret && (await dependencies.apiKeys.find(secret.secretSha256, clientAddress(request)));
  if (!key) throw unauthorizedError(dependencies, request);
  if (!key.addressAllowed) throw new ApiError('api_key_ip_not_allowed');
  if (key.merchantStatus !== 'approved') throw new ApiError('merchant_not_approved');
  return key;
}

/** What stands in `Authorization: Bearer …`; empty where nothing does. */
export function bearerOf(request: Request): string {
  return BEARER.exec(request.get('authorization') ?? '')?.[1] ?? '';
}

/** Counts a failed key of the caller's address, and says what to answer. */
export function unauthorizedError({ failedKeys }: ApiDependencies, request: Request): ApiError {
  const waitSeconds = failedKeys.count(clientAddress(request));
  if (waitSeconds === undefined) return new ApiError('invalid_api_key', undefined, { 'WWW-Authenticate': 'Bearer' });
  return new ApiError(
    'rate_limited',
    `Too many requests without a valid secret key came from this address; try again in ${waitSeconds} s.`,
    { 'Retry-After': String(waitSeconds) },
  );
}
