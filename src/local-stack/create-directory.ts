import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';

/**
 * Creates the directory and its missing parents. Only the directory itself gets `mode`.
 * Not by `mkdir` with `recursive`: in Node.js 20 it never returns for a path below /proc.
 */
export async function createDirectory(directory: string, mode = 0o755): Promise<void> {
  if (existsSync(directory)) return;
  await createDirectory(path.dirname(directory));
  await mkdir(directory, { mode }).catch((error: unknown) => {
    // Another process may have created it.
    if (!existsSync(directory)) throw error;
  });
}
