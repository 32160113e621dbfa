import type { Request } from 'express';
import { PageError } from './page-error';

/**
 * Only requests for the configured host are served, so that a name that an attacker points at the address of this
 * process reads nothing (DNS rebinding).
 * @throws PageError `wrong_host`
 */
export function requireHost({ headers }: Request, origin: URL): void {
  if (headers.host?.toLowerCase() === origin.host) return;
  throw new PageError('wrong_host', `the request is for the host ${headers.host ?? ''}`);
}

/**
 * A form must come from a page of this origin. Browsers name the site of the sender in `Sec-Fetch-Site`, which no page
 * can set. One without that header names the origin.
 * @throws PageError `cross_site`
 */
export function requireSameOrigin(request: Request, origin: URL): void {
  const site = request.get('sec-fetch-site');
  const isOwn = site === undefined ? request.get('origin') === origin.origin : site === 'same-origin';
  if (isOwn) return;
  throw new PageError('cross_site', `the form comes from ${site ?? request.get('origin') ?? 'an unknown site'}`);
}
