import type { Request } from 'express';
import type { AuthenticatedMerchant } from './auth/authenticate';
import type { AuthenticatedOperator } from './operator/authenticate-operator';
import type { ApiDependencies } from './dependencies';

export interface EndpointResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A plain value is sent as JSON; text and bytes as they are, with the `Content-Type` of `headers`. */
  readonly body: unknown;
}

/** An endpoint that anyone may call. */
export type PublicEndpoint = (dependencies: ApiDependencies, request: Request) => Promise<EndpointResponse>;

/** An endpoint for merchants: it is only reached with a good key. */
export type MerchantEndpoint = (
  dependencies: ApiDependencies,
  request: Request,
  merchant: AuthenticatedMerchant,
) => Promise<EndpointResponse>;

/** An endpoint for operators: it is only reached with an operator's key. */
export type OperatorEndpoint = (
  dependencies: ApiDependencies,
  request: Request,
  operator: AuthenticatedOperator,
) => Promise<EndpointResponse>;
