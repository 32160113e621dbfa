import type { ChildProcess, SpawnOptions } from 'node:child_process';

/** A program, and how to start it. */
export interface Command extends Readonly<Pick<SpawnOptions, 'cwd' | 'env' | 'uid' | 'gid'>> {
  readonly command: string;
  readonly args: readonly string[];
}

/** Signals a detached child and all its descendants. */
export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has ended already.
  }
}

/** Kills the detached child's group when this process exits, also by a crash, but not by kill -9. */
export function killOnExit(child: ChildProcess): void {
  const { pid } = child;
  if (pid === undefined) return;
  const killGroup = (): void => signalGroup(pid, 'SIGKILL');
  process.once('exit', killGroup);
  child.once('exit', () => process.off('exit', killGroup));
}
