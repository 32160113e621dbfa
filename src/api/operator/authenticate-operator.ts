import type { Request } from 'express';
import type { OperatorIdentity } from '../../operator/audit';
import { findOperator } from '../../operator/operators';
import { parseOperatorKey } from '../../keys/secret-key';
import { bearerOf, unauthorizedError } from '../auth/authenticate';
import type { ApiDependencies } from '../dependencies';

/** The operator on whose behalf a request is made. */
export interface AuthenticatedOperator {
  readonly keyId: string;
  readonly actor: OperatorIdentity;
}

/**
 * Who is calling: a live operator's key; a merchant's is none. Failed keys count with the merchants'.
 * @throws ApiError `invalid_api_key` (`rate_limited` after too many of them)
 */
export async function authenticateOperator(
  dependencies: ApiDependencies,
  request: Request,
): Promise<AuthenticatedOperator> {
  const key = parseOperatorKey(bearerOf(request));
  const operator = key && (await findOperator(dependencies.db, key.secretSha256));
  if (!operator) throw unauthorizedError(dependencies, request);
  const { id, name } = operator;
  return { keyId: id, actor: { via: 'api', name: `operator:${name}`, operatorId: id } };
}
