import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';

/** The directory of package.json. This file runs from `src/` (tests) or from `dist/src/` (built). */
export const PACKAGE_ROOT = findPackageRoot(__dirname);

/** The compiled workflows; `npm run build` makes them. */
export const WORKFLOW_BUNDLE = path.join(PACKAGE_ROOT, 'dist', 'workflow-bundle.js');

const manifest: unknown = JSON.parse(readFileSync(path.join(PACKAGE_ROOT, 'package.json'), 'utf8'));
export const { version: VERSION } = z.object({ version: z.string() }).parse(manifest);

/** The oldest Temporal server: the first one with fair task queues. */
export const MIN_TEMPORAL_VERSION = { major: 1, minor: 29 } as const;

/** @param version `1.29.1` */
export function isSupportedTemporal(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major === MIN_TEMPORAL_VERSION.major
    ? minor >= MIN_TEMPORAL_VERSION.minor
    : major > MIN_TEMPORAL_VERSION.major;
}

function findPackageRoot(directory: string): string {
  if (existsSync(path.join(directory, 'package.json'))) return directory;
  const parent = path.dirname(directory);
  if (parent === directory) throw new Error(`No package.json above ${__dirname}`);
  return findPackageRoot(parent);
}
