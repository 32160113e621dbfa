import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { ProgressStep } from './progress';
import { runCommand } from './run-command';

/** Without a byte for this long, the download is aborted: its host does not respond. */
const STALL_MS = 20_000;
const TIMEOUT_MS = 15 * 60_000;
const WATCH_INTERVAL_MS = 500;
const MEGABYTE = 1_000_000;

/** The SDK downloads only to start a server. This program starts it once and stops it. */
const PROGRAM = `
const { TestWorkflowEnvironment } = require(process.argv[1]);
const executable = { type: 'cached-download', downloadDir: process.argv[3] };
TestWorkflowEnvironment[process.argv[2]]({ server: { executable } })
  .then((environment) => environment.teardown())
  .catch((error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
`;

/**
 * Downloads a server with the SDK.
 * @param target path of the executable file
 * @throws Error with the reason if there was no download
 */
export async function downloadBySdk(
  environment: 'createLocal' | 'createTimeSkipping',
  target: string,
  step: ProgressStep,
  signal: AbortSignal,
): Promise<void> {
  const directory = `${target}.download`;
  await mkdir(directory);
  const stalled = new AbortController();
  const watch = watchGrowth(directory, step, () => {
    stalled.abort(new Error(`no byte received for ${STALL_MS / 1000} s`));
  });
  try {
    let failure: unknown = new Error('the SDK downloaded no file');
    await runCommand({
      command: process.execPath,
      args: ['-e', PROGRAM, require.resolve('@temporalio/testing'), environment, directory],
      timeoutMs: TIMEOUT_MS,
      signal: AbortSignal.any([signal, stalled.signal]),
    }).catch((error: unknown) => {
      failure = error;
    });
    const file = (await readdir(directory)).find((name) => !name.endsWith('.downloading'));
    // The download may be complete although the server's first start timed out.
    if (file === undefined) throw failure;
    await rename(path.join(directory, file), target);
  } finally {
    clearInterval(watch);
    await rm(directory, { recursive: true, force: true });
  }
}

function watchGrowth(directory: string, step: ProgressStep, onStall: () => void): NodeJS.Timeout {
  let bytes = 0;
  let grewAtMs = performance.now();
  const checkSize = async (): Promise<void> => {
    const size = await sizeOf(directory);
    if (size > bytes) grewAtMs = performance.now();
    bytes = size;
    if (bytes > 0) step.detail(`${(bytes / MEGABYTE).toFixed(0)} MB`);
    if (performance.now() - grewAtMs > STALL_MS) onStall();
  };
  return setInterval(() => void checkSize(), WATCH_INTERVAL_MS);
}

async function sizeOf(directory: string): Promise<number> {
  let bytes = 0;
  for (const file of await readdir(directory).catch(() => [])) {
    const found = await stat(path.join(directory, file)).catch(() => null);
    bytes += found?.size ?? 0;
  }
  return bytes;
}
