import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * The command line of a process; null if no process, or only a zombie, has this id. It distinguishes a process that we
 * started from a later process with the same id.
 */
export function commandLineOf(pid: number): string | null {
  try {
    const commandLine =
      process.platform === 'linux'
        ? readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
        : execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
    return commandLine.trim() || null;
  } catch {
    return null;
  }
}
