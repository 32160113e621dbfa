import Module from 'node:module';
import path from 'node:path';
import { cacheDirectory } from '../local-stack/cache-directory';

/** @types/node describes Node.js 20. */
interface CachingModule extends Pick<typeof Module, 'builtinModules'> {
  /** Absent before Node.js 22.1. */
  readonly enableCompileCache?: (directory: string) => unknown;
}

/**
 * Keeps the compiled code of the modules that a command loads, in the user's own directory of caches: V8 trusts what it
 * reads there. Without a directory that can be written Node.js compiles them, as before.
 */
export function enableCompileCache(environment: NodeJS.ProcessEnv): void {
  const module: CachingModule = Module;
  module.enableCompileCache?.(path.join(cacheDirectory(environment), 'compiled'));
}
