import { execFile, execFileSync } from 'node:child_process';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { eventually } from '../support/eventually';
import type { Journal } from './journal';
import { evaluateAtRest, runWorkload, type FaultHarness } from './run';
import type { FaultStack } from './stack';
import type { Workload } from './workload';

const CUSTOMERS = 4;
const WORKLOAD_MS = 3_000;
/** An empty cluster takes about 60 MB. */
const DISK_SIZE = '192m';
/** PostgreSQL keeps little WAL, so that little space is left in it when the disk is full. */
const SETTINGS = { min_wal_size: '32MB', max_wal_size: '48MB' } as const;
/** More segments than are kept: PostgreSQL needs one that it cannot allocate. */
const WAL_SWITCHES = 8;
/** They wait for PostgreSQL: they do not end. */
const SERVICES = ['api', 'worker'] as const;
const FULL_MS = 5_000;
const OBSERVATION_TIMEOUT_MS = 60_000;
const REPEAT_AFTER_MS = 500;
const ARRIVAL_INTERVAL_MS = 1_000;

/**
 * The disk of PostgreSQL is filled under load. First no table can grow. Then WAL cannot grow, and PostgreSQL crashes.
 * At the end there is space again, and PostgreSQL is started if it has ended.
 */
export async function runFullDisk(harness: FaultHarness): Promise<string[]> {
  const { stack, journal } = harness;
  let disk = '';
  await stack.restartPostgres(SETTINGS, async (directory) => {
    disk = directory;
    await moveToSmallDisk(directory);
  });
  const services = SERVICES.map((name) => stack.service(name));
  const finished = await runWorkload(harness, CUSTOMERS, async (workload) => {
    await sleep(WORKLOAD_MS);
    const filler = path.join(disk, 'filler');
    await fill(filler);
    await waitForServerError(workload, journal, Date.now());
    // PostgreSQL ends all sessions. Its recovery may find space immediately, so another 5xx is not certain.
    await useUpWal(stack);
    await sleep(FULL_MS);
    await rm(filler);
    await waitUntilServing(stack);
  });
  const ended = services.filter(({ running }) => !running).map(({ name }) => `${name} ended on a full disk`);
  return [...ended, ...(await evaluateAtRest(harness, finished))];
}

async function moveToSmallDisk(directory: string): Promise<void> {
  const run = promisify(execFile);
  const former = `${directory}-former`;
  await rename(directory, former);
  await mkdir(directory);
  await run('mount', ['-t', 'tmpfs', '-o', `size=${DISK_SIZE}`, 'tmpfs', directory]);
  // Before the directory of the run is removed. PostgreSQL may still be running in it.
  process.prependOnceListener('exit', () => execFileSync('umount', ['--lazy', directory]));
  // Owners and modes stay, also of the directory itself.
  await run('cp', ['-a', `${former}/.`, directory]);
}

/** Writes until there is no space for one more block. */
async function fill(file: string): Promise<void> {
  const handle = await open(file, 'a');
  try {
    for (const size of [1_048_576, 4_096]) await writeUntilFull(() => handle.write(Buffer.alloc(size)));
  } finally {
    await handle.close();
  }
}

async function writeUntilFull(write: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await write();
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') return;
      throw error;
    }
  }
}

/** PostgreSQL ends all its sessions when it cannot write its WAL. */
async function useUpWal({ db }: FaultStack): Promise<void> {
  for (let count = 0; count < WAL_SWITCHES; count += 1) {
    // PostgreSQL does not switch from an empty segment.
    const switched = await db.query(`select pg_logical_emit_message(false, 'fill', ''), pg_switch_wal()`).then(
      () => true,
      () => false,
    );
    if (!switched) return;
  }
  throw new Error(`PostgreSQL still writes after ${WAL_SWITCHES} segments of WAL`);
}

/** PostgreSQL may have ended, or may end in a recovery that started on the full disk. */
async function waitUntilServing(stack: FaultStack): Promise<void> {
  const attempt = async () => {
    if (!stack.isRunning('postgres')) await stack.revive('postgres');
    return stack.db.query('select 1').then(
      () => true,
      () => sleep(REPEAT_AFTER_MS, false),
    );
  };
  await eventually(attempt, (isServing) => isServing, OBSERVATION_TIMEOUT_MS);
}

/** The customers may all be reading payments that the worker cannot change. So another customer arrives each second. */
async function waitForServerError(workload: Workload, journal: Journal, sinceMs: number): Promise<void> {
  const arrivals = setInterval(() => workload.startScenario('settle'), ARRIVAL_INTERVAL_MS);
  try {
    await eventually(
      async () => journal.entries.some(({ atMs, status }) => atMs >= sinceMs && status !== null && status >= 500),
      (isSeen) => isSeen,
      OBSERVATION_TIMEOUT_MS,
    );
  } finally {
    clearInterval(arrivals);
  }
}
