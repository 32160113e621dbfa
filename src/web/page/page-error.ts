import { codeOf, messageOf, NotFoundError } from '../../errors';

/** What can prevent a page. Each has a text in each language. */
export const PAGE_PROBLEMS = {
  not_found: 404,
  forbidden: 403,
  signed_out: 401,
  cross_site: 403,
  too_large: 413,
  not_received: 400,
  wrong_host: 421,
  too_many_requests: 429,
  link_used: 410,
  link_invalid: 404,
  unavailable: 503,
  failed: 500,
} as const;
export type PageProblem = keyof typeof PAGE_PROBLEMS;

/** A page that is not shown, and why. */
export class PageError extends Error {
  constructor(
    readonly problem: PageProblem,
    /** For the log. The user never sees it. */
    readonly internal: string = problem,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(internal);
  }
}

/** Throws that there is no page, for an object that the user does not reach. */
export function orNoPage(error: unknown): never {
  throw error instanceof NotFoundError ? new PageError('not_found', error.message) : error;
}

/** Codes of Node.js and of PostgreSQL (classes 08 and 57P) for a server that is away, starts or stops. */
const AWAY = /^(ECONN|EPIPE|ENOTFOUND|EHOSTUNREACH|ETIMEDOUT|08|57P|53300)/;
/** node-postgres has no code for these. */
const AWAY_MESSAGES = /timeout exceeded when trying to connect|Connection terminated|Query read timeout/;

/** Whether PostgreSQL is away: the page of this problem needs nothing of it. */
export function isDatabaseAway(error: unknown): boolean {
  return AWAY.test(codeOf(error) ?? '') || AWAY_MESSAGES.test(messageOf(error));
}
