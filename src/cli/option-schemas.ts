import { z } from 'zod';
import { YEARS } from '../domain/wib';
import { parseDuration } from './duration';

/** Longer durations are typing errors. */
const MAX_SECONDS = 365 * 86_400;

// The messages of these schemas follow the name of the option.

export const id = z.uuid({ error: 'must be a UUID' });

const MAX_NOTE_CHARACTERS = 500;

/** The operator's reason, for the audit log. */
export const note = textUpTo(MAX_NOTE_CHARACTERS);

export const timestamp = z.iso
  .datetime({ offset: true, error: 'must be a timestamp such as 2026-01-31T09:00:00Z' })
  .transform((text) => new Date(text));

const NO_DAY = 'must be a day such as 2027-01-01';
export const day = z.iso.date({ error: NO_DAY, abort: true }).regex(YEARS, NO_DAY);

export const month = z.string().regex(/^2\d{3}-(0[1-9]|1[0-2])$/, 'must be a month such as 2026-11');

/** The beginning of a period and its end; without one of them it is open. */
export function isPeriod(from: Date | undefined, to: Date | undefined): boolean {
  return from === undefined || to === undefined || from <= to;
}

export function textUpTo(maxCharacters: number) {
  return z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .max(maxCharacters, `must have at most ${maxCharacters} characters`);
}

/** `NaN` never passes, nor do fractions. */
export function wholeNumber(min: number, max: number) {
  return z
    .string()
    .refine((text) => /^\d{1,15}$/.test(text) && Number(text) >= min && Number(text) <= max, {
      error: `must be a whole number from ${min} to ${max}`,
    })
    .transform(Number);
}

export const httpUrl = z.url({ protocol: /^https?$/, error: 'must be a URL such as http://localhost:4000/webhooks' });

/** The length of a list. */
export const limit = wholeNumber(1, 1_000);

export function oneOf<const Values extends readonly string[]>(values: Values) {
  return z.enum(values, { error: `must be ${joinOptions(values)}` });
}

/** `3s`, `15m`, `2h`, `1d`, in seconds. */
export function durationFrom(minSeconds: number) {
  return z.string().transform((text, context) => {
    const seconds = parseDuration(text);
    if (seconds !== undefined && seconds >= minSeconds && seconds <= MAX_SECONDS) return seconds;
    context.addIssue({
      code: 'custom',
      input: text,
      message: `must be a duration from ${minSeconds}s to 365d, such as 3s, 15m, 2h or 1d`,
    });
    return z.NEVER;
  });
}

/** When a new key expires: a duration from now, or a timestamp in the future. */
export const expiry = z.string().transform((text, context) => {
  const seconds = parseDuration(text);
  const expiresAt = seconds === undefined ? timestamp.safeParse(text).data : new Date(Date.now() + seconds * 1_000);
  if (expiresAt && expiresAt.getTime() > Date.now()) return expiresAt;
  const message = 'must be a duration such as 90d, or a timestamp in the future such as 2027-01-31T09:00:00Z';
  context.addIssue({ code: 'custom', input: text, message });
  return z.NEVER;
});

/** The values of an option, separated by commas. */
export function listOf<const Values extends readonly string[]>(values: Values) {
  const rule = { error: `must be a list of ${values.join(', ')}, separated by commas` };
  return z
    .string()
    .transform((text) => text.split(',').map((item) => item.trim()))
    .pipe(z.array(z.enum(values, rule), rule));
}

/** `a`, `a or b`, `a, b or c`. */
export function joinOptions(values: readonly string[]): string {
  return values.length < 2 ? values.join('') : `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`;
}
