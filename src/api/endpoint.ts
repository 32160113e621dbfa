import type { Request } from 'express';
import type { Merchant } from './auth/authenticate';
import type { OperatorCaller } from './operator/authenticate-operator';
import type { ApiServices } from './services';

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A plain value is sent as JSON; text and bytes as they are, with the `Content-Type` of `headers`. */
  readonly body: unknown;
}

/** An endpoint that anyone may call. */
export type PublicEndpoint = (services: ApiServices, request: Request) => Promise<Answer>;

/** An endpoint for merchants: it is only reached with a good key. */
export type MerchantEndpoint = (services: ApiServices, request: Request, merchant: Merchant) => Promise<Answer>;

/** An endpoint for operators: it is only reached with an operator's key. */
export type OperatorEndpoint = (services: ApiServices, request: Request, operator: OperatorCaller) => Promise<Answer>;
