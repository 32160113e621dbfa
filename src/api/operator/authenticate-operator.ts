import type { Request } from 'express';
import type { Actor } from '../../operator/audit';
import { findOperator } from '../../operator/operators';
import { parseOperatorKey } from '../../operator/secret-key';
import { bearerOf, keyRefusal } from '../auth/authenticate';
import type { ApiServices } from '../services';

/** The operator on whose behalf a request is made. */
export interface OperatorCaller {
  readonly keyId: string;
  readonly actor: Actor;
}

/**
 * Who is calling: a live operator's key; a merchant's is none. Failed keys count with the merchants'.
 * @throws ApiError `invalid_api_key` (`rate_limited` after too many of them)
 */
export async function authenticateOperator(services: ApiServices, request: Request): Promise<OperatorCaller> {
  const key = parseOperatorKey(bearerOf(request));
  const operator = key && (await findOperator(services.db, key.secretSha256));
  if (!operator) throw keyRefusal(services, request);
  const { id, name } = operator;
  return { keyId: id, actor: { via: 'api', name: `operator:${name}`, operatorId: id } };
}
