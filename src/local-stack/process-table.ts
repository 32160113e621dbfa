import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * The command line of a process, or null where none runs under this id. Tells a process that we started from a
 * stranger that was given the same id later; a zombie counts as gone.
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
