const ONE_YEAR_SECONDS = 31_536_000;

/**
 * The headers of every response for browsers. There is no CORS header, since keys belong on servers only.
 * @param isHttps `Strict-Transport-Security` must not be sent over plain HTTP (RFC 6797, 7.2)
 */
export function securityHeaders(isHttps: boolean): Record<string, string> {
  return {
    'X-Content-Type-Options': 'nosniff',
    ...(isHttps && { 'Strict-Transport-Security': `max-age=${ONE_YEAR_SECONDS}` }),
  };
}
