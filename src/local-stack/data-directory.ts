import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { messageOf, UserError } from '../errors';
import { createDirectory } from './create-directory';
import { acquireLock, releaseLock } from './lock-file';

/** Where `lunas up` stores its data. */
export type DataDirectory = Readonly<ReturnType<typeof dataDirectoryAt>>;

export function dataDirectoryAt(directory: string) {
  return {
    path: directory,
    logs: path.join(directory, 'logs'),
    postgres: path.join(directory, 'postgres'),
    temporalDatabase: path.join(directory, 'temporal', 'temporal.db'),
    lockFile: path.join(directory, 'lunas.lock'),
    masterKeyFile: path.join(directory, 'master-key'),
    runFile: path.join(directory, 'run.json'),
  };
}

/**
 * Creates the directory if necessary, and locks it: one `lunas up`, `lunas services` or `lunas sandbox` may use it.
 * @returns whether its last owner was killed
 * @throws UserError if the directory is not writable, or another process has locked it
 */
export async function lockDataDirectory(dataDirectory: DataDirectory): Promise<{ afterCrash: boolean }> {
  try {
    // Root's PostgreSQL runs as another OS user, which must reach its data. The files are closed to other users.
    await createDirectory(dataDirectory.path, process.getuid?.() === 0 ? 0o711 : 0o700);
    await createDirectory(dataDirectory.logs, 0o700);
    const lock = await acquireLock(dataDirectory.lockFile);
    if (lock.acquired) return { afterCrash: lock.afterCrash };
    throw new UserError(
      `Lunas runs already on ${dataDirectory.path} (process ${lock.pid}). ` +
        'Stop it, or set LUNAS_HOME to another directory.',
    );
  } catch (error) {
    if (error instanceof UserError) throw error;
    const reason = messageOf(error);
    throw new UserError(`${dataDirectory.path} cannot be written (${reason}). Set LUNAS_HOME to a writable directory.`);
  }
}

export async function unlockDataDirectory(dataDirectory: DataDirectory): Promise<void> {
  await releaseLock(dataDirectory.lockFile);
}

/** The stored master key (32 bytes in base64); null if `lunas up` has never run on this data directory. */
export async function readMasterKey(dataDirectory: DataDirectory): Promise<string | null> {
  const key = await readFile(dataDirectory.masterKeyFile, 'utf8').catch(() => '');
  return key.trim() || null;
}

/** The stored master key; creates it on the first run. */
export async function ensureMasterKey(dataDirectory: DataDirectory): Promise<string> {
  const stored = await readMasterKey(dataDirectory);
  if (stored !== null) return stored;
  const key = randomBytes(32).toString('base64');
  await writeAtomically(dataDirectory.masterKeyFile, `${key}\n`);
  return key;
}

export async function writeAtomically(file: string, content: string): Promise<void> {
  const partial = `${file}.${process.pid}`;
  await writeFile(partial, content, { mode: 0o600, flush: true });
  await rename(partial, file);
}
