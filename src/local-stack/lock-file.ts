import { mkdir, readFile, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { codeOf } from '../errors';
import { parseJson } from '../lib/parse-json';
import { commandLineOf } from './process-table';

const ownerSchema = z.object({ pid: z.int().positive(), command_line: z.string() });
type LockOwner = z.infer<typeof ownerSchema>;

export type LockAttempt =
  | {
      readonly acquired: true;
      /** The last owner ended without releasing the lock. */
      readonly afterCrash: boolean;
    }
  | { readonly acquired: false; readonly pid: number };

const GUARD_RETRY_MS = 10;
/** A guard exists for a few milliseconds. An older one was left by a killed process. */
const GUARD_STALE_MS = 5_000;

/** Acquires the lock for this process, unless a running process owns it. */
export async function acquireLock(file: string): Promise<LockAttempt> {
  return withGuard(file, async () => {
    const content = await readOrEmpty(file);
    const pid = liveOwner(content);
    if (pid !== null) return { acquired: false, pid };
    const self: LockOwner = { pid: process.pid, command_line: commandLineOf(process.pid) ?? '' };
    const partial = `${file}.${process.pid}`;
    await writeFile(partial, JSON.stringify(self), { mode: 0o600 });
    await rename(partial, file);
    return { acquired: true, afterCrash: content !== '' };
  });
}

export async function releaseLock(file: string): Promise<void> {
  await rm(file, { force: true });
}

/** The running process that owns the lock, or null. */
export async function lockOwner(file: string): Promise<number | null> {
  return liveOwner(await readOrEmpty(file));
}

/** Makes reading and writing the lock file atomic: only one process can create the guard directory. */
async function withGuard<T>(file: string, acquire: () => Promise<T>): Promise<T> {
  const guard = `${file}.guard`;
  for (;;) {
    try {
      await mkdir(guard);
      break;
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
    const createdAtMs = await stat(guard)
      .then((found) => found.mtimeMs)
      .catch(() => Date.now());
    if (Date.now() - createdAtMs > GUARD_STALE_MS) await rmdir(guard).catch(() => {});
    else await sleep(GUARD_RETRY_MS);
  }
  try {
    return await acquire();
  } finally {
    await rmdir(guard);
  }
}

/** A process with another command line is not the owner: the operating system has reused the id. */
function liveOwner(content: string): number | null {
  const owner = ownerSchema.safeParse(parseJson(content));
  if (!owner.success) return null;
  return commandLineOf(owner.data.pid) === owner.data.command_line ? owner.data.pid : null;
}

async function readOrEmpty(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '');
}
