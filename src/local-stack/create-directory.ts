import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';

/**
 * Makes the folder and those above it, where they are missing; only the folder itself gets `mode`.
 * Not `mkdir` with `recursive`: below /proc that tries for ever (Node.js 20).
 */
export async function createDirectory(directory: string, mode = 0o755): Promise<void> {
  if (existsSync(directory)) return;
  await createDirectory(path.dirname(directory));
  await mkdir(directory, { mode }).catch((error: unknown) => {
    // Another process was faster.
    if (!existsSync(directory)) throw error;
  });
}
