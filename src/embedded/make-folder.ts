import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';

/**
 * Makes the folder and those above it, where they are missing; only the folder itself gets `mode`.
 * Not `mkdir` with `recursive`: below /proc that tries for ever (Node.js 20).
 */
export async function makeFolder(folder: string, mode = 0o755): Promise<void> {
  if (existsSync(folder)) return;
  await makeFolder(path.dirname(folder));
  await mkdir(folder, { mode }).catch((error: unknown) => {
    // Another process was faster.
    if (!existsSync(folder)) throw error;
  });
}
