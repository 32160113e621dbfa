import type { Request } from 'express';

/** The cookie of a dashboard session. */
export interface SessionCookie {
  read(request: Request): string | undefined;
  /** The value of `Set-Cookie`. */
  set(token: string, expiresAt: Date): string;
  clear(): string;
}

/**
 * `__Host-` binds the cookie to this host, without a domain, over https. A development server on http has no such
 * cookie, and all ports of localhost share their cookies, so the port is in its name.
 */
export function sessionCookie(origin: URL): SessionCookie {
  const isSecure = origin.protocol === 'https:';
  const name = isSecure ? '__Host-lunas_dashboard' : `lunas_dashboard_${origin.port || '80'}`;
  // Lax and not Strict: a link in a mail opens a page that is signed in.
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  return {
    read: (request) => valueOf(name, request.get('cookie') ?? ''),
    set: (token, expiresAt) => `${name}=${token}; Expires=${expiresAt.toUTCString()}; ${attributes}`,
    clear: () => `${name}=; Max-Age=0; ${attributes}`,
  };
}

function valueOf(name: string, header: string): string | undefined {
  const pairs = header.split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
}
