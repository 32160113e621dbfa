import { execFile, execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { dataDirectoryAt } from '../../src/local-stack/data-directory';
import { freePort } from '../../src/local-stack/ports';
import { readRunFile, type RunFile } from '../../src/local-stack/run-file';
import { PACKAGE_ROOT } from '../../src/package-info';
import { eventually } from './eventually';
import { testEnvironment } from './test-environment';

export const LUNAS = path.join(PACKAGE_ROOT, 'dist', 'src', 'cli', 'lunas.js');
const READY_TIMEOUT_MS = 90_000;

/** Free ports, so that tests can run beside a real `lunas up`. */
export async function freePorts(): Promise<NodeJS.ProcessEnv> {
  const variables = [
    'PORT',
    'OPERATOR_PORT',
    'DASHBOARD_PORT',
    'SANDBOX_PORT',
    'POSTGRES_PORT',
    'TEMPORAL_PORT',
    'TEMPORAL_UI_PORT',
    'CODEC_PORT',
  ];
  const ports = new Set<number>();
  while (ports.size < variables.length) ports.add(await freePort());
  return Object.fromEntries([...ports].map((port, index) => [variables[index], String(port)]));
}

/** Runs a built command with only this environment. After the timeout it is stopped. */
export function runBuiltLunas(args: readonly string[], environment: NodeJS.ProcessEnv, timeoutMs = 300_000) {
  const options = { env: { PATH: process.env.PATH, ...environment }, timeout: timeoutMs };
  return promisify(execFile)(process.execPath, [LUNAS, ...args], options).then(
    ({ stdout, stderr }) => ({ exitCode: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ exitCode: code, stdout, stderr }),
  );
}

/** The built `lunas up` or `lunas services`, as a user starts it. Stop it in `afterEach`. */
export class LunasProcess {
  stdout = '';
  stderr = '';
  readonly pid: number;
  readonly exitCode: Promise<number | null>;
  private readonly child: ChildProcess;

  constructor(
    command: 'up' | 'services',
    private readonly home: string,
    environment: NodeJS.ProcessEnv,
    // A developer's `.env` is in another directory.
    cwd = os.tmpdir(),
  ) {
    const temporalCli = { TEMPORAL_CLI_PATH: testEnvironment('TEMPORAL_CLI_PATH') };
    const child = spawn(process.execPath, [LUNAS, command, '--json'], {
      cwd,
      env: { PATH: process.env.PATH, LUNAS_HOME: home, ...temporalCli, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.on('data', (chunk: Buffer) => (this.stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
    this.child = child;
    this.pid = child.pid ?? 0;
    this.exitCode = once(child, 'close').then(() => child.exitCode);
  }

  /** Resolves when the process has written its `run.json`. */
  async ready(): Promise<RunFile> {
    const seen = await eventually(
      async () => ({
        run: await readRunFile(dataDirectoryAt(this.home)),
        exitCode: this.child.exitCode,
        stderr: this.stderr,
      }),
      ({ run, exitCode }) => run?.pid === this.pid || exitCode !== null,
      READY_TIMEOUT_MS,
    );
    if (seen.run === null) throw new Error(`lunas ended with exit code ${seen.exitCode}: ${seen.stderr}`);
    return seen.run;
  }

  /** The ids of its child processes, by a word of their command line. */
  children(word: string): number[] {
    const lines = execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' }).trim().split('\n');
    return lines
      .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [])
      .filter(([, , parent, commandLine]) => Number(parent) === this.pid && commandLine?.includes(word))
      .map(([, pid]) => Number(pid));
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  async stop(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.kill('SIGINT');
    await this.exitCode;
  }
}
