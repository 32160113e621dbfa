import type { ChildProcess } from 'node:child_process';

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
