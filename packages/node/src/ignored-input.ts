/** Each name once in a process: a program sends the same request again and again. */
const warned = new Set<string>();
/** A program whose names are data has new ones in each request. */
const MAX_WARNINGS = 100;

const KINDS = [
  { header: 'x-ignored-fields', noun: 'field', code: 'LUNAS_IGNORED_FIELD' },
  { header: 'x-ignored-parameters', noun: 'parameter', code: 'LUNAS_IGNORED_PARAMETER' },
] as const;

/**
 * Warns of names in the request that the API does not know, as Node.js warns: `process.on('warning')` receives it, and
 * `--disable-warning=LUNAS_IGNORED_FIELD` hides it.
 * @param call such as `POST /payments`
 */
export function warnOfIgnored(headers: Headers, call: string): void {
  for (const { header, noun, code } of KINDS) {
    for (const name of namesIn(headers.get(header))) {
      const key = `${noun} ${name}`;
      if (warned.has(key) || warned.size === MAX_WARNINGS) continue;
      warned.add(key);
      // `...` stands for names that the header does not show.
      const subject = name === '...' ? `further ${noun}s` : `the ${noun} "${name}"`;
      process.emitWarning(`Lunas ignored ${subject} of ${call}.`, { type: 'LunasWarning', code });
    }
  }
}

function namesIn(header: string | null): string[] {
  return (header ?? '').split(',').flatMap((text) => text.trim().match(/^[\w$.[\]-]{1,60}$/) ?? []);
}
