import os from 'node:os';
import path from 'node:path';

/** Where Lunas keeps what it can make again: Temporal's binaries, and the compiled code of its commands. */
export function cacheDirectory({ XDG_CACHE_HOME }: { readonly XDG_CACHE_HOME?: string | undefined }): string {
  return path.join(XDG_CACHE_HOME ?? path.join(os.homedir(), '.cache'), 'lunas');
}
