import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { UserError } from '../errors';
import { writeAtomically, type DataDirectory } from './data-directory';

/**
 * Increase it if this version can no longer run on existing data, for example after a Temporal message was renamed:
 * workflows that run already would fail.
 */
const DATA_FORMAT = '2';

/**
 * Writes the format into a new data directory.
 * @throws UserError if the data was created by a version with another format, or before formats were recorded
 */
export async function ensureDataFormat(dataDirectory: DataDirectory): Promise<void> {
  const file = path.join(dataDirectory.path, 'format');
  const stored = await readFile(file, 'utf8').catch(() => null);
  if (stored?.trim() === DATA_FORMAT) return;
  const hasData = existsSync(dataDirectory.postgres) || existsSync(path.dirname(dataDirectory.temporalDatabase));
  if (stored !== null || hasData) {
    throw new UserError(
      `${dataDirectory.path} was created by another version of Lunas, whose data this version cannot read. ` +
        'Remove this directory, or set LUNAS_HOME to another one.',
    );
  }
  await writeAtomically(file, `${DATA_FORMAT}\n`);
}
