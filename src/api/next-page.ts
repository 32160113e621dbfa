import type { Request } from 'express';

/** The value of a `Link` header: the address of the request with another cursor (RFC 8288). */
export function linkToNext(publicBaseUrl: string, { originalUrl, path }: Request, cursor: string): string {
  const query = new URLSearchParams(originalUrl.replace(/^[^?]*/, ''));
  query.set('cursor', cursor);
  return `<${publicBaseUrl}${path}?${query.toString()}>; rel="next"`;
}
