import type { PageRoute } from './page-route';

/** The pages of signing in and out, and the first one after that. Each listener with pages has them. */
export const SIGN_IN_PATHS = {
  home: '/',
  login: '/login',
  code: '/login/code',
  passkey: '/login/passkey',
  enrol: '/login/enrol',
  stepUp: '/step-up',
  logout: '/logout',
} as const;

/**
 * What stands in a path for a parameter: as `encodeURIComponent` writes up to 128 visible characters, such as an id of
 * a request with a slash. Nothing of it can be read as another origin or another page, also by a proxy that decodes
 * it: so a dot only stands between letters and digits, and neither a backslash nor a percent sign is accepted.
 */
const ENCODED = String.raw`%(?:2[1-46-9A-DF]|[346][\dA-F]|5[\dABD-F]|7[\dA-E])`;
const SEGMENT = String.raw`((?:[\w~!*'()-]|(?<=[\w-])\.(?=[\w-])|${ENCODED}){1,128})`;

/** One of the pages, with the page to which it returns. Home needs no mention. */
export function withReturn(path: string, returnPath: string): string {
  return returnPath === SIGN_IN_PATHS.home ? path : `${path}?${new URLSearchParams([['then', returnPath]]).toString()}`;
}

/**
 * To where a browser returns after a sign-in or a step-up. The address has to be that of a page
 * that GET opens for a signed-in user, and its query is written again. So no text of an attacker names another origin,
 * or a page that acts, such as a link that signs in.
 */
export class ReturnPaths {
  readonly #patterns: readonly RegExp[];

  constructor(routes: readonly Pick<PageRoute<never>, 'method' | 'path' | 'access' | 'isReturnTarget'>[]) {
    this.#patterns = routes
      .filter(({ method, access, isReturnTarget }) => {
        return method === 'get' && (isReturnTarget ?? (access !== 'public' && access !== 'pending'));
      })
      .map(({ path }) => new RegExp(`^${patternOf(path)}$`));
  }

  /** The page at this address with its query; home if there is no such page. */
  find(address: string | undefined): string {
    if (address === undefined || !/^\/[\w/.~?&=%+:,*!'()-]*$/.test(address)) return SIGN_IN_PATHS.home;
    const separator = address.indexOf('?');
    const path = separator === -1 ? address : address.slice(0, separator);
    const query = separator === -1 ? '' : new URLSearchParams(address.slice(separator + 1)).toString();
    if (!this.#has(path)) return SIGN_IN_PATHS.home;
    return query === '' ? path : `${path}?${query}`;
  }

  /** The page of a form: that at its own address, or at a shorter one. */
  findFormPage(path: string): string {
    for (let shorter = path; shorter.length > 1; shorter = shorter.slice(0, shorter.lastIndexOf('/'))) {
      if (this.#has(shorter)) return shorter;
    }
    return SIGN_IN_PATHS.home;
  }

  #has(path: string): boolean {
    return this.#patterns.some((pattern) => pattern.test(path));
  }
}

function patternOf(path: string): string {
  const parts = path.split(/(:\w+)/).map((part) => (part.startsWith(':') ? SEGMENT : escaped(part)));
  return parts.join('');
}

const escaped = (text: string) => text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
