import { randomUUID } from 'node:crypto';
import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import { inCurrentScope, logIds, setTraceparent, withCorrelation } from '../correlation';
import type { CompletedRequest } from '../db/recorded-requests';
import { isRequestId, isTraceparent, type Correlation } from '../domain/correlation';
import { increment } from '../metrics/metrics';
import { startSpan, withIds } from '../tracing';
import { RequestDeadline } from './request-deadline';
import { ApiError } from './api-error';
import { authenticate, countRejections } from './auth/authenticate';
import { clientAddress } from './auth/client-address';
import { type Endpoint, type EndpointResponse, StreamBody } from './endpoint';
import { authenticateOperator } from './operator/authenticate-operator';
import { countRequests } from './rate-limit/count-request';
import { readBody } from './request-body';
import { measureRequest } from './request-metrics';
import { OPERATOR_ENDPOINTS, PUBLIC_ROUTES } from './routes';
import type { ApiDependencies } from './dependencies';

/** Hops or addresses of our own proxies (`TRUST_PROXY`); 0: no proxy is trusted. */
type TrustProxy = number | readonly string[];

/** The app of the public listener. */
export function createPublicApp(dependencies: ApiDependencies, trustProxy: TrustProxy): Express {
  const isHttps = dependencies.publicBaseUrl.startsWith('https:');
  return createApp(dependencies, { routes: PUBLIC_ROUTES, trustProxy, isHttps });
}

/**
 * The app of the operators' listener. A number of hops counts the proxies before the public listener. A direct caller
 * of this listener could use it to choose its own address, so it does not apply here.
 */
export function createOperatorApp(dependencies: ApiDependencies, trustProxy: TrustProxy): Express {
  const trustedNetworks = typeof trustProxy === 'number' ? 0 : trustProxy;
  return createApp(dependencies, { routes: OPERATOR_ENDPOINTS, trustProxy: trustedNetworks, isHttps: false });
}

interface Listener {
  readonly routes: readonly Endpoint[];
  readonly trustProxy: TrustProxy;
  /** Callers use https, whatever the connection of the last proxy. */
  readonly isHttps: boolean;
}

function createApp(dependencies: ApiDependencies, { routes, trustProxy, isHttps }: Listener): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('trust proxy', trustProxy);
  app.use(requestContext(dependencies, isHttps));
  for (const route of routes) app[route.method](route.path, handleRoute(dependencies, route));
  app.use(() => {
    throw new ApiError('not_found', 'There is no such address; see the API documentation.', NO_SUCH_PATH);
  });
  app.use(handleError(dependencies));
  return app;
}

const NO_SUCH_PATH = { internal: 'no such path' };

/** The token of a QR image or of a checkout page is a secret. */
const TOKEN = /^(\/(?:qris|pay)\/)[^/.]+/i;

function loggedPath({ path }: Request): string {
  return path.replace(TOKEN, '$1…');
}

const ONE_YEAR_SECONDS = 31_536_000;

/**
 * Sets the request id and the security headers. Logs the request when its response is complete, or when the caller has
 * closed the connection before that. There is no CORS header, since keys belong on servers only. Keys and bodies are
 * never logged.
 */
function requestContext({ log, requestLog }: ApiDependencies, isHttps: boolean): RequestHandler {
  return (request, response, next) => {
    const startedMs = performance.now();
    const endMeasurement = measureRequest(response);
    const correlation = readCorrelation(request);
    // A closed connection has no address any more.
    const address = clientAddress(request);
    response.locals.requestId = correlation.requestId;
    response.set({ 'X-Request-Id': correlation.requestId, 'X-Content-Type-Options': 'nosniff' });
    // Must not be sent over plain HTTP (RFC 6797, 7.2).
    if (isHttps || request.secure) response.set('Strict-Transport-Security', `max-age=${ONE_YEAR_SECONDS}`);
    const logRequest = () => {
      const durationMs = Math.round(performance.now() - startedMs);
      endMeasurement();
      const { method } = request;
      const path = loggedPath(request);
      const result = response.writableFinished ? { status: response.statusCode } : { status: null, isAborted: true };
      const { caller, rejection } = response.locals;
      log.info({ ...caller, clientAddress: address, method, path, ...result, durationMs, ...rejection }, 'request');
      if (isObserved(response)) {
        const { status } = result;
        requestLog.add({ method, path, status, durationMs, ...describeRequest(correlation, durationMs, response) });
      }
    };
    withCorrelation(correlation, {}, () => {
      response.on('close', inCurrentScope(logRequest));
      next();
    });
  };
}

/** What a completed request has beside its line in HTTP. */
function describeRequest(
  { requestId }: Correlation,
  durationMs: number,
  { locals }: Response,
): Pick<CompletedRequest, 'requestId' | 'startedAt' | 'keyId' | 'errorCode' | 'paymentIds'> {
  const caller: { readonly keyId: string } | undefined = locals.caller;
  const rejection: { readonly code: string } | undefined = locals.rejection;
  const { paymentId, paymentIds = paymentId === undefined ? [] : [paymentId] } = logIds();
  return {
    requestId,
    startedAt: new Date(Date.now() - durationMs),
    keyId: caller?.keyId ?? null,
    errorCode: rejection?.code ?? null,
    paymentIds,
  };
}

/** The caller's `X-Request-Id` and `traceparent`, as far as they are valid. */
function readCorrelation(request: Request): Correlation {
  const requestId = request.get('x-request-id');
  const traceparent = request.get('traceparent');
  return {
    requestId: isRequestId(requestId) ? requestId : randomUUID(),
    ...(isTraceparent(traceparent) && { traceparent }),
  };
}

