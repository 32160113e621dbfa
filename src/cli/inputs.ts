import { z } from 'zod';
import { parseDuration } from './duration';

/** Longer is a slip of the pen. */
const LONGEST_SECONDS = 365 * 86_400;

/** Schemas of what is typed; their messages continue the name of the option. */

export const id = z.uuid({ error: 'must be a UUID' });

const MOST_NOTE_CHARACTERS = 500;

/** Why an operator does it; it stays in the audit trail. */
export const note = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(MOST_NOTE_CHARACTERS, `must have at most ${MOST_NOTE_CHARACTERS} characters`);

export const instant = z.iso
  .datetime({ offset: true, error: 'must be an instant such as 2026-01-31T09:00:00Z' })
  .transform((text) => new Date(text));

/** `NaN` never passes, nor do fractions. */
export function wholeNumber(least: number, most: number) {
  return z
    .string()
    .refine((text) => /^\d{1,15}$/.test(text) && Number(text) >= least && Number(text) <= most, {
      error: `must be a whole number from ${least} to ${most}`,
    })
    .transform(Number);
}

export function oneOf<const Values extends readonly string[]>(values: Values) {
  return z.enum(values, { error: `must be ${listed(values)}` });
}

/** `3s`, `15m`, `2h`, `1d`, in seconds. */
export function durationFrom(leastSeconds: number) {
  return z.string().transform((text, context) => {
    const seconds = parseDuration(text);
    if (seconds !== undefined && seconds >= leastSeconds && seconds <= LONGEST_SECONDS) return seconds;
    context.addIssue({
      code: 'custom',
      input: text,
      message: `must be a duration from ${leastSeconds}s to 365d, such as 3s, 15m, 2h or 1d`,
    });
    return z.NEVER;
  });
}

/** `a`, `a or b`, `a, b or c`. */
export function listed(values: readonly string[]): string {
  return values.length < 2 ? values.join('') : `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`;
}
