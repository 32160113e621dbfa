import { mkdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import which from 'which';
import { messageOf, UserError } from '../errors';
import { pollUntil } from '../lib/poll-until';
import { cacheDirectory } from './cache-directory';
import { createDirectory } from './create-directory';
import type { LocalStackConfig } from './local-stack-config';
import { acquireLock, releaseLock } from './lock-file';
import type { Progress } from './progress';
import type { InstallMethod, TemporalBinary } from './temporal-binaries';

const LOCK_TIMEOUT_MS = 30 * 60_000;

/**
 * A program of Temporal: configured, on PATH, cached, downloaded by the SDK, or built from source.
 * @throws UserError with each method and why it failed
 */
export async function findTemporalBinary(
  binary: TemporalBinary,
  config: LocalStackConfig,
  progress: Progress,
  signal: AbortSignal,
): Promise<string> {
  const configured = config[binary.variable];
  if (configured !== undefined) {
    const reason = await findProblem(binary, configured, signal);
    if (reason !== null) throw new UserError(`${binary.variable}=${configured} cannot be used: ${reason}`);
    progress.log(`${binary.title}: ${configured} (${binary.variable})`);
    return configured;
  }
  const problems = [`${binary.variable} is not set`];
  const onPath = binary.searchedOnPath ? await which(binary.command, { nothrow: true }) : null;
  if (onPath !== null) {
    const reason = await findProblem(binary, onPath, signal);
    if (reason === null) {
      progress.log(`${binary.title}: ${onPath} (found on PATH)`);
      return onPath;
    }
    problems.push(`${onPath} (found on PATH): ${reason}`);
  } else if (binary.searchedOnPath) {
    problems.push(`${binary.command} is not on PATH`);
  }
  const file = await new BinaryCache(binary, cacheDirectory(config), progress).find(problems, signal);
  progress.log(`${binary.title}: ${file} (cached)`);
  return file;
}

class BinaryCache {
  private readonly directory: string;
  private readonly file: string;
  private readonly lock: string;

  constructor(
    private readonly binary: TemporalBinary,
    cache: string,
    private readonly progress: Progress,
  ) {
    this.directory = path.join(cache, binary.cacheName);
    this.file = path.join(this.directory, binary.command);
    this.lock = `${this.directory}.lock`;
  }

  /** @param problems of the earlier methods */
  async find(problems: readonly string[], signal: AbortSignal): Promise<string> {
    if ((await findProblem(this.binary, this.file, signal)) === null) return this.file;
    try {
      await createDirectory(path.dirname(this.directory));
      await this.takeLock(signal);
    } catch (error) {
      signal.throwIfAborted();
      throw this.failure([...problems, `the cache cannot be written: ${messageOf(error)} (XDG_CACHE_HOME moves it)`]);
    }
    try {
      return await this.fill(problems, signal);
    } finally {
      await releaseLock(this.lock);
    }
  }

  /** One process at a time installs the binary; the others wait for it. */
  private async takeLock(signal: AbortSignal): Promise<void> {
    const attempt = await acquireLock(this.lock);
    if (attempt.acquired) return;
    const title = `${this.binary.title}: waiting for process ${attempt.pid}, which is fetching or building it`;
    await this.progress.track(title, () =>
      pollUntil(title, async () => ((await acquireLock(this.lock)).acquired ? true : undefined), {
        timeoutMs: LOCK_TIMEOUT_MS,
        signal,
      }),
    );
  }

  private async fill(problems: readonly string[], signal: AbortSignal): Promise<string> {
    const cachedProblem = await findProblem(this.binary, this.file, signal);
    if (cachedProblem === null) return this.file;
    if (await which(this.file, { nothrow: true })) {
      const [reason] = cachedProblem.split('\n');
      this.progress.log(`${this.binary.title}: the cached file is broken; installing again: ${reason}`);
    }
    const allProblems = [...problems, `${this.file} (the cache): ${cachedProblem}`];
    for (const method of this.binary.installMethods) {
      const problem = await this.install(method, signal);
      if (problem === null) return this.file;
      allProblems.push(problem);
    }
    throw this.failure(allProblems);
  }

  /** The directory gets its name only after the binary has been checked. */
  private async install(method: InstallMethod, signal: AbortSignal): Promise<string | null> {
    const partial = `${this.directory}.partial`;
    await rm(partial, { recursive: true, force: true });
    await mkdir(partial);
    try {
      await this.progress.track(`${this.binary.title}: ${method.title}`, async (step) => {
        await method.install(partial, step, signal);
        await this.binary.check(path.join(partial, this.binary.command), signal);
        await rm(this.directory, { recursive: true, force: true });
        await rename(partial, this.directory);
      });
      return null;
    } catch (error) {
      signal.throwIfAborted();
      return `${method.title}: ${messageOf(error)}`;
    } finally {
      await rm(partial, { recursive: true, force: true });
    }
  }

  private failure(problems: readonly string[]): UserError {
    const attempted = problems.map((problem) => `- ${problem.replaceAll('\n', '\n    ')}`);
    const { title, remedy } = this.binary;
    return new UserError([`There is no ${title}. ${remedy} Attempted methods:`, ...attempted].join('\n'));
  }
}

/** Why the file cannot be used, or null. */
async function findProblem(binary: TemporalBinary, file: string, signal: AbortSignal): Promise<string | null> {
  if (!(await which(file, { nothrow: true }))) return 'not an executable file';
  try {
    await binary.check(file, signal);
    return null;
  } catch (error) {
    signal.throwIfAborted();
    return messageOf(error);
  }
}
