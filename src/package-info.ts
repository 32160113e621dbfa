import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The directory of package.json. This file runs from `src/` (tests) or from `dist/src/` (built). */
export const PACKAGE_ROOT = findPackageRoot(__dirname);

export const VERSION = readVersion();

function findPackageRoot(directory: string): string {
  if (existsSync(path.join(directory, 'package.json'))) return directory;
  const parent = path.dirname(directory);
  if (parent === directory) throw new Error(`No package.json above ${__dirname}`);
  return findPackageRoot(parent);
}

function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(path.join(PACKAGE_ROOT, 'package.json'), 'utf8'));
  if (typeof manifest === 'object' && manifest && 'version' in manifest) return String(manifest.version);
  throw new Error('package.json has no version');
}
