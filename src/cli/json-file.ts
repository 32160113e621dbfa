import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { UserError } from '../errors';
import { parseJson } from '../lib/parse-json';
import { snakeCase } from '../lib/snake-case';

/**
 * Reads a JSON object whose keys are the fields in snake case. The messages of the fields follow their key.
 * @param file `-`: standard input
 * @throws UserError with a line for each key that breaks a rule
 */
export async function readJsonFile<Shape extends z.ZodRawShape>(
  file: string,
  shape: Shape,
): Promise<z.output<z.ZodObject<Shape>>> {
  const sent = z.record(z.string(), z.unknown()).safeParse(parseJson(await readText(file)));
  if (!sent.success) throw new UserError(`${file} must be a JSON object.`);
  const names = new Map(Object.keys(shape).map((field) => [snakeCase(field), field]));
  const fields = Object.fromEntries(Object.entries(sent.data).map(([key, value]) => [names.get(key) ?? key, value]));
  const unknown = Object.keys(sent.data).filter((key) => !names.has(key));
  const parsed = z.object(shape).safeParse(fields);
  const violations = [
    ...unknown.map((key) => `Unknown key: ${key}.`),
    ...(parsed.error?.issues ?? []).map(({ path, message }) => `${snakeCase(String(path[0]))} ${message}.`),
  ];
  if (violations.length === 0 && parsed.success) return parsed.data;
  throw new UserError(violations.join('\n'));
}

async function readText(file: string): Promise<string> {
  if (file === '-') return text(process.stdin);
  return readFile(file, 'utf8').catch(() => {
    throw new UserError(`${file} cannot be read.`);
  });
}
