import type { Request, Response } from 'express';

const HEADERS = { fields: 'X-Ignored-Fields', parameters: 'X-Ignored-Parameters' } as const;

export type IgnoredKind = keyof typeof HEADERS;
/** What a request had and Lunas did not read: names only, safe for a header and a log. */
export type IgnoredInput = Readonly<Record<IgnoredKind, readonly string[]>>;

const MAX_NAMES = 10;
/** Stands for the names that are not shown. */
const OTHERS = '...';

/**
 * A name as programs give it: `payments[].callback_url`, `expand[]`. Callers choose the names, and other text, such as
 * an e-mail address or a secret key, is longer or has other characters.
 */
const SHOWN_NAME = /^(?:payments\[\]\.)?[A-Za-z_$][\w$.[\]-]{0,39}$/;

/** Adds names to the header of the response, and to the record of the request. */
export function reportIgnored({ res: response }: Request, kind: IgnoredKind, names: readonly string[]): void {
  if (!response || names.length === 0) return;
  const before = ignoredInputOf(response);
  const all = shownNames([...before[kind], ...names]);
  response.set(HEADERS[kind], all.join(', '));
  response.locals.ignoredInput = { ...before, [kind]: all };
}

/** What was reported for a response. */
export function ignoredInputOf({ locals }: Response): IgnoredInput {
  const { ignoredInput = { fields: [], parameters: [] } }: { ignoredInput?: IgnoredInput } = locals;
  return ignoredInput;
}

/** Each name once, at most ten of them. `...` at the end stands for all others. */
function shownNames(names: readonly string[]): string[] {
  const distinct = [...new Set(names)].filter((name) => name !== OTHERS);
  const shown = distinct.filter((name) => SHOWN_NAME.test(name)).slice(0, MAX_NAMES);
  const hasOthers = shown.length < distinct.length || names.includes(OTHERS);
  return hasOthers ? [...shown, OTHERS] : shown;
}
