import type { Express, Request, Response } from 'express';
import type { Queryable } from '../../db/connection/pool';
import { mayAccess } from '../../domain/member-roles';
import { LANGUAGES, type Language } from '../../domain/sign-in';
import { ApiError } from '../../http/api-error';
import { createApp, type TrustProxy } from '../../http/app';
import type { EndpointResponse, Rejection, Route } from '../../http/endpoint';
import type { PublicBudget } from '../../http/rate-limit/public-budget';
import type { Logger } from '../../observability/logger';
import { extendSession, readSession, type Session } from '../../services/identity/sessions';
import { PAGE_HEADERS } from './headers';
import { isDatabaseAway, PAGE_PROBLEMS, PageError, type PageProblem } from './page-error';
import type { PageAccess, PageRoute, Visit } from './page-route';
import { queryOf, readFields } from './read-form';
import { requireHost, requireSameOrigin } from './request-origin';
import type { SessionCookie } from './session-cookie';

/** What the kernel of the pages uses. */
export interface PageDependencies {
  readonly db: Queryable;
  readonly publicBudget: PublicBudget;
  readonly cookie: SessionCookie;
  /** At which browsers reach the pages. */
  readonly origin: URL;
  readonly log: Logger;
}

/** A problem as its page needs it. */
export interface ProblemVisit {
  readonly problem: PageProblem;
  readonly language: Language;
  readonly requestId: string;
  /** Who is missing the right, on a page that was found. */
  readonly access?: PageAccess;
}

export interface PageAppSettings {
  readonly trustProxy: TrustProxy;
  /** The page of a problem as HTML. */
  readonly renderProblem: (visit: ProblemVisit) => string;
  /** Routes that are no pages: probes and files. */
  readonly otherRoutes: readonly Route[];
}

/** The code in the path `/m/<code>/…`. */
const MERCHANT_PATH = /^\/m\/([0-9A-HJKMNP-TV-Z]{8})(?:\/|$)/;

/** The app of a listener that serves pages. */
export function createPageApp<Dependencies extends PageDependencies>(
  routes: readonly PageRoute<Dependencies>[],
  dependencies: Dependencies,
  { trustProxy, renderProblem, otherRoutes }: PageAppSettings,
): Express {
  const pages = routes.map((route) => toRoute(route, dependencies, renderProblem));
  return createApp(
    [...otherRoutes, ...pages],
    { log: dependencies.log, requestLog: null },
    {
      trustProxy,
      isHttps: dependencies.origin.protocol === 'https:',
      renderFailure: (error, request, requestId) =>
        problemResponse(toPageError(error), { language: languageOf(request, null), requestId }, renderProblem),
    },
  );
}

function toRoute<Dependencies extends PageDependencies>(
  route: PageRoute<Dependencies>,
  dependencies: Dependencies,
  renderProblem: PageAppSettings['renderProblem'],
): Route {
  return {
    method: route.method,
    path: route.path,
    async admit(request, response) {
      let language = languageOf(request, null);
      try {
        const visit = await admitVisit(route, dependencies, request, response);
        ({ language } = visit);
        return () => route.respond(dependencies, visit).catch((error: unknown) => renderError(error, language));
      } catch (error) {
        const page = renderError(error, language);
        return () => Promise.resolve(page);
      }

      function renderError(error: unknown, pageLanguage: Language): EndpointResponse {
        const known = toPageErrorIfKnown(error);
        if (known === undefined) throw error;
        response.locals.rejection = rejectionOf(known);
        const requestId = String(response.locals.requestId);
        return problemResponse(known, { language: pageLanguage, requestId, access: route.access }, renderProblem);
      }
    },
  };
}

/** The order of the checks: host, budget, origin of a form, session, membership, level. */
async function admitVisit<Dependencies>(
  { method, access }: PageRoute<Dependencies>,
  dependencies: PageDependencies,
  request: Request,
  response: Response,
): Promise<Visit> {
  const { db, publicBudget, origin, cookie } = dependencies;
  requireHost(request, origin);
  publicBudget.count(request);
  if (method === 'post') requireSameOrigin(request, origin);
  const now = new Date();
  const token = cookie.read(request);
  const merchantCode = MERCHANT_PATH.exec(request.path)?.[1] ?? null;
  const found =
    token === undefined ? undefined : await readSession(db, { realm: 'merchant', token, merchantCode }, now);
  const session = found?.stage === 'full' ? found : null;
  if (session && !isAutomatic(request)) await extendSession(db, session, now);
  assertAccess(access, session);
  const fields = method === 'post' ? await readFields(request, response) : queryOf(request);
  return { request, language: languageOf(request, session), now, session, fields };
}

/** An open page makes these requests without its user. */
function isAutomatic(request: Request): boolean {
  return request.get('x-poll') !== undefined || request.get('accept') === 'text/event-stream';
}

/** @throws PageError `not_found` also for a merchant of which the user is no member */
function assertAccess(access: PageAccess, session: Session | null): void {
  if (access === 'public') return;
  if (session === null) throw new PageError('signed_out');
  if (access === 'signed_in') return;
  if (session.membership === null) throw new PageError('not_found', 'the user is no member of the merchant');
  const { role } = session.membership;
  if (!mayAccess(role, access.area, access.level)) {
    throw new PageError('forbidden', `${role} has less than ${access.level} in ${access.area}`);
  }
}

/** The language of the user, else of `?lang`, else of the browser; Indonesian if none of them names one. */
function languageOf(request: Request, session: Session | null): Language {
  if (session !== null) return session.user.language;
  const chosen = LANGUAGES.find((language) => language === request.query.lang);
  const accepted = request.acceptsLanguages([...LANGUAGES]);
  return chosen ?? LANGUAGES.find((language) => language === accepted) ?? 'id';
}

function toPageErrorIfKnown(error: unknown): PageError | undefined {
  if (error instanceof PageError) return error;
  if (isDatabaseAway(error)) return new PageError('unavailable', 'PostgreSQL is away', { 'Retry-After': '5' });
  if (!(error instanceof ApiError)) return undefined;
  if (error.code === 'rate_limited') return new PageError('too_many_requests', error.internal, error.headers);
  return error.code === 'not_found' ? new PageError('not_found', error.internal) : undefined;
}

const rejectionOf = ({ problem, internal }: PageError): Rejection => ({ code: problem, reason: null, internal });

const toPageError = (error: unknown): PageError => toPageErrorIfKnown(error) ?? new PageError('failed');

function problemResponse(
  { problem, headers }: PageError,
  visit: Omit<ProblemVisit, 'problem'>,
  renderProblem: PageAppSettings['renderProblem'],
): EndpointResponse {
  return {
    status: PAGE_PROBLEMS[problem],
    headers: { ...PAGE_HEADERS, ...headers },
    body: renderProblem({ ...visit, problem }),
  };
}
