import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { messageOf, UserError } from '../../errors';
import { parseJson } from '../../lib/parse-json';
import { createDirectory } from '../../local-stack/create-directory';
import { writeAtomically, type DataDirectory } from '../../local-stack/data-directory';
import { acquireLock, releaseLock } from '../../local-stack/lock-file';
import { newWebhookSecret } from '../../webhooks/sign';

const contentSchema = z.object({ secret: z.string(), cursor: z.string().nullable() });

/** What `lunas listen` remembers of a key. */
export interface ListenState {
  /** Signs the forwarded webhooks. */
  readonly secret: string;
  /** The last event that was forwarded; null before the first connection. */
  readonly cursor: string | null;
  save(cursor: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * Reads the file of the key, which is named by the hash of the key, or creates it.
 * @throws UserError if another `lunas listen` uses the key, or the directory is not writable
 */
export async function openListenState({ path: home }: DataDirectory, key: string): Promise<ListenState> {
  const directory = path.join(home, 'listen');
  const file = path.join(directory, `${createHash('sha256').update(key).digest('hex').slice(0, 32)}.json`);
  const lockFile = `${file}.lock`;
  await acquire(directory, lockFile);
  const stored = contentSchema.safeParse(parseJson(await readFile(file, 'utf8').catch(() => '')));
  let content = stored.data ?? { secret: newWebhookSecret(), cursor: null };
  const write = () => writeAtomically(file, `${JSON.stringify(content)}\n`);
  await write();
  return {
    secret: content.secret,
    get cursor() {
      return content.cursor;
    },
    async save(cursor) {
      content = { ...content, cursor };
      await write();
    },
    close: () => releaseLock(lockFile),
  };
}

async function acquire(directory: string, lockFile: string): Promise<void> {
  try {
    await createDirectory(directory, 0o700);
    const lock = await acquireLock(lockFile);
    if (!lock.acquired)
      throw new UserError(`Another lunas listen uses this key (process ${lock.pid}). End it, or use another key.`);
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(
      `${directory} cannot be written (${messageOf(error)}). Set LUNAS_HOME to a writable directory.`,
    );
  }
}
