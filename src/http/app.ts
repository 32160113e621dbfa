import { randomUUID } from 'node:crypto';
import { SpanKind } from '@opentelemetry/api';
import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import type { CompletedRequest } from '../db/operations/recorded-requests';
import { isRequestId, isTraceparent, type Correlation } from '../domain/correlation';
import { ExplainedFailure } from '../errors';
import { inCurrentScope, logIds, setTraceparent, withCorrelation } from '../observability/correlation';
import { increment } from '../observability/metrics';
import { endSpan, startSpan, traceparentOf } from '../observability/tracing';
import { ApiError, unknownAddress, unknownMethod } from './api-error';
import { clientAddress } from './auth/client-address';
import { rejectBeyondLimit } from './connection-limit';
import { StreamBody, type EndpointResponse, type LoggedRejection, type Route } from './endpoint';
import type { HttpDependencies } from './http-dependencies';
import { ignoredInputOf } from './ignored-input';
import type { PublicBudget } from './rate-limit/public-budget';
import { readBody, readOptionalBody } from './request-body';
import { RequestDeadline } from './request-deadline';
import { measureRequest } from './request-metrics';

/** Hops or addresses of our own proxies (`TRUST_PROXY`); 0: no proxy is trusted. */
export type TrustProxy = number | readonly string[];

interface AppSettings {
  readonly trustProxy: TrustProxy;
  /** Callers use https, whatever the connection of the last proxy. */
  readonly isHttps: boolean;
  /** Requests for addresses and methods that do not exist count against it. Absent: for operators only. */
  readonly publicBudget?: PublicBudget;
  /** What the caller of an address or a method that does not exist should do. */
  readonly adviceForUnknown?: (request: Request) => string;
  /** The response to an error; by default the JSON of docs/contract.md#errors. */
  readonly renderFailure?: (error: unknown, request: Request, requestId: string) => EndpointResponse;
}

/** `requestLog` is null for a listener whose requests `lunas logs` does not show. */
type AppDependencies = Pick<HttpDependencies, 'log'> & { readonly requestLog: HttpDependencies['requestLog'] | null };

/** The app of a listener that serves these routes and nothing else. */
export function createApp(
  routes: readonly Route[],
  dependencies: AppDependencies,
  { trustProxy, isHttps, publicBudget, adviceForUnknown, renderFailure }: AppSettings,
): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('trust proxy', trustProxy);
  app.use(requestContext(dependencies, isHttps));
  app.use(async (request, _response, next) => {
    await rejectBeyondLimit(request);
    next();
  });
  for (const route of routes) app[route.method](route.path, handleRoute(route));
  for (const [path, methods] of methodsByPath(routes)) {
    app.all(path, (request) => {
      publicBudget?.count(request);
      throw unknownMethod(request.method, methods, adviceForUnknown?.(request));
    });
  }
  app.use((request) => {
    publicBudget?.count(request);
    throw unknownAddress(adviceForUnknown?.(request));
  });
  app.use(handleError(dependencies, renderFailure));
  return app;
}

function methodsByPath(routes: readonly Route[]): Map<string, string[]> {
  const methods = new Map<string, string[]>();
  for (const { path, method } of routes) methods.set(path, [...(methods.get(path) ?? []), method.toUpperCase()]);
  return methods;
}

/** The token of a QR image, of a checkout page, of a payment link or of a link that signs in is a secret. */
const TOKEN = /^(\/+(?:qris|pay|link|start|invitations|reset)\/+)[^/]+?(\.png|\.svg)?(?=\/|$)/i;

function loggedPath({ path }: Request): string {
  return path.replace(TOKEN, '$1…$2');
}

const ONE_YEAR_SECONDS = 31_536_000;

/**
 * Sets the request id and the security headers. Logs the request when its response is complete, or when the caller has
 * closed the connection before that. There is no CORS header, since keys belong on servers only. Keys and bodies are
 * never logged.
 */
function requestContext({ log, requestLog }: AppDependencies, isHttps: boolean): RequestHandler {
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
      const { caller } = response.locals;
      const rejection = loggedRejection(response);
      log.info({ ...caller, clientAddress: address, method, path, ...result, durationMs, ...rejection }, 'request');
      if (isObserved(response)) {
        const { status } = result;
        requestLog?.add({ method, path, status, durationMs, ...describeRequest(correlation, durationMs, response) });
      }
    };
    withCorrelation(correlation, {}, () => {
      response.on('close', inCurrentScope(logRequest));
      next();
    });
  };
}

function rejectionOf({ locals }: Response): LoggedRejection | undefined {
  return locals.rejection;
}

function loggedRejection(response: Response) {
  const rejection = rejectionOf(response);
  if (!rejection) return undefined;
  const { code, reason, internal } = rejection;
  return { code, ...(reason !== null && { errorReason: reason }), reason: internal };
}

type RequestDescription = Omit<CompletedRequest, 'method' | 'path' | 'status' | 'durationMs'>;

