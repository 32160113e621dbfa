import type { Request, Response } from 'express';
import type { ApiError } from './api-error';
import type { HttpDependencies } from './http-dependencies';

/** A body without an end: the stream writes to the response until one side closes it. */
export class StreamBody {
  constructor(readonly open: (response: Response) => void) {}
}

export interface EndpointResponse<Body = unknown> {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Values of `Set-Cookie`. */
  readonly cookies?: readonly string[];
  /** A plain value is sent as JSON; text, bytes and streams as they are, with the `Content-Type` of `headers`. */
  readonly body: Body;
}

/** Why a request failed, for its line in the log. */
export interface LoggedRejection {
  readonly code: string;
  /** `X-Error-Reason`; null: the code has none. */
  readonly reason: string | null;
  /** The caller never sees it. */
  readonly internal: string;
}

export interface EndpointAddress {
  readonly method: 'get' | 'post';
  /** A pattern of Express: `/payments/:id`. */
  readonly path: string;
  /** Only these endpoints read a body; the others ignore it. An optional one never rejects a request. */
  readonly readsBody?: true | 'optional';
  /** The limit of the body; by default that of a bulk. */
  readonly maxBytes?: number;
  /**
   * Neither traced nor recorded: a load balancer requests the address every few seconds, or its stream stays open for
   * minutes.
   */
  readonly isUnobserved?: true;
  /** What the caller of a 500 has to do, if a repeat can do harm. */
  readonly adviceAfterFailure?: (request: Request) => string;
}

/** An endpoint that needs no key. */
export interface PublicEndpoint<Dependencies> extends EndpointAddress {
  readonly access: 'public';
  /** Each request counts against the budget of its network, and is rejected if that is used. */
  readonly countsAgainstNetworkLimit?: true;
  /** Runs before the body is read. @throws ApiError for a request whose body is not worth reading */
  readonly admit?: (dependencies: Dependencies, request: Request) => Promise<void>;
  /** What a person sees of a failure; null or absent: the JSON of docs/contract.md#errors. */
  readonly failurePage?: (dependencies: Dependencies, failure: ApiError, request: Request) => EndpointResponse | null;
  readonly handler: (dependencies: Dependencies, request: Request) => Promise<EndpointResponse>;
}

export const publicEndpoint = <Dependencies>(
  endpoint: Omit<PublicEndpoint<Dependencies>, 'access'>,
): PublicEndpoint<Dependencies> => ({ ...endpoint, access: 'public' });

/** What a listener serves at an address. An app does not know who may call it: `admit` decides. */
export interface Route extends EndpointAddress {
  /** @returns the handler for this caller @throws ApiError if the caller is not accepted, or a limit is reached */
  readonly admit: (request: Request, response: Response) => Promise<() => Promise<EndpointResponse>>;
  /** What a person sees of a failure; null or absent: the JSON of docs/contract.md#errors. */
  readonly renderFailure?: (failure: ApiError, request: Request) => EndpointResponse | null;
}

/** Binds an endpoint without a key to what it uses. */
export function publicRoute<Dependencies extends Pick<HttpDependencies, 'publicBudget'>>(
  dependencies: Dependencies,
  endpoint: PublicEndpoint<Dependencies>,
): Route {
  return {
    ...endpoint,
    async admit(request) {
      if (endpoint.countsAgainstNetworkLimit) dependencies.publicBudget.count(request);
      await endpoint.admit?.(dependencies, request);
      return () => endpoint.handler(dependencies, request);
    },
    renderFailure: (failure, request) => endpoint.failurePage?.(dependencies, failure, request) ?? null,
  };
}
