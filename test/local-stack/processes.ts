import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { eventually } from '../support/eventually';

/** Whether a process has this id, a zombie included. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** The init process reaps orphans asynchronously. */
export async function untilGone(pid: number): Promise<void> {
  await eventually(
    async () => isAlive(pid),
    (isRunning) => !isRunning,
  );
}

/** A directory that only its owner may enter, like that of `mktemp -d`. Removed after the tests of the file. */
export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'lunas-test-'));
  directories.push(directory);
  return directory;
}

const directories: string[] = [];

afterAll(async () => {
  await Promise.all(directories.map((directory) => rm(directory, { recursive: true, force: true })));
});
