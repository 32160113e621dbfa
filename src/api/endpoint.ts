import type { Request } from 'express';
import type { z } from 'zod';
import type { ApiErrorCode } from '../domain/errors';
import type { MerchantScope, RequiredScope } from '../domain/key-access';
import type { AuthenticatedMerchant } from '../http/auth/authenticate';
import type { EndpointAddress, EndpointResponse, StreamBody } from '../http/endpoint';
import type { ApiDependencies } from './dependencies';
import type { ResponseHeader } from './openapi/response-headers';
import type { AuthenticatedOperator } from './operator/authenticate-operator';

/** An endpoint that needs an operator's key. Merchants cannot call it, and the OpenAPI document does not contain it. */
export interface OperatorEndpoint<Dependencies = ApiDependencies> extends EndpointAddress {
  readonly access: 'operator';
  /** A key that has scopes needs this one. */
  readonly scope: RequiredScope;
  readonly handler: (
    dependencies: Dependencies,
    request: Request,
    operator: AuthenticatedOperator,
  ) => Promise<EndpointResponse>;
}

export type MerchantHandler<Body, Dependencies = ApiDependencies> = (
  dependencies: Dependencies,
  request: Request,
  merchant: AuthenticatedMerchant,
) => Promise<EndpointResponse<Body>>;

type Schemas = Readonly<Record<string, z.ZodType>>;
/** By the name that the documentation shows. */
type Examples<Value> = Readonly<Record<string, Value>>;

/** An endpoint that needs a merchant's key: what it does and what the OpenAPI document contains. */
export interface MerchantEndpoint<Body = unknown, Dependencies = ApiDependencies> extends EndpointAddress {
  readonly access: 'merchant';
  /** A key that has scopes needs this one. */
  readonly scope: MerchantScope;
  readonly operationId: string;
  readonly summary: string;
  /** Markdown. */
  readonly description: string;
  readonly query?: z.ZodObject;
  readonly headers?: Schemas;
  /** The body is one of these, by schema name. */
  readonly requestBody?: { readonly schemas: Schemas; readonly examples: Examples<unknown> };
  readonly response: {
    readonly status: 200 | 201;
    /** Schema name. */
    readonly name: string;
    readonly schema: z.ZodType<Body>;
    /** The schemas within it that have a name of their own. */
    readonly components: Schemas;
    /** Besides the usual ones. */
    readonly headers?: readonly ResponseHeader[];
    readonly examples: Examples<Body>;
  };
  /** Besides those of every endpoint (`ERRORS_OF_EVERY_OPERATION`). */
  readonly errors: readonly ApiErrorCode[];
  readonly handler: MerchantHandler<Body, Dependencies>;
}

/** A stream for a merchant's tools. Neither docs/contract.md nor the OpenAPI document has streams. */
export interface MerchantStream<Dependencies = ApiDependencies> extends EndpointAddress {
  readonly access: 'merchant';
  readonly scope: MerchantScope;
  readonly handler: MerchantHandler<StreamBody, Dependencies>;
}

export const operatorEndpoint = <Dependencies>(
  endpoint: Omit<OperatorEndpoint<Dependencies>, 'access'>,
): OperatorEndpoint<Dependencies> => ({ ...endpoint, access: 'operator' });

/** The handler's bodies and the examples have the type of the response's schema. */
export const merchantEndpoint = <Body, Dependencies>(
  endpoint: Omit<MerchantEndpoint<Body, Dependencies>, 'access'>,
): MerchantEndpoint<Body, Dependencies> => ({ ...endpoint, access: 'merchant' });

export const merchantStream = <Dependencies>(
  endpoint: Omit<MerchantStream<Dependencies>, 'access'>,
): MerchantStream<Dependencies> => ({ ...endpoint, access: 'merchant' });
