import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';

/** The first executable file of this name in the folders of PATH, or null. */
export function findOnPath(name: string, searchPath = process.env['PATH'] ?? ''): string | null {
  const candidates = searchPath
    .split(path.delimiter)
    .filter(Boolean)
    .map((directory) => path.join(directory, name));
  return candidates.find(isExecutableFile) ?? null;
}

export function isExecutableFile(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
