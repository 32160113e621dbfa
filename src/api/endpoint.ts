import type { Request, Response } from 'express';
import type { z } from 'zod';
import type { ApiErrorCode } from '../domain/errors';
import type { MerchantScope, OperatorScope } from '../domain/key-access';
import type { AuthenticatedMerchant } from './auth/authenticate';
import type { ApiDependencies } from './dependencies';
import type { ResponseHeader } from './openapi/response-headers';
import type { AuthenticatedOperator } from './operator/authenticate-operator';

/** A body without an end: the stream writes to the response until one side closes it. */
export class StreamBody {
  constructor(readonly open: (response: Response) => void) {}
}

export interface EndpointResponse<Body = unknown> {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A plain value is sent as JSON; text, bytes and streams as they are, with the `Content-Type` of `headers`. */
  readonly body: Body;
}

interface EndpointAddress {
  readonly method: 'get' | 'post';
  /** Of Express: `/payments/:id`. */
  readonly path: string;
  /** Only these endpoints read a body; the others ignore it. */
  readonly readsBody?: true;
  /** Of the body; by default that of a bulk. */
  readonly maxBytes?: number;
}

/** An endpoint that needs no key. */
export interface PublicEndpoint extends EndpointAddress {
  readonly access: 'public';
  /** Each request counts against the budget of its network, and is rejected if that is used. */
  readonly hasBudget?: true;
  /** Runs before the body is read. @throws ApiError for a request whose body is not worth reading */
  readonly admit?: (dependencies: ApiDependencies, request: Request) => Promise<void>;
  readonly handler: (dependencies: ApiDependencies, request: Request) => Promise<EndpointResponse>;
}

/** An endpoint that needs an operator's key. Merchants cannot call it, and the OpenAPI document does not contain it. */
export interface OperatorEndpoint extends EndpointAddress {
  readonly access: 'operator';
  /** A key that has scopes needs this one. */
  readonly scope: OperatorScope;
  readonly handler: (
    dependencies: ApiDependencies,
    request: Request,
    operator: AuthenticatedOperator,
  ) => Promise<EndpointResponse>;
}

export type MerchantHandler<Body> = (
  dependencies: ApiDependencies,
  request: Request,
  merchant: AuthenticatedMerchant,
) => Promise<EndpointResponse<Body>>;

type Schemas = Readonly<Record<string, z.ZodType>>;
/** By the name that the documentation shows. */
type Examples<Value> = Readonly<Record<string, Value>>;

/** An endpoint that needs a merchant's key: what it does and what the OpenAPI document contains. */
export interface MerchantEndpoint<Body = unknown> extends EndpointAddress {
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
  readonly handler: MerchantHandler<Body>;
}

/** A stream for a merchant's tools. The contract has no streams, and the OpenAPI document does not contain it. */
export interface MerchantStream extends EndpointAddress {
  readonly access: 'merchant';
  readonly scope: MerchantScope;
  readonly handler: MerchantHandler<StreamBody>;
}

export type Endpoint = PublicEndpoint | OperatorEndpoint | MerchantEndpoint | MerchantStream;

export const publicEndpoint = (endpoint: Omit<PublicEndpoint, 'access'>): PublicEndpoint => ({
  ...endpoint,
  access: 'public',
});

export const operatorEndpoint = (endpoint: Omit<OperatorEndpoint, 'access'>): OperatorEndpoint => ({
  ...endpoint,
  access: 'operator',
});

/** The handler's bodies and the examples have the type of the response's schema. */
export const merchantEndpoint = <Body>(endpoint: Omit<MerchantEndpoint<Body>, 'access'>): MerchantEndpoint<Body> => ({
  ...endpoint,
  access: 'merchant',
});

export const merchantStream = (endpoint: Omit<MerchantStream, 'access'>): MerchantStream => ({
  ...endpoint,
  access: 'merchant',
});
