import type { Request } from 'express';
import type { OperatorIdentity } from '../../operator/audit';
import { findOperator } from '../../operator/operators';
import { parseOperatorKey } from '../../keys/secret-key';
import { authenticateKey } from '../auth/authenticate';
import type { ApiDependencies } from '../dependencies';

/** The operator that makes the request. */
export interface AuthenticatedOperator {
  readonly keyId: string;
  readonly actor: OperatorIdentity;
}

/**
 * Accepts an unrevoked key of an operator. Failed keys count together with those of merchants.
 * @throws ApiError `invalid_api_key` (`rate_limited` after too many of them)
 */
export async function authenticateOperator(
  dependencies: ApiDependencies,
  request: Request,
): Promise<AuthenticatedOperator> {
  const { id, name } = await authenticateKey(dependencies, request, parseOperatorKey, (secretSha256) =>
    findOperator(dependencies.db, secretSha256),
  );
  return { keyId: id, actor: { via: 'api', name: `operator:${name}`, operatorId: id } };
}
