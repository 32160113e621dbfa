import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import { ApiError } from './api-error';
import { authenticate } from './auth/authenticate';
import type { Answer } from './endpoint';
import { countRequest } from './rate-limit/count-request';
import { ROUTES, type Route } from './routes';
import { securityHeaders } from './security-headers';
import type { ApiServices } from './services';

/** Of a bulk; a single payment has less (create-payment). */
const BODY_LIMIT = '512kb';

/** @param trustProxy hops or addresses of our own proxies (`TRUST_PROXY`); 0: nobody is believed */
export function createApp(services: ApiServices, trustProxy: number | readonly string[]): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('trust proxy', trustProxy);
  app.use(identify(services));
  for (const route of ROUTES) app[route.method](route.path, answerRoute(services, route));
  app.use(() => {
    throw new ApiError('not_found', 'There is no such address; see the API documentation.');
  });
  app.use(answerFailure(services));
  return app;
}

/** Names the request, guards the answer, and logs both when it is done. Keys and bodies are never logged. */
function identify({ log, publicBaseUrl }: ApiServices): RequestHandler {
  const isHttps = publicBaseUrl.startsWith('https:');
  return (request, response, next) => {
    const startedMs = performance.now();
    const requestId = randomUUID();
    response.locals.requestId = requestId;
    response.set({ 'X-Request-Id': requestId, ...securityHeaders(isHttps || request.secure) });
    response.on('finish', () => {
      const durationMs = Math.round(performance.now() - startedMs);
      log.info(
        { requestId, method: request.method, path: request.path, status: response.statusCode, durationMs },
        'request',
      );
    });
    next();
  };
}

function answerRoute(services: ApiServices, route: Route): RequestHandler {
  return async (request, response) => send(response, await call(services, route, request, response));
}

/** Order of checks: key, allowlist, merchant, rate limit, and only then the body. */
async function call(services: ApiServices, route: Route, request: Request, response: Response): Promise<Answer> {
  if (route.access === 'public') {
    if (route.readsBody) await readBody(request, response);
    return route.endpoint(services, request);
  }
  const merchant = await authenticate(services, request);
  response.set(await countRequest(services.rateLimit, merchant.keyId));
  if (route.readsBody) await readBody(request, response);
  return route.endpoint(services, request, merchant);
}

const readRaw = promisify(express.raw({ type: () => true, limit: BODY_LIMIT }));

/** The body's bytes, as sent; none at all are an empty body. */
async function readBody(request: Request, response: Response): Promise<void> {
  await readRaw(request, response);
  request.body ??= Buffer.alloc(0);
}

function send(response: Response, { status, headers, body }: Answer): void {
  response.status(status).set(headers ?? {});
  if (typeof body === 'string' || Buffer.isBuffer(body)) response.send(body);
  else response.json(body);
}

/** Refusals as the contract says them; anything unexpected as 500 with the request's id and nothing internal. */
function answerFailure({ log }: ApiServices): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    if (response.headersSent) return next(error);
    const requestId = String(response.locals.requestId);
    const refusal = refusalOf(error);
    if (refusal) return send(response, { status: refusal.httpStatus, headers: refusal.headers, body: refusal.body });
    log.error({ err: error, requestId, path: request.path }, 'a request failed');
    const failure = new ApiError('server_error', `The request could not be processed; try again later (${requestId}).`);
    send(response, { status: failure.httpStatus, body: failure.body });
  };
}

/** What Express and its body parser refuse by themselves, in the contract's words. */
function refusalOf(error: unknown): ApiError | undefined {
  if (error instanceof ApiError) return error;
  if (error instanceof URIError) return new ApiError('not_found', 'There is no such address.');
  if (!(error instanceof Error && 'expose' in error && error.expose === true)) return undefined;
  if ('type' in error && error.type === 'entity.too.large')
    return new ApiError('invalid_json', `The body is larger than ${BODY_LIMIT}.`);
  return new ApiError('invalid_json', `The body cannot be read: ${error.message}.`);
}
