import { readFile, rm } from 'node:fs/promises';
import { z } from 'zod';
import { writeAtomically, type DataDirectory } from './data-directory';
import { lockOwner } from './lock-file';

const sandboxRunFileSchema = z.object({ sandbox_url: z.url(), pid: z.int().positive() });

const runFileSchema = sandboxRunFileSchema.extend({
  api_url: z.url(),
  operator_url: z.url(),
  /** Null if the stack runs no dashboard. */
  dashboard_url: z.url().nullable().default(null),
  /** Signs a browser in, once. */
  dashboard_link: z.url().nullable().default(null),
  /** By process; empty if the stack runs neither API nor worker. */
  metrics_urls: z.record(z.string(), z.url()).default({}),
  temporal_address: z.string().min(1),
  /** Null if Temporal is not part of the local stack: the address of its Web UI is not known. */
  temporal_ui_url: z.url().nullable(),
  database_url: z.string().min(1),
  merchant_id: z.string().min(1),
  secret_key: z.string().min(1),
  /** Null while no webhook endpoint is registered. */
  webhook_secret: z.string().min(1).nullable(),
});

/** `run.json` of a running `lunas up` or `lunas services`: its addresses and secrets, for other commands and tools. */
export type RunFile = z.infer<typeof runFileSchema>;
/** `run.json` of a `lunas sandbox` that runs alone. */
export type SandboxRunFile = z.infer<typeof sandboxRunFileSchema>;

/** The run file of a `lunas up` or `lunas services`; null if none is ready on this data directory. */
export async function readRunFile(dataDirectory: DataDirectory): Promise<RunFile | null> {
  const runFile = await readSandboxRunFile(dataDirectory);
  return runFile !== null && 'api_url' in runFile ? runFile : null;
}

/** The run file of any command that runs a sandbox; null if none is ready on this data directory. */
export async function readSandboxRunFile(dataDirectory: DataDirectory): Promise<RunFile | SandboxRunFile | null> {
  const text = await readFile(dataDirectory.runFile, 'utf8').catch(() => null);
  if (text === null) return null;
  const runFile = z.union([runFileSchema, sandboxRunFileSchema]).parse(JSON.parse(text));
  return runFile.pid === (await lockOwner(dataDirectory.lockFile)) ? runFile : null;
}

export async function writeRunFile(dataDirectory: DataDirectory, runFile: RunFile | SandboxRunFile): Promise<void> {
  await writeAtomically(dataDirectory.runFile, `${JSON.stringify(runFile, null, 2)}\n`);
}

export async function removeRunFile(dataDirectory: DataDirectory): Promise<void> {
  await rm(dataDirectory.runFile, { force: true });
}
