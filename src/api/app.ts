import { randomUUID } from 'node:crypto';
import express, {
  type ErrorRequestHandler,
  type Express,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import { AnswerTime } from './answer-time';
import { ApiError } from './api-error';
import { authenticate } from './auth/authenticate';
import type { Answer } from './endpoint';
import { authenticateOperator } from './operator/authenticate-operator';
import { countRequest } from './rate-limit/count-request';
import { readBody } from './request-body';
import { ROUTES, type Route } from './routes';
import { securityHeaders } from './security-headers';
import type { ApiServices } from './services';

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

/** Whoever knows the token sees the QR. */
const QR_TOKEN = /^(\/qris\/)[^/.]+/i;

function loggedPath({ path }: Request): string {
  return path.replace(QR_TOKEN, '$1…');
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
        { requestId, method: request.method, path: loggedPath(request), status: response.statusCode, durationMs },
        'request',
      );
    });
    next();
  };
}

function answerRoute(services: ApiServices, route: Route): RequestHandler {
  return async (request, response) => send(response, await call(services, route, request, response));
}

/** Order of checks: key, and what belongs to it, rate limit, and only then the body. */
async function call(services: ApiServices, route: Route, request: Request, response: Response): Promise<Answer> {
  const time = new AnswerTime();
  switch (route.access) {
    case 'public': {
      if (route.readsBody) await readBody(request, response);
      return time.waitFor(route.endpoint(services, request));
    }
    case 'merchant': {
      const merchant = await time.waitFor(admit(services, response, authenticate(services, request)));
      if (route.readsBody) await readBody(request, response);
      return time.waitFor(route.endpoint(services, request, merchant));
    }
    case 'operator': {
      const operator = await time.waitFor(admit(services, response, authenticateOperator(services, request)));
      if (route.readsBody) await readBody(request, response);
      return time.waitFor(route.endpoint(services, request, operator));
    }
  }
}

/** Whoever has a good key, within its rate limit. */
async function admit<Caller extends { readonly keyId: string }>(
  services: ApiServices,
  response: Response,
  authenticated: Promise<Caller>,
): Promise<Caller> {
  const caller = await authenticated;
  response.set(await countRequest(services.rateLimit, caller.keyId));
  return caller;
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
    log.error({ err: error, requestId, path: loggedPath(request) }, 'a request failed');
    const failure = new ApiError('server_error', `The request could not be processed; try again later (${requestId}).`);
    send(response, { status: failure.httpStatus, body: failure.body });
  };
}

function refusalOf(error: unknown): ApiError | undefined {
  if (error instanceof ApiError) return error;
  // Express's own, for a path that cannot be decoded.
  if (error instanceof URIError) return new ApiError('not_found', 'There is no such address.');
  return undefined;
}
