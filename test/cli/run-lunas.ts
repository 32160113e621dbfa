import { run } from '../../src/cli/run';

export interface Outcome {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command in this process, with only this environment. */
export async function runLunas(args: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<Outcome> {
  const [stdout, stderr]: [string[], string[]] = [[], []];
  const into = (chunks: string[]) => ({ write: (chunk: string | Uint8Array) => chunks.push(String(chunk)) > 0 });
  const exitCode = await run(args, { stdout: into(stdout), stderr: into(stderr), environment });
  return { exitCode, stdout: stdout.join(''), stderr: stderr.join('') };
}
