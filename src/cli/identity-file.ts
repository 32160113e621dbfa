import { z } from 'zod';
import { DETAIL_RULES, PUBLIC_RULES } from '../services/merchants/merchant-identity';
import { readJsonFile } from './json-file';

const publicSchema = z.object(PUBLIC_RULES);
const detailsSchema = z.object(DETAIL_RULES);

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
  const fields = await readJsonFile(file, { ...PUBLIC_RULES, ...DETAIL_RULES });
  return { ...publicSchema.parse(fields), details: detailsSchema.parse(fields) };
}