/** A phone on a slow network reads the largest response, the 1.7 MB of the documentation's viewer, at 500 kbit/s. */
const WRITE_TIMEOUT_MS = 30_000;

function handleRoute(dependencies: ApiDependencies, route: Endpoint): RequestHandler {
  return async (request, response) => {
    response.locals.route = route;
    traceRequest(route, response);
    send(response, await call(dependencies, route, request, response));
  };
}

/**
 * Neither traced nor shown by `lunas logs`: a load balancer requests the first two every few seconds, and an event
 * stream stays open for minutes.
 */
const UNOBSERVED_PATHS: ReadonlySet<string> = new Set([
  '/healthz',
  '/readyz',
  '/pay/:token/events',
  '/webhooks/stream',
]);

function isObserved({ locals }: Response): boolean {
  const route: Endpoint | undefined = locals.route;
  return route === undefined || !UNOBSERVED_PATHS.has(route.path);
}

/** The span of a request, from its headers to the end of its response. */
function traceRequest({ method, path }: Endpoint, response: Response): void {
  if (UNOBSERVED_PATHS.has(path)) return;
  const name = `${method.toUpperCase()} ${path}`;
  const attributes = { 'http.request.method': method.toUpperCase(), 'http.route': path };
  const span = startSpan({ name, kind: 'server', attributes });
  if (!span) return;
  setTraceparent(span.traceparent);
  const end = () => {
    const { statusCode } = response;
    const isError = statusCode >= 500 || !response.writableFinished;
    span.end(withIds({ isError, attributes: { 'http.response.status_code': statusCode } }));
  };
  response.once('close', inCurrentScope(end));
}

/** The order of the checks is the contract's: key, address, merchant, scope, rate limit, body. */
async function call(
  dependencies: ApiDependencies,
  route: Endpoint,
  request: Request,
  response: Response,
): Promise<EndpointResponse> {
  const deadline = new RequestDeadline();
  const handle = await deadline.race(admit(dependencies, route, request, response));
  if (route.readsBody) await readBody(request, response, route.maxBytes);
  return deadline.race(handle());
}

/** The data of a merchant, or of all merchants: no cache between caller and API may keep it. */
const NO_STORE = { 'Cache-Control': 'no-store' };

/** @returns the handler for this caller @throws ApiError if the key is not accepted, or a limit is reached */
async function admit(
  dependencies: ApiDependencies,
  route: Endpoint,
  request: Request,
  response: Response,
): Promise<() => Promise<EndpointResponse>> {
  if (route.access !== 'public') response.set(NO_STORE);
  switch (route.access) {
    case 'public':
      if (route.hasBudget) dependencies.publicBudget.count(request);
      await route.admit?.(dependencies, request);
      return () => route.handler(dependencies, request);
    case 'merchant': {
      const merchant = await countRejections(dependencies, request, () =>
        authenticate(dependencies, request, response, route.scope),
      );
      response.set(await countRequests(dependencies.rateLimit, merchant));
      return () => route.handler(dependencies, request, merchant);
    }
    case 'operator': {
      const operator = await countRejections(dependencies, request, () =>
        authenticateOperator(dependencies, request, response, route.scope),
      );
      response.set(await countRequests(dependencies.rateLimit, operator));
      return () => route.handler(dependencies, request, operator);
    }
  }
}

/** Destroys the connection if the caller does not read the response in time. A stream limits its readers itself. */
function send(response: Response, { status, headers, body }: EndpointResponse): void {
  if (body instanceof StreamBody) {
    response.status(status).set(headers ?? {});
    return body.open(response);
  }
  const timer = setTimeout(() => response.destroy(), WRITE_TIMEOUT_MS).unref();
  response.once('close', () => clearTimeout(timer));
  response.status(status).set(headers ?? {});
  if (typeof body === 'string' || Buffer.isBuffer(body)) response.send(body);
  else sendJson(response, body);
}

/** As `response.json`, which parses the content type again for each response: six percent of the CPU of a GET. */
function sendJson(response: Response, body: unknown): void {
  const text = JSON.stringify(body);
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Content-Length', Buffer.byteLength(text));
  response.end(text);
}

/** Sends a rejection as the contract requires. Other errors become a 500 with the request id and nothing internal. */
function handleError({ log }: ApiDependencies): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    if (response.headersSent) return next(error);
    const requestId = String(response.locals.requestId);
    const apiError = toApiError(error);
    if (apiError) {
      const { code, internal, httpStatus, headers, body } = apiError;
      response.locals.rejection = { code, reason: internal };
      increment('lunas_http_requests_rejected_total', { code });
      return send(response, { status: httpStatus, headers, body });
    }
    log.error({ err: error, path: loggedPath(request) }, 'request failed');
    response.locals.rejection = { code: 'server_error' };
    increment('lunas_http_requests_rejected_total', { code: 'server_error' });
    const failure = new ApiError('server_error', `The request could not be processed; try again later (${requestId}).`);
    send(response, { status: failure.httpStatus, body: failure.body });
  };
}

function toApiError(error: unknown): ApiError | undefined {
  if (error instanceof ApiError) return error;
  // Express throws it for a path that cannot be decoded.
  if (error instanceof URIError) return new ApiError('not_found', 'There is no such address.', NO_SUCH_PATH);
  return undefined;
}
