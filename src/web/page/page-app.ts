import type { Express, Request, Response } from 'express';
import type { Queryable } from '../../db/connection/pool';
import { mayAccess } from '../../domain/member-roles';
import { LANGUAGES, STEP_UP_LIMITS, type Language } from '../../domain/sign-in';
import { SignInError } from '../../errors';
import { ApiError } from '../../http/api-error';
import { createApp, type TrustProxy } from '../../http/app';
import type { EndpointResponse, LoggedRejection, Route } from '../../http/endpoint';
import type { PublicBudget } from '../../http/rate-limit/public-budget';
import type { Logger } from '../../observability/logger';
import { extendSession, isSteppedUp, readSession, type Session } from '../../services/identity/sessions';
import { PAGE_HEADERS } from './headers';
import { isDatabaseAway, PAGE_PROBLEMS, PageError, type PageProblem } from './page-error';
import { redirectTo, type MemberVisit, type PageAccess, type PageRoute, type Visit } from './page-route';
import { queryOf, readFields } from './read-form';
import { readUpload } from './read-upload';
import { requireHost, requireSameOrigin } from './request-origin';
import { ReturnPaths, SIGN_IN_PATHS, withReturn } from './return-paths';
import { SessionBudget } from './session-budget';
import type { PageCookie } from './session-cookie';

/** What the kernel of the pages uses. */
export interface PageDependencies {
  readonly db: Queryable;
  readonly publicBudget: PublicBudget;
  /** The cookie with the token of the session. */
  readonly cookie: PageCookie;
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
  /** The merchant of the path, if the user is signed in and a member of it. */
  readonly member?: Pick<MemberVisit, 'request' | 'now' | 'session' | 'member'>;
  /** After how many seconds a repeat makes sense. */
  readonly retryAfterSeconds?: number | undefined;
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
  const kernel = { dependencies, renderProblem, returnPaths: new ReturnPaths(routes), budget: new SessionBudget() };
  const pages = [...routes, MISSING_PAGE].map((route) => toRoute(route, kernel));
  return createApp(
    [...otherRoutes, ...pages],
    { log: dependencies.log, requestLog: null },
    {
      trustProxy,
      isHttps: dependencies.origin.protocol === 'https:',
      publicBudget: dependencies.publicBudget,
      renderFailure: (error, request, requestId) =>
        problemResponse(toPageError(error), { language: languageOf(request, null), requestId }, renderProblem),
    },
  );
}

/** An address of a merchant without a page: a member stays in the frame of the merchant. */
const MISSING_PAGE = {
  method: 'get',
  path: '/m/:code/*missing',
  access: 'public',
  respond: () => Promise.reject(new PageError('not_found', 'there is no such page')),
} as const satisfies PageRoute<unknown>;

interface PageKernel<Dependencies> {
  readonly dependencies: Dependencies;
  readonly renderProblem: PageAppSettings['renderProblem'];
  readonly returnPaths: ReturnPaths;
  readonly budget: SessionBudget;
}

function toRoute<Dependencies extends PageDependencies>(
  route: PageRoute<Dependencies>,
  kernel: PageKernel<Dependencies>,
): Route {
  const { dependencies, renderProblem } = kernel;
  return {
    method: route.method,
    path: route.path,
    async admit(request, response) {
      const visitor: Visitor = { language: languageOf(request, null) };
      try {
        const visit = await admitVisit(route, kernel, request, response, visitor);
        if (typeof visit === 'string') return () => Promise.resolve(redirectTo(visit));
        return () => route.respond(dependencies, visit).catch(renderError);
      } catch (error) {
        const page = renderError(error);
        return () => Promise.resolve(page);
      }

      function renderError(error: unknown): EndpointResponse {
        const known = toPageErrorIfKnown(error);
        if (known === undefined) throw error;
        response.locals.rejection = rejectionOf(known);
        const requestId = String(response.locals.requestId);
        return problemResponse(known, { ...visitor, requestId, access: route.access }, renderProblem);
      }
    },
  };
}

/** What the page of a problem shows of its reader, as soon as it is known. */
interface Visitor {
  language: Language;
  member?: NonNullable<ProblemVisit['member']>;
}

/**
 * The order of the checks: host, budget, origin of a form, session, membership, level, step-up, budget of the user,
 * form.
 * @param visitor gets the language and the merchant of the user, for the page of a problem too
 * @returns the path of the page that the browser has to open before this one, such as that of a sign-in
 */
