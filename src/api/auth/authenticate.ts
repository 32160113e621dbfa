import type { Request } from 'express';
import { findApiKey, type ApiKeyRow } from '../../db/reads/find-api-key';
import type { Queryable } from '../../db/pool';
import { parseSecretKey } from '../../operator/secret-key';
import { ApiError } from '../api-error';
import { clientAddress } from './client-address';

/** The merchant on whose behalf a request is made. */
export type Merchant = Pick<ApiKeyRow, 'keyId' | 'merchantId' | 'feePayer' | 'providers' | 'paymentMethodActive'>;

/**
 * Who is calling: a live secret key, from an address that it allows, of an approved merchant; refused in this order.
 * @throws ApiError `invalid_api_key`, `api_key_ip_not_allowed`, `merchant_not_approved`
 */
export async function authenticate(db: Queryable, request: Request): Promise<Merchant> {
  const [, token] = /^Bearer +(\S+)$/i.exec(request.get('authorization') ?? '') ?? [];
  const secret = token === undefined ? undefined : parseSecretKey(token);
  if (!secret) throw new ApiError('invalid_api_key');
  const key = await findApiKey(db, secret.secretSha256, clientAddress(request));
  if (!key) throw new ApiError('invalid_api_key');
  if (!key.addressAllowed) throw new ApiError('api_key_ip_not_allowed');
  if (key.merchantStatus !== 'approved') throw new ApiError('merchant_not_approved');
  return key;
}
