import { CommanderError } from 'commander';
import { UserError } from '../errors';
import { explainError } from './error-hints';
import { createProgram } from './program';
import type { Terminal } from './terminal';

const FAILED = 1;
const USAGE = 2;

/**
 * Runs one command, `argv` without node and script; errors are printed on stderr.
 * @returns the exit code: 0, 1 for an error, 2 for wrong usage
 */
export async function run(argv: readonly string[], terminal: Terminal): Promise<number> {
  try {
    const program = await createProgram(terminal, argv);
    await program.parseAsync(argv, { from: 'user' });
    return 0;
  } catch (error) {
    // Commander has printed the help, the version or the usage error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE;
    terminal.stderr.write(`error: ${describe(error, terminal.environment['LOG_LEVEL'] ?? '')}\n`);
    return FAILED;
  }
}

function describe(error: unknown, logLevel: string): string {
  if (error instanceof UserError) return explainError(error);
  if (!(error instanceof Error)) return String(error);
  if (['debug', 'trace'].includes(logLevel)) return error.stack ?? error.message;
  return `${error.message || error.name}\nUnexpected error. Set LOG_LEVEL=debug for the stack trace.`;
}
