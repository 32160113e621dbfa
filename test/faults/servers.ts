import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { ManagedProcess } from '../../src/local-stack/managed-process';
import { freePort } from '../../src/local-stack/ports';
import { PostgresCluster } from '../../src/local-stack/postgres';

/** An SQLite database in WAL mode has these files. */
const SQLITE_SUFFIXES = ['', '-wal', '-shm'] as const;

export async function startCluster(
  cluster: PostgresCluster,
  signal: AbortSignal,
): Promise<{ readonly cluster: PostgresCluster; readonly server: ManagedProcess }> {
  return { cluster, server: await cluster.start(signal) };
}

export function removeSqlite(file: string): void {
  for (const suffix of SQLITE_SUFFIXES) rmSync(`${file}${suffix}`, { force: true });
}

export function copySqlite(from: string, to: string): void {
  removeSqlite(to);
  for (const suffix of SQLITE_SUFFIXES) {
    if (existsSync(`${from}${suffix}`)) cpSync(`${from}${suffix}`, `${to}${suffix}`);
  }
}

export function openCluster(
  directory: string,
  name: string,
  port: number,
  settings: Readonly<Record<string, string>> = {},
): Promise<PostgresCluster> {
  const files = { directory: path.join(directory, name), logFile: path.join(directory, `${name}.log`) };
  return PostgresCluster.open({ ...files, port, settings }, new AbortController().signal);
}

export async function freePorts(): Promise<[number, number, number, number, number]> {
  const ports = new Set<number>();
  while (ports.size < 5) ports.add(await freePort());
  const [a = 0, b = 0, c = 0, d = 0, e = 0] = ports;
  return [a, b, c, d, e];
}

export function childrenOf(parent: number): { readonly pid: number; readonly command: string }[] {
  const lines = execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' }).trim().split('\n');
  return lines.flatMap((line) => {
    const [, pid, parentPid, command = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return Number(parentPid) === parent ? [{ pid: Number(pid), command }] : [];
  });
}

export function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process is already gone.
  }
}
