import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { UserError } from '../errors';
import { parseJson } from '../lib/parse-json';
import { snakeCase } from '../lib/snake-case';
import { DETAIL_RULES, PUBLIC_RULES } from '../services/merchants/merchant-identity';

const publicSchema = z.object(PUBLIC_RULES);
const detailsSchema = z.object(DETAIL_RULES);
/** The keys of the file, by the names of the fields. */
const FIELDS = Object.fromEntries(
  [...Object.keys(PUBLIC_RULES), ...Object.keys(DETAIL_RULES)].map((field) => [snakeCase(field), field]),
);

/** The identity of a merchant as its file has it. */
export interface IdentityFile extends z.output<typeof publicSchema> {
  readonly details: z.output<typeof detailsSchema>;
}

/**
 * Personal data is in no argument, because lists of processes and histories of shells would have it.
 * @param file `-`: standard input
 * @throws UserError with a line for each key that breaks a rule
 */
export async function readIdentityFile(file: string): Promise<IdentityFile> {
  const sent = z.record(z.string(), z.unknown()).safeParse(parseJson(await readText(file)));
  if (!sent.success) throw new UserError(`${file} must be a JSON object.`);
  const fields = Object.fromEntries(Object.entries(sent.data).map(([key, value]) => [FIELDS[key] ?? key, value]));
  const unknown = Object.keys(sent.data).filter((key) => !Object.hasOwn(FIELDS, key));
  const [shown, details] = [publicSchema.safeParse(fields), detailsSchema.safeParse(fields)];
  const violations = [
    ...unknown.map((key) => `Unknown key: ${key}.`),
    ...violationsOf(shown),
    ...violationsOf(details),
  ];
  if (violations.length === 0 && shown.success && details.success) return { ...shown.data, details: details.data };
  throw new UserError(violations.join('\n'));
}

async function readText(file: string): Promise<string> {
  if (file === '-') return text(process.stdin);
  return readFile(file, 'utf8').catch(() => {
    throw new UserError(`${file} cannot be read.`);
  });
}

function violationsOf({ error }: z.ZodSafeParseResult<unknown>): string[] {
  return (error?.issues ?? []).map(({ path, message }) => `${snakeCase(String(path[0]))} ${message}.`);
}
