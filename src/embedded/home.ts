import { randomBytes } from 'node:crypto';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { UserError } from '../config';
import { acquireLock, lockHolder, releaseLock } from './lock-file';
import { makeFolder } from './make-folder';

/** Where `lunas up` keeps its data, by name. */
export interface Home {
  readonly folder: string;
  readonly logs: string;
  readonly postgres: string;
  readonly temporalDatabase: string;
}

const sandboxRunSchema = z.object({ sandbox_url: z.url(), pid: z.int().positive() });

const runSchema = sandboxRunSchema.extend({
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
export type Run = z.infer<typeof runSchema>;
/** What a `lunas sandbox` that runs alone writes there. */
export type SandboxRun = z.infer<typeof sandboxRunSchema>;

export function homeAt(folder: string): Home {
  return {
    folder,
    logs: path.join(folder, 'logs'),
    postgres: path.join(folder, 'postgres'),
    temporalDatabase: path.join(folder, 'temporal', 'temporal.db'),
  };
}

/**
 * Makes the folder where needed and takes it for this process: one `lunas up`, `lunas services` or `lunas sandbox` a home.
 * @returns whether the last one to use it was killed
 * @throws UserError where it cannot be written, or another process has it
 */
export async function openHome(home: Home): Promise<{ afterCrash: boolean }> {
  try {
    // Root's PostgreSQL runs as `nobody`, who must get through to its data; the files in here are closed to others.
    await makeFolder(home.folder, process.getuid?.() === 0 ? 0o711 : 0o700);
    await makeFolder(home.logs, 0o700);
    const lock = await acquireLock(lockFile(home));
    if (lock.acquired) return { afterCrash: lock.afterCrash };
    throw new UserError(
      `Lunas runs already on ${home.folder} (process ${lock.pid}). Stop it, or set LUNAS_HOME to another folder.`,
    );
  } catch (error) {
    if (error instanceof UserError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new UserError(`${home.folder} cannot be written (${reason}). Set LUNAS_HOME to a folder that you may write.`);
  }
}

/** Gives the folder back. */
export async function closeHome(home: Home): Promise<void> {
  await releaseLock(lockFile(home));
}

/** The key kept in this home (32 bytes in base64), or null where `lunas up` has never run. */
export async function readMasterKey(home: Home): Promise<string | null> {
  const key = await readFile(masterKeyFile(home), 'utf8').catch(() => '');
  return key.trim() === '' ? null : key.trim();
}

/** The kept key; a new one the first time. */
export async function ensureMasterKey(home: Home): Promise<string> {
  const kept = await readMasterKey(home);
  if (kept !== null) return kept;
  const key = randomBytes(32).toString('base64');
  await writeAtomically(masterKeyFile(home), `${key}\n`);
  return key;
}

/** What the running `lunas up` or `lunas services` of this home has written; null where none is running and ready. */
export async function readRun(home: Home): Promise<Run | null> {
  const run = await readAnyRun(home);
  return run !== null && 'api_url' in run ? run : null;
}

/** Of a `lunas up`, `lunas services` or `lunas sandbox` of this home; null where none is running and ready. */
export async function readSandboxRun(home: Home): Promise<SandboxRun | null> {
  return readAnyRun(home);
}

async function readAnyRun(home: Home): Promise<Run | SandboxRun | null> {
  const text = await readFile(runFile(home), 'utf8').catch(() => null);
  if (text === null) return null;
  const run = z.union([runSchema, sandboxRunSchema]).parse(JSON.parse(text));
  return run.pid === (await lockHolder(lockFile(home))) ? run : null;
}

export async function writeRun(home: Home, run: Run | SandboxRun): Promise<void> {
  await writeAtomically(runFile(home), `${JSON.stringify(run, null, 2)}\n`);
}

export async function removeRun(home: Home): Promise<void> {
  await rm(runFile(home), { force: true });
}

async function writeAtomically(file: string, content: string): Promise<void> {
  const partial = `${file}.${process.pid}`;
  await writeFile(partial, content, { mode: 0o600, flush: true });
  await rename(partial, file);
}

const runFile = (home: Home): string => path.join(home.folder, 'run.json');
const lockFile = (home: Home): string => path.join(home.folder, 'lunas.lock');
const masterKeyFile = (home: Home): string => path.join(home.folder, 'master-key');
