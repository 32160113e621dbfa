import { existsSync, statfsSync } from 'node:fs';
import os from 'node:os';
import { publishServices } from './publish-services';
import { startTestServices } from './test-services';

/** The memory file system of Linux. */
const MEMORY_FILES = '/dev/shm';
/** Several times what the databases of a run have at a time. */
const NEEDED_BYTES = 8 * 1_024 ** 3;

/**
 * Runs once before the fast integration tests. They copy and drop a thousand small databases, of 415 files each, which
 * takes a disk half of a run. So the servers' files are in memory, if there is enough of it.
 */
export default () => publishServices(() => startTestServices(hasMemory() ? MEMORY_FILES : os.tmpdir()));

function hasMemory(): boolean {
  if (!existsSync(MEMORY_FILES)) return false;
  const { bavail, bsize } = statfsSync(MEMORY_FILES);
  return Math.min(os.freemem(), bavail * bsize) >= NEEDED_BYTES;
}
