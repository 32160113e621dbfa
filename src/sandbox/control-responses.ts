import type { NextFunction, Request, Response } from 'express';
import type { z } from 'zod';

/** The parsed body. If it is invalid: undefined, after a response with 400. */
export function parseBody<T>(
  schema: z.ZodType<T>,
  request: Request,
  response: Response,
  errorCode = 'invalid_request',
): T | undefined {
  const parsed = schema.safeParse(request.body);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'the body'}: ${issue.message}`);
  sendError(response, 400, errorCode, problems.join('; '));
  return undefined;
}

/** A page of the sandbox sends forms, other clients JSON. */
export function isForm(request: Request): boolean {
  return typeof request.is('application/x-www-form-urlencoded') === 'string';
}

/** Redirects a form to its page; other clients receive JSON. */
export function done(request: Request, response: Response, body: object): void {
  if (isForm(request)) response.redirect(303, pageOf(request));
  else response.json(body);
}

/** The tab and the search of the page that sent the form. */
function pageOf(request: Request): string {
  const referer = request.get('referer') ?? '';
  return `/${URL.canParse(referer) ? new URL(referer).search : ''}`;
}

export function sendError(response: Response, status: number, code: string, message: string): void {
  response.status(status).json({ error: { code, message } });
}

const LOOPBACK_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;

/**
 * A client that can mark orders as paid must run on this machine, and must address the sandbox by a loopback name. With
 * another name, a website whose name resolves to this machine (DNS rebinding) would have the page's origin.
 */
export function onlyLoopback(request: Request, response: Response, next: NextFunction): void {
  const address = request.socket.remoteAddress?.replace(/^::ffff:/, '') ?? '';
  const isLocal = address === '::1' || address.startsWith('127.');
  if (isLocal && LOOPBACK_HOST.test(request.headers.host ?? '')) next();
  else sendError(response, 403, 'loopback_only', 'The simulator can only be controlled from its own machine.');
}

const READING_METHODS = new Set(['GET', 'HEAD']);

/**
 * Browsers name the origin of each request that may write. A website in the developer's browser must not send one
 * (CSRF). Other clients send none of these headers.
 */
export function onlyOwnPage(request: Request, response: Response, next: NextFunction): void {
  const { origin, host = '', 'sec-fetch-site': site = 'none' } = request.headers;
  const isOwnOrigin = origin === undefined || (origin === `http://${host}` && LOOPBACK_HOST.test(host));
  const isOwnSite = site === 'none' || site === 'same-origin';
  if (READING_METHODS.has(request.method) || (isOwnOrigin && isOwnSite)) next();
  else sendError(response, 403, 'other_origin', 'Only the page of the sandbox can send requests from a browser.');
}
