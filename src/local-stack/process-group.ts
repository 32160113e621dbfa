import type { ChildProcess } from 'node:child_process';

/** Signals a detached child and whatever it has started. */
export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has ended already.
  }
}

/** However this process exits, a crash included, the detached child's group ends with it. Only kill -9 gets around this. */
export function killOnExit(child: ChildProcess): void {
  const { pid } = child;
  if (pid === undefined) return;
  const killGroup = (): void => signalGroup(pid, 'SIGKILL');
  process.once('exit', killGroup);
  child.once('exit', () => process.off('exit', killGroup));
}
