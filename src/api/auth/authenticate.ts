import type { Request } from 'express';
import type { ApiKeyRow } from '../../db/queries/find-api-key';
import { parseSecretKey, type StoredKey } from '../../keys/secret-key';
import { ApiError } from '../api-error';
import type { ApiDependencies } from '../dependencies';
import { clientAddress } from './client-address';

/** The merchant that makes the request. */
export type AuthenticatedMerchant = Pick<
  ApiKeyRow,
  'keyId' | 'merchantId' | 'feePayer' | 'providers' | 'paymentMethodActive'
>;

const BEARER = /^Bearer +(\S+)$/i;

/**
 * Accepts an unrevoked secret key, from an address that the key allows, of an approved merchant, checked in this order.
 * PostgreSQL finds a key by its hash. So the duration of a comparison reveals nothing about a secret, and
 * `timingSafeEqual` is not needed.
 * @throws ApiError `invalid_api_key` (`rate_limited` after too many), `api_key_ip_not_allowed`, `merchant_not_approved`
 */
export async function authenticate(dependencies: ApiDependencies, request: Request): Promise<AuthenticatedMerchant> {
  const address = clientAddress(request);
  const key = await authenticateKey(dependencies, request, parseSecretKey, (secretSha256) =>
    dependencies.apiKeys.find(secretSha256, address),
  );
  if (!key.addressAllowed) {
    throw new ApiError('api_key_ip_not_allowed', undefined, {
      internal: `address ${address} is not allowed for key ${key.keyId}`,
    });
  }
  if (key.merchantStatus !== 'approved') {
    const internal = `merchant ${key.merchantId} is ${key.merchantStatus}`;
    throw new ApiError('merchant_not_approved', undefined, { internal });
  }
  return key;
}

/**
 * Finds the key in `Authorization: Bearer …`.
 * @throws ApiError `invalid_api_key`; `rate_limited` after too many failed keys from one address
 */
export async function authenticateKey<Key>(
  { failedKeys }: ApiDependencies,
  request: Request,
  parse: (text: string) => StoredKey | undefined,
  find: (secretSha256: Buffer) => Promise<Key | undefined>,
): Promise<Key> {
  const text = BEARER.exec(request.get('authorization') ?? '')?.[1];
  const secret = text === undefined ? undefined : parse(text);
  const key = secret && (await find(secret.secretSha256));
  if (key) return key;
  const address = clientAddress(request);
  const waitSeconds = failedKeys.count(address);
  if (waitSeconds !== undefined) {
    throw new ApiError(
      'rate_limited',
      `Too many requests without a valid secret key came from this address; try again in ${waitSeconds} s.`,
      { headers: { 'Retry-After': String(waitSeconds) }, internal: `failed keys from address ${address}` },
    );
  }
  throw new ApiError('invalid_api_key', undefined, {
    headers: { 'WWW-Authenticate': 'Bearer' },
    internal: secret ? 'unknown or revoked key' : text === undefined ? 'no key' : 'malformed key',
  });
}
