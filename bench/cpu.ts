import { readFileSync } from 'node:fs';

/** `USER_HZ` of Linux, in which /proc counts. */
const TICKS_PER_SECOND = 100;
/** The index of `utime stime cutime cstime` in the fields after the command's name (proc(5)). */
const FIRST_TIME_FIELD = 11;
const TIME_FIELDS = 4;

/**
 * CPU seconds of a process and its running and ended children: a PostgreSQL server is its postmaster and its backends.
 * Linux only (/proc). 0 for a process that is gone.
 */
export function cpuSecondsOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const times = fields.slice(FIRST_TIME_FIELD, FIRST_TIME_FIELD + TIME_FIELDS).map(Number);
    const own = times.reduce((sum, ticks) => sum + ticks, 0) / TICKS_PER_SECOND;
    return childrenOf(pid).reduce((sum, child) => sum + cpuSecondsOf(child), own);
  } catch {
    return 0;
  }
}

/** Resident memory in MB; 0 for a process that is gone. */
export function residentMegabytesOf(pid: number): number {
  try {
    const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return Number(kilobytes ?? 0) / 1024;
  } catch {
    return 0;
  }
}

function childrenOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return children === '' ? [] : children.split(' ').map(Number);
}
