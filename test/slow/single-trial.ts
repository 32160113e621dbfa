import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { PACKAGE_ROOT } from '../../src/package-info';
import { testEnvironment } from '../support/test-environment';

const reportSchema = z.object({ violations: z.array(z.string()) });

/** More than a trial needs on a slow machine. */
export const TRIAL_TIMEOUT_MS = 600_000;

/** Runs one trial of the fault suite with its own stack. @returns the violations */
export async function runSingleTrial(name: string, environment: NodeJS.ProcessEnv = {}): Promise<string[]> {
  return reportSchema.parse(await runFaultSuite(['--seed', '1', '--only', name], environment)).violations;
}

/** Runs scripts/faults.mjs. @returns its report */
export async function runFaultSuite(options: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<unknown> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'lunas-trial-'));
  const report = path.join(directory, 'report.json');
  const args = [path.join(PACKAGE_ROOT, 'scripts', 'faults.mjs'), ...options, '--report', report];
  const env = { ...process.env, TEMPORAL_CLI_PATH: testEnvironment('TEMPORAL_CLI_PATH'), ...environment };
  const run = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const stop = () => run.kill('SIGTERM');
  process.once('exit', stop);
  try {
    await once(run, 'close');
    return JSON.parse(await readFile(report, 'utf8'));
  } finally {
    process.off('exit', stop);
    await rm(directory, { recursive: true, force: true });
  }
}
