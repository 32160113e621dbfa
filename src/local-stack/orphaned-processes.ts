import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pollUntil } from '../lib/poll-until';
import type { DataDirectory } from './data-directory';
import type { StopSignal } from './managed-process';
import { commandLineOf } from './process-table';

/** Above the largest process id of Linux (4,194,304) and macOS (99,999). */
const UNUSED_PID = 2_147_483_647;

/**
 * Prepares a start on this data directory. Stops a postmaster that a killed `lunas` has left running there. In a stale
 * postmaster.pid it replaces the process id, which may belong to an unrelated process now. The other lines stay:
 * PostgreSQL finds orphaned backends by them.
 * @returns the id of the process that was stopped, or null
 */
export async function releasePostgresData(data: string): Promise<number | null> {
  const pidFile = path.join(data, 'postmaster.pid');
  const [firstLine, ...rest] = (await readFile(pidFile, 'utf8').catch(() => '')).split('\n');
  const pid = Number(firstLine);
  if (!Number.isInteger(pid) || pid <= 0) return null;
  const commandLine = commandLineOf(pid);
  if (commandLine?.includes(data) && commandLine.includes('postgres')) {
    await stopByPid(pid, [
      { signal: 'SIGINT', graceMs: 10_000 },
      { signal: 'SIGQUIT', graceMs: 5_000 },
      { signal: 'SIGKILL', graceMs: 5_000 },
    ]);
    return pid;
  }
  await writeFile(pidFile, [UNUSED_PID, ...rest].join('\n'));
  return null;
}

/**
 * Stops a Temporal server that a killed `lunas` has left running on this database file.
 * @returns the id of the process that was stopped, or null
 */
export async function releaseTemporalDatabase(databaseFile: string): Promise<number | null> {
  const pid = Number(await readFile(`${databaseFile}.pid`, 'utf8').catch(() => ''));
  if (!Number.isInteger(pid) || pid <= 0 || !commandLineOf(pid)?.includes(databaseFile)) return null;
  await stopByPid(pid, [
    { signal: 'SIGTERM', graceMs: 5_000 },
    { signal: 'SIGKILL', graceMs: 5_000 },
  ]);
  return pid;
}

/** Stops the servers that a killed `lunas` has left running on this data directory. */
export async function stopOrphanedProcesses(dataDirectory: DataDirectory, log: (line: string) => void): Promise<void> {
  const postgres = await releasePostgresData(path.join(dataDirectory.postgres, 'data'));
  if (postgres !== null) log(`Stopped the PostgreSQL (process ${postgres}) that a killed lunas had left running.`);
  const temporal = await releaseTemporalDatabase(dataDirectory.temporalDatabase);
  if (temporal !== null) log(`Stopped the Temporal server (process ${temporal}) that a killed lunas had left running.`);
}

async function stopByPid(pid: number, steps: readonly StopSignal[]): Promise<void> {
  for (const { signal, graceMs } of steps) {
    if (commandLineOf(pid) === null) return;
    process.kill(pid, signal);
    await pollUntil(`Process ${pid} ends`, () => (commandLineOf(pid) === null ? true : undefined), {
      timeoutMs: graceMs,
      signal: new AbortController().signal,
    }).catch(() => {});
  }
}
