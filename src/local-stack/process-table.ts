import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * The command line of a process; null if no process, or only a zombie, has this id. It distinguishes a process that we
 * started from a later process with the same id.
 */
export function commandLineOf(pid: number): string | null {
  const commandLine = process.platform === 'linux' ? readProc(pid) : readPs(pid);
  return commandLine === '' ? null : commandLine;
}

function readProc(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}

function readPs(pid: number): string {
  try {
    return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).trim();
  } catch {
    return '';
  }
}
