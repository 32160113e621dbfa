import { run } from '../../src/cli/run';

export interface Outcome {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command in this process, with only this environment. */
export async function runLunas(args: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<Outcome> {
  const [stdout, stderr]: [string[], string[]] = [[], []];
  const terminal = { stdout: outputInto(stdout), stderr: outputInto(stderr), environment };
  const exitCode = await run(args, terminal);
  return { exitCode, stdout: stdout.join(''), stderr: stderr.join('') };
}

/** An output that is never full. */
export function outputInto(chunks: string[]) {
  return {
    write: (chunk: string | Uint8Array) => chunks.push(String(chunk)) > 0,
    once: () => {
      throw new Error('This output is never full');
    },
  };
}