/** What a completed request has beside its line in HTTP. */
function describeRequest({ requestId }: Correlation, durationMs: number, response: Response): RequestDescription {
  const caller: { readonly keyId: string; readonly merchantId?: string } | undefined = response.locals.caller;
  const rejection = rejectionOf(response);
  const { paymentId, paymentIds = paymentId === undefined ? [] : [paymentId] } = logIds();
  const ignored = ignoredInputOf(response);
  return {
    requestId,
    startedAt: new Date(Date.now() - durationMs),
    keyId: caller?.keyId ?? null,
    merchantId: caller?.merchantId ?? null,
    errorCode: rejection?.code ?? null,
    errorReason: rejection?.reason ?? null,
    errorDetail: rejection?.internal ?? null,
    ignoredFields: ignored.fields,
    ignoredParameters: ignored.parameters,
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

/** A phone on a slow network reads the largest response, the 150 kB of the OpenAPI document, at 40 kbit/s. */
const WRITE_TIMEOUT_MS = 30_000;

function handleRoute(route: Route): RequestHandler {
  return async (request, response) => {
    response.locals.route = route;
    traceRequest(route, response);
    send(response, await call(route, request, response));
  };
}

function isObserved({ locals }: Response): boolean {
  const route: Route | undefined = locals.route;
  return !route?.isUnobserved;
}

/** The span of a request, from its headers to the end of its response. */
function traceRequest({ method, path, isUnobserved }: Route, response: Response): void {
  if (isUnobserved) return;
  const name = `${method.toUpperCase()} ${path}`;
  const attributes = { 'http.request.method': method.toUpperCase(), 'http.route': path };
  const span = startSpan(name, { kind: SpanKind.SERVER, attributes });
  const traceparent = traceparentOf(span);
  if (traceparent === undefined) return;
  setTraceparent(traceparent);
  const end = () => {
    const { statusCode } = response;
    const isError = statusCode >= 500 || !response.writableFinished;
    endSpan(span, { isError, attributes: { 'http.response.status_code': statusCode } });
  };
  response.once('close', inCurrentScope(end));
}

/** The checks in the order of docs/contract.md#authentication: key, address, merchant, scope, rate limit, body. */
async function call(route: Route, request: Request, response: Response): Promise<EndpointResponse> {
  const deadline = new RequestDeadline();
  const handle = await deadline.race(route.admit(request, response));
  if (route.readsBody === 'optional') await readOptionalBody(request, response);
  else if (route.readsBody) await readBody(request, response, route.maxBytes);
  return deadline.race(handle());
}

/** Destroys the connection if the caller does not read the response in time. A stream limits its readers itself. */
function send(response: Response, { status, headers, cookies = [], body }: EndpointResponse): void {
  if (cookies.length > 0) response.append('Set-Cookie', [...cookies]);
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

/** Sends JSON without `response.json`, which parses the content type for each response: six percent of a GET's CPU. */
function sendJson(response: Response, body: unknown): void {
  const text = JSON.stringify(body);
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Content-Length', Buffer.byteLength(text));
  response.end(text);
}

/**
 * Sends a rejection as its door words it (docs/contract.md#errors). Other errors become a 500 with the request id and
 * nothing internal.
 */
function handleError({ log }: AppDependencies, renderFailure: AppSettings['renderFailure']): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    if (response.headersSent) return next(error);
    const known = toApiError(error);
    if (!known) log.error({ err: error, path: loggedPath(request) }, 'request failed');
    const requestId = String(response.locals.requestId);
    const failure = known ?? unexpectedFailure(error, request, response);
    response.locals.rejection = failure;
    increment('lunas_http_requests_rejected_total', { code: failure.code });
    const page = renderFailure?.(known ?? error, request, requestId) ?? pageOf(failure, request, response);
    send(response, page ?? toResponse(failure));
  };
}

function unexpectedFailure(error: unknown, request: Request, { locals }: Response): ApiError {
  const route: Route | undefined = locals.route;
  const advice = route?.adviceAfterFailure?.(request) ?? 'Try again later.';
  const message = `The request could not be processed (${String(locals.requestId)}). ${advice}`;
  const internal = error instanceof ExplainedFailure ? error.message : 'an unexpected error';
  return new ApiError('server_error', message, { internal });
}

/** What the route shows a person; null: its callers are programs. */
function pageOf(failure: ApiError, request: Request, { locals }: Response): EndpointResponse | null {
  const route: Route | undefined = locals.route;
  return route?.renderFailure?.(failure, request) ?? null;
}

/** The JSON of docs/contract.md#errors. */
function toResponse({ httpStatus, headers, body }: ApiError): EndpointResponse {
  return { status: httpStatus, headers, body };
}

function toApiError(error: unknown): ApiError | undefined {
  if (error instanceof ApiError) return error;
  // Express throws it for a path that cannot be decoded.
  if (error instanceof URIError) return unknownAddress();
  return undefined;
}
