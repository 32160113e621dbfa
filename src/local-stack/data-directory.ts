import { randomBytes } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { UserError } from '../config';
import { acquireLock, lockOwner, releaseLock } from './lock-file';
import { createDirectory } from './create-directory';

/** Where `lunas up` keeps its data, by name. */
export interface DataDirectory {
  readonly path: string;
  readonly logs: string;
  readonly postgres: string;
  readonly temporalDatabase: string;
}

const sandboxRunFileSchema = z.object({ sandbox_url: z.url(), pid: z.int().positive() });

const runFileSchema = sandboxRunFileSchema.extend({
  api_url: z.url(),
  temporal_address: z.string().min(1),
  /** Null where the engine is not ours: we do not know its Web UI. */
  temporal_ui_url: z.url().nullable(),
  database_url: z.string().min(1),
  merchant_id: z.string().min(1),
  secret_key: z.string().min(1),
  /** Null while no webhook endpoint is registered. */
  webhook_secret: z.string().min(1).nullable(),
});

/** What a running `lunas up` or `lunas services` tells other commands and tools, in `run.json`. */
export type RunFile = z.infer<typeof runFileSchema>;
/** What a `lunas sandbox` that runs alone writes there. */
export type SandboxRunFile = z.infer<typeof sandboxRunFileSchema>;

export function dataDirectoryAt(directory: string): DataDirectory {
  return {
    path: directory,
    logs: path.join(directory, 'logs'),
    postgres: path.join(directory, 'postgres'),
    temporalDatabase: path.join(directory, 'temporal', 'temporal.db'),
  };
}

/**
 * Makes the folder where needed and takes it for this process: one `lunas up`, `lunas services` or `lunas sandbox` a home.
 * @returns whether the last one to use it was killed
 * @throws UserError where it cannot be written, or another process has it
 */
export async function lockDataDirectory(dataDirectory: DataDirectory): Promise<{ afterCrash: boolean }> {
  try {
    // Root's PostgreSQL runs as `nobody`, who must get through to its data; the files in here are closed to others.
    await createDirectory(dataDirectory.path, process.getuid?.() === 0 ? 0o711 : 0o700);
    await createDirectory(dataDirectory.logs, 0o700);
    const lock = await acquireLock(lockFilePath(dataDirectory));
    if (lock.acquired) return { afterCrash: lock.afterCrash };
    throw new UserError(
      `Lunas runs already on ${dataDirectory.path} (process ${lock.pid}). Stop it, or set LUNAS_HOME to another directory.`,
    );
  } catch (error) {
    if (error instanceof UserError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new UserError(`${dataDirectory.path} cannot be written (${reason}). Set LUNAS_HOME to a writable directory.`);
  }
}

/** Gives the folder back. */
export async function unlockDataDirectory(dataDirectory: DataDirectory): Promise<void> {
  await releaseLock(lockFilePath(dataDirectory));
}

/** The key kept in this home (32 bytes in base64), or null where `lunas up` has never run. */
export async function readMasterKey(dataDirectory: DataDirectory): Promise<string | null> {
  const key = await readFile(masterKeyPath(dataDirectory), 'utf8').catch(() => '');
  return key.trim() === '' ? null : key.trim();
}

/** The kept key; a new one the first time. */
export async function ensureMasterKey(dataDirectory: DataDirectory): Promise<string> {
  const stored = await readMasterKey(dataDirectory);
  if (stored !== null) return stored;
  const key = randomBytes(32).toString('base64');
  await writeAtomically(masterKeyPath(dataDirectory), `${key}\n`);
  return key;
}

/** What the running `lunas up` or `lunas services` of this home has written; null where none is running and ready. */
export async function readRunFile(dataDirectory: DataDirectory): Promise<RunFile | null> {
  const runFile = await readAnyRunFile(dataDirectory);
  return runFile !== null && 'api_url' in runFile ? runFile : null;
}

/** Of a `lunas up`, `lunas services` or `lunas sandbox` of this home; null where none is running and ready. */
export async function readSandboxRunFile(dataDirectory: DataDirectory): Promise<SandboxRunFile | null> {
  return readAnyRunFile(dataDirectory);
}

async function readAnyRunFile(dataDirectory: DataDirectory): Promise<RunFile | SandboxRunFile | null> {
  const text = await readFile(runFilePath(dataDirectory), 'utf8').catch(() => null);
  if (text === null) return null;
  const runFile = z.union([runFileSchema, sandboxRunFileSchema]).parse(JSON.parse(text));
  return runFile.pid === (await lockOwner(lockFilePath(dataDirectory))) ? runFile : null;
}

export async function writeRunFile(dataDirectory: DataDirectory, runFile: RunFile | SandboxRunFile): Promise<void> {
  await writeAtomically(runFilePath(dataDirectory), `${JSON.stringify(runFile, null, 2)}\n`);
}

export async function removeRunFile(dataDirectory: DataDirectory): Promise<void> {
  await rm(runFilePath(dataDirectory), { force: true });
}

async function writeAtomically(file: string, content: string): Promise<void> {
  const partial = `${file}.${process.pid}`;
  await writeFile(partial, content, { mode: 0o600, flush: true });
  await rename(partial, file);
}

const runFilePath = (dataDirectory: DataDirectory): string => path.join(dataDirectory.path, 'run.json');
const lockFilePath = (dataDirectory: DataDirectory): string => path.join(dataDirectory.path, 'lunas.lock');
const masterKeyPath = (dataDirectory: DataDirectory): string => path.join(dataDirectory.path, 'master-key');
