/** In this order: Edge and Opera also name Chrome, and Chrome also names Safari. */
const BROWSERS: readonly (readonly [name: string, token: RegExp])[] = [
  ['Edge', /\bEdg(?:e|A|iOS)?\//],
  ['Opera', /\bOPR\//],
  ['Samsung Internet', /\bSamsungBrowser\//],
  ['Firefox', /\b(?:Firefox|FxiOS)\//],
  ['Chrome', /\b(?:Headless)?Chrome\/|\bCriOS\//],
  ['Safari', /\bSafari\//],
];

/** Android names Linux too, and an iPad may call itself a Mac. */
const SYSTEMS: readonly (readonly [name: string, token: RegExp])[] = [
  ['Android', /\bAndroid\b/],
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['Windows', /\bWindows\b/],
  ['macOS', /\bMacintosh\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['Linux', /\bLinux\b/],
];

/** `Chrome · Windows` for the header `User-Agent`; null if it names nothing that is known. */
export function describeBrowser(userAgent: string): string | null {
  const names = [BROWSERS, SYSTEMS].map((known) => known.find(([, token]) => token.test(userAgent))?.[0]);
  return names.filter((name) => name !== undefined).join(' · ') || null;
}
