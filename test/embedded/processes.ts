import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { until } from '../support/until';

/** Whether a process has this id, a zombie included. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Orphans are reaped by others, in their own time. */
export async function untilGone(pid: number): Promise<void> {
  await until(
    async () => isAlive(pid),
    (alive) => !alive,
  );
}

/** A folder that only its owner may enter, as `mktemp -d` makes it; gone after the tests of this file. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'lunas-test-'));
  folders.push(folder);
  return folder;
}

const folders: string[] = [];

afterAll(async () => {
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })));
});
