import type { Request } from 'express';

/** A cookie that only this listener reads. */
export interface PageCookie {
  read(request: Request): string | undefined;
  /** The value of `Set-Cookie`. */
  set(value: string, expiresAt: Date): string;
  clear(): string;
}

/**
 * `__Host-` binds the cookie to this host, without a domain, over https. A development server on http has no such
 * cookie, and all ports of localhost share their cookies, so the port is in its name.
 * @param purpose `dashboard` for the session
 */
export function pageCookie(origin: URL, purpose: string): PageCookie {
  const isSecure = origin.protocol === 'https:';
  const name = isSecure ? `__Host-lunas_${purpose}` : `lunas_${purpose}_${origin.port || '80'}`;
  // Lax and not Strict: a link in a mail opens a page that is signed in.
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  return {
    read: (request) => valueOf(name, request.get('cookie') ?? ''),
    set: (value, expiresAt) => `${name}=${value}; Expires=${expiresAt.toUTCString()}; ${attributes}`,
    clear: () => `${name}=; Max-Age=0; ${attributes}`,
  };
}

function valueOf(name: string, header: string): string | undefined {
  const pairs = header.split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
}
