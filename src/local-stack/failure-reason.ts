import { z } from 'zod';
import { parseJson } from '../lib/parse-json';
import type { ManagedProcess } from './managed-process';

/** pino's number of `error`. */
const ERROR_LEVEL = 50;

const logLineSchema = z.object({
  level: z.number(),
  msg: z.string(),
  err: z.object({ message: z.string() }).optional(),
});

/** The line of an exception that Node.js prints, between the source code and the stack. */
const EXCEPTION = /^(?:Uncaught )?\w*Error(?: \[\w+\])?: /;
/** Node.js prints its version last. */
const NODE_VERSION = /^Node\.js v/;

/**
 * Why a process ended, by what it has written: its last error, or else its last text. A line of JSON below an error,
 * such as a warning, is no reason: the process has gone on after it.
 */
export async function failureReason(ended: ManagedProcess): Promise<string> {
  const lines = (await ended.readLog()).split('\n').filter((line) => line.trim() !== '' && !NODE_VERSION.test(line));
  const parsed = lines.map((line) => ({ line, log: logLineSchema.safeParse(parseJson(line)).data }));
  const error = parsed.findLast(({ log }) => log !== undefined && log.level >= ERROR_LEVEL)?.log;
  const texts = parsed.filter(({ log }) => log === undefined).map(({ line }) => line);
  const { code, signal } = await ended.exited;
  return (
    error?.err?.message ??
    error?.msg ??
    texts.findLast((line) => EXCEPTION.test(line)) ??
    texts.at(-1) ??
    (signal === null ? `exit code ${code}` : `signal ${signal}`)
  );
}
