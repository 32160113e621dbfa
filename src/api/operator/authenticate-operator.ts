import type { Request, Response } from 'express';
import { parseOperatorKey } from '../../crypto/secret-key';
import type { OperatorActor } from '../../domain/actor';
import type { RequiredScope } from '../../domain/key-access';
import { assertAddressAllowed, assertScope, authenticateKey, type KeyDependency } from '../../http/auth/authenticate';
import { clientAddress } from '../../http/auth/client-address';
import { findOperator } from '../../services/identity/operators';
import type { ApiDependencies } from '../dependencies';

/** The operator that makes the request. */
export interface AuthenticatedOperator {
  readonly keyId: string;
  readonly actor: OperatorActor;
}

/**
 * Accepts a valid key of an operator, from an address that the key allows, with the scope of the route. Failed keys
 * count together with those of merchants.
 * @throws ApiError `invalid_api_key`, `api_key_ip_not_allowed`
 */
export async function authenticateOperator(
  dependencies: Pick<ApiDependencies, 'db' | 'log' | KeyDependency>,
  request: Request,
  { locals }: Response,
  scope: RequiredScope,
): Promise<AuthenticatedOperator> {
  const address = clientAddress(request);
  const { id, name, ...permissions } = await authenticateKey(dependencies, request, parseOperatorKey, (secretSha256) =>
    findOperator(dependencies.db, secretSha256, address),
  );
  const key = { ...permissions, keyId: id };
  locals.caller = { keyId: id, operatorId: id };
  assertAddressAllowed(key, address);
  assertScope(key, scope);
  return { keyId: id, actor: { kind: 'operator', name, door: 'api', operatorId: id, scopes: permissions.scopes } };
}
