import type { Express, Request } from 'express';
import type { MerchantEndpoint, MerchantStream, OperatorEndpoint } from '../api/endpoint';
import { authenticateOperator } from '../api/operator/authenticate-operator';
import { createApp, type TrustProxy } from '../http/app';
import { authenticate, countRejections } from '../http/auth/authenticate';
import { publicRoute, type Route } from '../http/endpoint';
import { reportIgnored } from '../http/ignored-input';
import { countRequests } from '../http/rate-limit/count-request';
import { whereDocuments } from '../web/docs/get-docs';
import type { ApiServerDependencies } from './api-dependencies';
import { OPERATOR_ENDPOINTS, PUBLIC_ROUTES, type Endpoint } from './api-routes';

/** The app of the public listener. */
export function createPublicApp(dependencies: ApiServerDependencies, trustProxy: TrustProxy): Express {
  const { publicBaseUrl, publicBudget } = dependencies;
  const isHttps = publicBaseUrl.startsWith('https:');
  const routes = PUBLIC_ROUTES.map((endpoint) => toRoute(dependencies, endpoint));
  const adviceForUnknown = (request: Request) => adviceFor(request, publicBaseUrl);
  return createApp(routes, dependencies, { trustProxy, isHttps, publicBudget, adviceForUnknown });
}

/** Requests that other payment APIs have, and what they are here. */
const FAMILIAR_REQUESTS: readonly (readonly [request: RegExp, advice: string])[] = [
  [/^GET \/payments\/?$/i, 'The list is GET /transactions.'],
  [/^GET \/transactions\/[^/]+\/?$/i, 'One transaction is GET /payments/:id.'],
];

function adviceFor({ method, path }: Request, publicBaseUrl: string): string {
  const documents = whereDocuments(publicBaseUrl);
  const [, advice] = FAMILIAR_REQUESTS.find(([request]) => request.test(`${method} ${path}`)) ?? [];
  return advice === undefined ? documents : `${advice} ${documents}`;
}

/**
 * The app of the operators' listener. A number of hops counts the proxies before the public listener. A direct caller
 * of this listener could use it to choose its own address, so it does not apply here.
 */
export function createOperatorApp(dependencies: ApiServerDependencies, trustProxy: TrustProxy): Express {
  const trustedNetworks = typeof trustProxy === 'number' ? 0 : trustProxy;
  const routes = OPERATOR_ENDPOINTS.map((endpoint) => operatorRoute(dependencies, endpoint));
  return createApp(routes, dependencies, { trustProxy: trustedNetworks, isHttps: false });
}

function toRoute(dependencies: ApiServerDependencies, endpoint: Endpoint): Route {
  switch (endpoint.access) {
    case 'public':
      return publicRoute(dependencies, endpoint);
    case 'merchant':
      return merchantRoute(dependencies, endpoint);
    case 'operator':
      return operatorRoute(dependencies, endpoint);
  }
}

/** The data of a merchant, or of all merchants: no cache between caller and API may keep it. */
const NO_STORE = { 'Cache-Control': 'no-store' };

function merchantRoute(dependencies: ApiServerDependencies, endpoint: MerchantEndpoint | MerchantStream): Route {
  const known = new Set('query' in endpoint ? Object.keys(endpoint.query?.shape ?? {}) : []);
  return {
    ...endpoint,
    async admit(request, response) {
      response.set(NO_STORE);
      const merchant = await countRejections(dependencies, request, 'merchant', () =>
        authenticate(dependencies, request, response, endpoint.scope),
      );
      reportIgnored(request, 'parameters', unknownParameters(request, known));
      response.set(await countRequests(dependencies.rateLimit, merchant));
      return () => endpoint.handler(dependencies, request, merchant);
    },
  };
}

/** Express parses the query at each reading of it. */
function unknownParameters(request: Request, known: ReadonlySet<string>): string[] {
  if (!request.originalUrl.includes('?')) return [];
  return Object.keys(request.query).filter((name) => !known.has(name));
}

function operatorRoute(dependencies: ApiServerDependencies, endpoint: OperatorEndpoint): Route {
  return {
    ...endpoint,
    async admit(request, response) {
      response.set(NO_STORE);
      const operator = await countRejections(dependencies, request, 'operator', () =>
        authenticateOperator(dependencies, request, response, endpoint.scope),
      );
      response.set(await countRequests(dependencies.rateLimit, operator));
      return () => endpoint.handler(dependencies, request, operator);
    },
  };
}
