import { z } from 'zod';

/**
 * A string with a maximum length in Unicode characters, as in PostgreSQL and JSON Schema: an emoji counts one, although
 * JavaScript counts two.
 */
export function boundedText(maxCharacters: number) {
  const rule = { error: `must be a string of at most ${maxCharacters} characters` };
  return z
    .string(rule)
    .refine((text) => text.length <= 2 * maxCharacters && Array.from(text).length <= maxCharacters, rule)
    .meta({ maxLength: maxCharacters });
}
