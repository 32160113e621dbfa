import type { Request, Response } from 'express';
import type { z } from 'zod';
import { readBody } from '../../http/request-body';

const MAX_BYTES = 16 * 1_024;

/** The fields that were sent, and what they mean; or what is wrong with them. */
export type FormResult<Values> =
  | { readonly ok: true; readonly sent: SentFields; readonly values: Values }
  | { readonly ok: false; readonly sent: SentFields; readonly errors: FieldErrors };

export type SentFields = Readonly<Partial<Record<string, string>>>;
/** The code of a text for each invalid field. */
export type FieldErrors = Readonly<Record<string, string>>;

/** The code of a field that is sent twice. */
const REPEATED = 'repeated';

/** Reads the body of a form. */
export async function readFields(request: Request, response: Response): Promise<URLSearchParams> {
  await readBody(request, response, MAX_BYTES);
  return new URLSearchParams(Buffer.isBuffer(request.body) ? request.body.toString('utf8') : '');
}

/** The query of the address. */
export function queryOf({ originalUrl }: Request): URLSearchParams {
  return new URL(originalUrl, 'http://localhost').searchParams;
}

/**
 * Parses a form or a query. Empty fields count as absent, and unknown ones are ignored. The messages of the schema are
 * codes of texts.
 */
export function parseFields<Values>(schema: z.ZodType<Values>, fields: URLSearchParams): FormResult<Values> {
  const sent: Record<string, string> = {};
  const repeated: Record<string, string> = {};
  for (const [name, value] of fields) {
    if (Object.hasOwn(sent, name)) repeated[name] = REPEATED;
    else if (value.trim() !== '') sent[name] = value.trim();
  }
  const parsed = schema.safeParse(sent);
  if (parsed.success && Object.keys(repeated).length === 0) return { ok: true, sent, values: parsed.data };
  const issues = parsed.error?.issues ?? [];
  const errors = Object.fromEntries(issues.map(({ path, message }) => [path.join('.'), message]));
  return { ok: false, sent, errors: { ...errors, ...repeated } };
}
