import path from 'node:path';
import type { Queryable } from '../../db/connection/pool';
import { findFilesWithChecksum, type WrittenFile } from '../../db/operations/archive';
import { ConflictError } from '../../errors';
import { archiveFileName, sha256Of } from './archive-file';

/**
 * Compares a file with the checksums that PostgreSQL has recorded.
 * @returns its record
 * @throws ConflictError if the file was changed, or is another file of the archive than its name
 */
export async function requireRecorded(db: Queryable, file: string): Promise<WrittenFile> {
  const sha256 = await sha256Of(file);
  const files = await findFilesWithChecksum(db, sha256);
  const recorded = files.find((found) => archiveFileName(found) === path.basename(file));
  if (recorded) return recorded;
  const names = files.map(archiveFileName);
  if (names.length > 0) {
    throw new ConflictError('archive_file', `${file} is the file ${names.join(', ')}. Give it its name back.`);
  }
  const text = `${file} was changed, or is no file of this database: it has no file with this SHA-256.`;
  throw new ConflictError('archive_file', text);
}
