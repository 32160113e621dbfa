/** The page changes with its payment, and its address is a secret. */
const HEADERS = {
  'Cache-Control': 'no-store',
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex',
} as const;

/**
 * A page loads only from this service. Only pages of these origins may show it in a frame.
 * @param forms where its forms lead: only the page of a link has one
 */
export function checkoutHeaders(
  origins: readonly string[],
  forms: 'none' | 'self' = 'none',
): Readonly<Record<string, string>> {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    `form-action '${forms}'`,
    `frame-ancestors ${origins.length === 0 ? "'none'" : origins.join(' ')}`,
  ];
  return { ...HEADERS, 'Content-Security-Policy': policy.join('; ') };
}

/** The headers of a page, as `checkoutHeaders`. */
export const pageHeaders = (...of: Parameters<typeof checkoutHeaders>) => ({
  ...checkoutHeaders(...of),
  'Content-Type': 'text/html; charset=utf-8',
});

/** An image to save under this name. */
export function imageResponse(name: string, body: Buffer) {
  const disposition = `attachment; filename="${name}"`;
  const headers = { ...checkoutHeaders([]), 'Content-Type': 'image/png', 'Content-Disposition': disposition };
  return { status: 200, headers, body };
}