async function admitVisit<Dependencies extends PageDependencies>(
  { method, access, stepUp, upload: uploadField }: PageRoute<Dependencies>,
  { dependencies: { db, publicBudget, origin, cookie }, returnPaths, budget }: PageKernel<Dependencies>,
  request: Request,
  response: Response,
  visitor: Visitor,
): Promise<Visit | string> {
  requireHost(request, origin);
  publicBudget.count(request);
  if (method === 'post') requireSameOrigin(request, origin);
  const now = new Date();
  const token = cookie.read(request);
  const merchantCode = MERCHANT_PATH.exec(request.path)?.[1] ?? null;
  const readAt = async (at: Date) =>
    token === undefined ? undefined : readSession(db, { realm: 'merchant', token, merchantCode }, at);
  const found = await readAt(now);
  visitor.language = languageOf(request, found ?? null);
  const session = signedIn(found);
  if (session?.membership) visitor.member = { request, now, session, member: session.membership };
  const pending = found && found.stage !== 'full' ? found : null;
  if (session && !isAutomatic(request)) await extendSession(db, session, now);
  const ownPath = method === 'get' ? returnPaths.find(request.originalUrl) : returnPaths.findFormPage(request.path);
  const before = pageBefore(access, { session, pending });
  if (before !== null) {
    if (!isNavigation(request)) throw new PageError('signed_out');
    return withReturn(before, ownPath);
  }
  const problem = findAccessProblem(access, session);
  if (problem) throw problem;
  if (stepUp && session) {
    const limitMs = method === 'get' ? STEP_UP_LIMITS.formMs : STEP_UP_LIMITS.postMs;
    if (!isSteppedUp(session, limitMs, now)) return withReturn(SIGN_IN_PATHS.stepUp, ownPath);
  }
  if (found) await budget.count(found, method);
  const upload = uploadField ? await readUpload(request, response, uploadField) : 'missing';
  const fields = method === 'post' && !uploadField ? await readFields(request, response) : queryOf(request);
  const returnPath = returnPaths.find(fields.get('then') ?? undefined);
  const mayStillSee = async () => findAccessProblem(access, signedIn(await readAt(new Date()))) === null;
  return { request, language: visitor.language, now, session, pending, fields, upload, returnPath, mayStillSee };
}

const signedIn = (session: Session | undefined) => (session?.stage === 'full' ? session : null);

/** The page of the sign-in that the browser has to open first; null: none. */
function pageBefore(access: PageAccess, { session, pending }: Pick<Visit, 'session' | 'pending'>): string | null {
  if (access === 'public') return null;
  if (access === 'pending') {
    if (pending) return null;
    return session ? SIGN_IN_PATHS.home : SIGN_IN_PATHS.login;
  }
  if (session) return null;
  if (pending) return pending.stage === 'enrol' ? SIGN_IN_PATHS.enrol : SIGN_IN_PATHS.code;
  return SIGN_IN_PATHS.login;
}

/** Whether the browser opens a page. A poll, a stream, an image or a program gets a status and no other page. */
function isNavigation(request: Request): boolean {
  const destination = request.get('sec-fetch-dest');
  return !isAutomatic(request) && (destination === undefined || destination === 'document');
}

/** An open page makes these requests without its user. */
function isAutomatic(request: Request): boolean {
  return request.get('x-poll') !== undefined || request.get('accept') === 'text/event-stream';
}

/** @returns why the session may not open the page; `not_found` also for a merchant of which the user is no member */
function findAccessProblem(access: PageAccess, session: Session | null): PageError | null {
  if (access === 'public' || access === 'pending') return null;
  if (session === null) return new PageError('signed_out');
  if (access === 'signed_in') return null;
  if (session.membership === null) return new PageError('not_found', 'the user is no member of the merchant');
  const { role } = session.membership;
  if (mayAccess(role, access.area, access.level)) return null;
  return new PageError('forbidden', `${role} has less than ${access.level} in ${access.area}`);
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
  if (error instanceof SignInError) return pageErrorOf(error);
  if (!(error instanceof ApiError)) return undefined;
  if (error.reason === 'body_too_large') return new PageError('too_large', error.internal);
  if (error.code === 'invalid_json') return new PageError('not_received', error.internal, error.headers);
  if (error.code === 'rate_limited') return new PageError('too_many_requests', error.internal, error.headers);
  return error.code === 'not_found' ? new PageError('not_found', error.internal) : undefined;
}

/** A page that has a form for it shows the reason itself. */
function pageErrorOf({ reason, message, retryAfterSeconds }: SignInError): PageError | undefined {
  const headers = retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) };
  switch (reason) {
    case 'throttled':
      return new PageError('too_many_requests', message, headers);
    case 'busy':
    case 'unavailable':
      return new PageError('unavailable', message, headers);
    case 'session_ended':
      return new PageError('signed_out', message);
    case 'link_used':
    case 'link_invalid':
      return new PageError(reason, message);
    case 'credentials':
    case 'code':
    case 'passkey':
    case 'not_stepped_up':
      return undefined;
  }
}

const rejectionOf = ({ problem, internal }: PageError): LoggedRejection => ({ code: problem, reason: null, internal });

const toPageError = (error: unknown): PageError => toPageErrorIfKnown(error) ?? new PageError('failed');

function problemResponse(
  { problem, headers }: PageError,
  visit: Omit<ProblemVisit, 'problem'>,
  renderProblem: PageAppSettings['renderProblem'],
): EndpointResponse {
  return {
    status: PAGE_PROBLEMS[problem],
    headers: { ...PAGE_HEADERS, ...headers },
    body: renderProblem({ ...visit, problem, retryAfterSeconds: secondsOf(headers['Retry-After']) }),
  };
}

const secondsOf = (text: string | undefined) => (text === undefined ? undefined : Number(text));
