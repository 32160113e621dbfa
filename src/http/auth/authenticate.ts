import type { Request, Response } from 'express';
import type { Environment } from '../../config';
import { parseSecretKey, type StoredKey } from '../../crypto/secret-key';
import type { ApiKeyRow } from '../../db/merchants/find-api-key';
import type { CreatingMerchantRow } from '../../db/merchants/find-creating-merchant';
import type { ErrorReason } from '../../domain/errors';
import { hasScope, type MerchantScope, type RequiredScope } from '../../domain/key-access';
import { distinctValues } from '../../lib/fields';
import { increment } from '../../observability/metrics';
import { ApiError } from '../api-error';
import type { HttpDependencies } from '../http-dependencies';
import { clientAddress } from './client-address';

/** The merchant that makes the request. */
export type AuthenticatedMerchant = Pick<ApiKeyRow, 'keyId' | 'scopes' | keyof CreatingMerchantRow>;

/** What a key that was found permits. */
interface KeyPermissions {
  readonly keyId: string;
  readonly addressAllowed: boolean;
  /** Null: every scope. */
  readonly scopes: readonly string[] | null;
}

/** What finds a key of any kind. */
export type KeyDependency = 'environment' | 'authFailures' | 'knownKeys';

const BEARER = /^Bearer +(\S+)$/i;

/**
 * Accepts a valid secret key, from an address that the key allows, of an approved merchant, with the scope of the
 * route, checked in this order. The log line of the request names the key as soon as it is found.
 *
 * PostgreSQL finds a key by its hash. So the duration of a comparison reveals nothing about a secret, and
 * `timingSafeEqual` is not needed.
 * @throws ApiError `invalid_api_key`, `api_key_ip_not_allowed`, `merchant_not_approved`, `scope_not_allowed`
 */
export async function authenticate(
  dependencies: Pick<HttpDependencies, KeyDependency | 'apiKeys'>,
  request: Request,
  { locals }: Response,
  scope: MerchantScope,
): Promise<AuthenticatedMerchant> {
  const address = clientAddress(request);
  const key = await authenticateKey(dependencies, request, parseSecretKey, (secretSha256) =>
    dependencies.apiKeys.find(secretSha256, address),
  );
  locals.caller = { keyId: key.keyId, merchantId: key.merchantId };
  assertAddressAllowed(key, address);
  if (key.merchantStatus !== 'approved') {
    const internal = `merchant ${key.merchantId} is ${key.merchantStatus}`;
    const reason = key.merchantStatus === 'suspended' ? 'merchant_suspended' : 'merchant_pending';
    throw new ApiError(reason, `The merchant is ${key.merchantStatus}.`, { internal });
  }
  assertScope(key, scope);
  dependencies.apiKeys.recordUse(key.keyId, address);
  return key;
}

/** @throws ApiError `api_key_ip_not_allowed` */
export function assertAddressAllowed({ keyId, addressAllowed }: KeyPermissions, address: string): void {
  if (addressAllowed) return;
  const internal = `address ${address} is not allowed for key ${keyId}`;
  throw new ApiError('api_key_ip_not_allowed', undefined, { internal });
}

/** @throws ApiError `scope_not_allowed` */
export function assertScope(
  { keyId, scopes }: Pick<KeyPermissions, 'keyId' | 'scopes'>,
  scope: MerchantScope | RequiredScope,
): void {
  if (hasScope(scopes, scope)) return;
  const internal = `key ${keyId} has no scope ${scope}`;
  throw new ApiError('scope_not_allowed', `The key does not have the scope "${scope}".`, { internal });
}

/**
 * Finds the key in `Authorization: Bearer …`.
 * @throws ApiError `invalid_api_key`
 */
export async function authenticateKey<Key>(
  dependencies: Pick<HttpDependencies, KeyDependency>,
  request: Request,
  parse: (text: string, environment: Environment) => StoredKey | undefined,
  find: (secretSha256: Buffer) => Promise<Key | undefined>,
): Promise<Key> {
  const address = clientAddress(request);
  const { environment } = dependencies;
  const [header, ...others] = distinctValues(request.headersDistinct.authorization);
  if (!header) {
    throw rejectKey('key_missing', 'There is no secret key. Send "Authorization: Bearer <secret key>".', 'no key');
  }
  if (others.length > 0) throw rejectKey('key_not_bearer', 'Authorization must occur once.', 'two keys');
  const text = BEARER.exec(header)?.[1];
  if (text === undefined) {
    throw rejectKey('key_not_bearer', 'The Authorization header is not "Bearer <secret key>".', 'no bearer key');
  }
  const secret = parse(text, environment);
  const key = secret && (await mayExist(dependencies, address, secret)) && (await find(secret.secretSha256));
  if (key) return key;
  const other = environment === 'sandbox' ? 'production' : 'sandbox';
  if (parse(text, other)) {
    const message = `The key is for ${other}, and this is ${environment}.`;
    throw rejectKey('key_of_other_environment', message, `a key for ${other}`);
  }
  const internal = secret ? 'unknown, revoked or expired key' : 'malformed key';
  throw rejectKey('key_unknown', 'The secret key is mistyped, unknown, expired or revoked.', internal);
}

function rejectKey(reason: ErrorReason, message: string, internal: string): ApiError {
  return new ApiError(reason, message, { headers: { 'WWW-Authenticate': 'Bearer' }, internal });
}

/** Anyone can make up well-formed keys. Beyond the limit of an address they cost no read of PostgreSQL. */
async function mayExist(
  { authFailures, knownKeys }: Pick<HttpDependencies, KeyDependency>,
  address: string,
  { secretSha256 }: StoredKey,
): Promise<boolean> {
  return !authFailures.isOverLimit(address) || knownKeys.has(secretSha256);
}

/**
 * Counts each rejection of a key, whatever its reason.
 * @param owner whose keys the listener accepts
 * @throws ApiError the rejection; `rate_limited` after too many of them from one address
 */
export async function countRejections<Caller>(
  { authFailures }: Pick<HttpDependencies, 'authFailures'>,
  request: Request,
  owner: 'merchant' | 'operator',
  authenticated: () => Promise<Caller>,
): Promise<Caller> {
  try {
    return await authenticated();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    increment('lunas_keys_rejected_total', { owner });
    const address = clientAddress(request);
    const waitSeconds = authFailures.count(address);
    if (waitSeconds === undefined) throw error;
    throw new ApiError(
      'failed_keys',
      `Too many requests without a valid secret key came from this address; try again in ${waitSeconds} s.`,
      { headers: { 'Retry-After': String(waitSeconds) }, internal: `failed keys from address ${address}` },
    );
  }
}
