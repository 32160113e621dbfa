import type { Request } from 'express';
import { encodeCursor } from '../db/payments/cursor';
import type { ListPosition } from '../db/payments/list-payments';
import { cutPage } from '../lib/cut-page';

interface Page<Row> {
  readonly rows: readonly Row[];
  /** With the address of the next page (RFC 8288), if there is one. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The page of a list.
 * @param found the rows from its position on: one more than the page holds, if there are more
 */
export function pageOf<Row extends ListPosition>(
  found: readonly Row[],
  { limit, publicBaseUrl, request }: { limit: number; publicBaseUrl: string; request: Request },
): Page<Row> {
  const { shown, last } = cutPage(found, limit);
  return { rows: shown, headers: last ? { Link: linkToNext(publicBaseUrl, request, encodeCursor(last)) } : {} };
}

/** The value of a `Link` header: the address of the request with another cursor. */
function linkToNext(publicBaseUrl: string, { originalUrl, path }: Request, cursor: string): string {
  const query = new URLSearchParams(originalUrl.replace(/^[^?]*/, ''));
  query.set('cursor', cursor);
  return `<${publicBaseUrl}${path}?${query.toString()}>; rel="next"`;
}
