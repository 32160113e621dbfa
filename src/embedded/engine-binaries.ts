import { mkdir, rename, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type Config, UserError } from '../config';
import { type Engine, TEMPORAL_CLI, TEST_SERVER, type Way } from './engines';
import { findOnPath, isExecutableFile } from './find-on-path';
import { acquireLock, releaseLock } from './lock-file';
import { makeFolder } from './make-folder';
import type { Progress } from './progress';
import { waitFor } from './wait';

const LOCK_WAIT_MS = 30 * 60_000;

/**
 * The `temporal` command: the one given, on PATH, cached, downloaded by the SDK, or built from its sources.
 * @throws UserError that names every way tried and why it failed
 */
export async function findTemporalCli(config: Config, progress: Progress, signal: AbortSignal): Promise<string> {
  return findEngine(TEMPORAL_CLI, config, progress, signal);
}

/**
 * The time-skipping test server, found like the `temporal` command.
 * @throws UserError that names every way tried and why it failed
 */
export async function findTestServer(config: Config, progress: Progress, signal: AbortSignal): Promise<string> {
  return findEngine(TEST_SERVER, config, progress, signal);
}

async function findEngine(engine: Engine, config: Config, progress: Progress, signal: AbortSignal): Promise<string> {
  const given = config[engine.variable];
  if (given !== undefined) {
    const reason = await faultOf(engine, given, signal);
    if (reason !== null) throw new UserError(`${engine.variable}=${given} cannot be used: ${reason}`);
    progress.say(`${engine.title}: ${given} (${engine.variable})`);
    return given;
  }
  const faults = [`${engine.variable} is not set`];
  const onPath = engine.searchedOnPath ? findOnPath(engine.command) : null;
  if (onPath !== null) {
    const reason = await faultOf(engine, onPath, signal);
    if (reason === null) {
      progress.say(`${engine.title}: ${onPath} (found on PATH)`);
      return onPath;
    }
    faults.push(`${onPath} (found on PATH): ${reason}`);
  } else if (engine.searchedOnPath) {
    faults.push(`${engine.command} is not on PATH`);
  }
  const file = await new EngineCache(engine, cacheFolder(config), progress).find(faults, signal);
  progress.say(`${engine.title}: ${file} (cached)`);
  return file;
}

function cacheFolder(config: Config): string {
  return path.join(config.XDG_CACHE_HOME ?? path.join(os.homedir(), '.cache'), 'lunas');
}

class EngineCache {
  private readonly folder: string;
  private readonly file: string;
  private readonly lock: string;

  constructor(
    private readonly engine: Engine,
    cache: string,
    private readonly progress: Progress,
  ) {
    this.folder = path.join(cache, engine.cacheName);
    this.file = path.join(this.folder, engine.command);
    this.lock = `${this.folder}.lock`;
  }

  /** @param faults of the ways that were tried before */
  async find(faults: readonly string[], signal: AbortSignal): Promise<string> {
    if ((await faultOf(this.engine, this.file, signal)) === null) return this.file;
    try {
      await makeFolder(path.dirname(this.folder));
      await this.takeLock(signal);
    } catch (error) {
      signal.throwIfAborted();
      throw this.failure([...faults, `the cache cannot be written: ${reasonOf(error)} (XDG_CACHE_HOME moves it)`]);
    }
    try {
      return await this.fill(faults, signal);
    } finally {
      await releaseLock(this.lock);
    }
  }

  /** One process at a time makes it; others wait and find it made. */
  private async takeLock(signal: AbortSignal): Promise<void> {
    const first = await acquireLock(this.lock);
    if (first.acquired) return;
    const title = `${this.engine.title}: waiting for process ${first.pid}, which is fetching or building it`;
    await this.progress.during(title, () =>
      waitFor(title, async () => ((await acquireLock(this.lock)).acquired ? true : undefined), {
        timeoutMs: LOCK_WAIT_MS,
        signal,
      }),
    );
  }

  private async fill(faults: readonly string[], signal: AbortSignal): Promise<string> {
    const cachedFault = await faultOf(this.engine, this.file, signal);
    if (cachedFault === null) return this.file;
    if (isExecutableFile(this.file)) {
      const [reason] = cachedFault.split('\n');
      this.progress.say(`${this.engine.title}: the cached one is broken and is made again: ${reason}`);
    }
    const allFaults = [...faults, `${this.file} (the cache): ${cachedFault}`];
    for (const way of this.engine.ways) {
      const fault = await this.tryWay(way, signal);
      if (fault === null) return this.file;
      allFaults.push(fault);
    }
    throw this.failure(allFaults);
  }

  /** The folder appears under its name only when it is whole and has been seen to work. */
  private async tryWay(way: Way, signal: AbortSignal): Promise<string | null> {
    const partial = `${this.folder}.partial`;
    await rm(partial, { recursive: true, force: true });
    await mkdir(partial);
    const step = this.progress.step(`${this.engine.title}: ${way.title}`);
    try {
      await way.make(partial, step, signal);
      await this.engine.check(path.join(partial, this.engine.command), signal);
      await rm(this.folder, { recursive: true, force: true });
      await rename(partial, this.folder);
      step.done();
      return null;
    } catch (error) {
      step.failed();
      signal.throwIfAborted();
      return `${way.title}: ${reasonOf(error)}`;
    } finally {
      await rm(partial, { recursive: true, force: true });
    }
  }

  private failure(faults: readonly string[]): UserError {
    const tried = faults.map((fault) => `- ${fault.replaceAll('\n', '\n    ')}`);
    const { title, remedy } = this.engine;
    return new UserError([`There is no ${title}. ${remedy} What was tried:`, ...tried].join('\n'));
  }
}

/** Why the file cannot be used, or null. */
async function faultOf(engine: Engine, file: string, signal: AbortSignal): Promise<string | null> {
  if (!isExecutableFile(file)) return 'no executable file is there';
  try {
    await engine.check(file, signal);
    return null;
  } catch (error) {
    signal.throwIfAborted();
    return reasonOf(error);
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
