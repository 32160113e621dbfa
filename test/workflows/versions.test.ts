import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { PACKAGE_ROOT } from '../../src/package-info';
import { PATCHES } from '../../workflows/versions';

const WORKFLOWS_DIRECTORY = path.join(PACKAGE_ROOT, 'workflows');

const SOURCES = readdirSync(WORKFLOWS_DIRECTORY)
  .filter((name) => name !== 'versions.ts')
  .map((name) => [name, readFileSync(path.join(WORKFLOWS_DIRECTORY, name), 'utf8')] as const);

/** The first arguments of all calls of `patched` and `deprecatePatch`. */
function usedPatchIds(): string[] {
  return SOURCES.flatMap(([, text]) =>
    [...text.matchAll(/\b(?:patched|deprecatePatch)\(([^)]*)\)/g)].map(([, id]) => id ?? ''),
  );
}

it('versions.ts has the ids of all patches, and each id is used', () => {
  const ids = Object.keys(PATCHES).map((name) => `PATCHES.${name}`);
  expect([...new Set(usedPatchIds())].toSorted()).toEqual(ids.toSorted());
});

it('every regular activity is waited for if it is cancelled: one file makes them', () => {
  const files = SOURCES.flatMap(([name, text]) => (/\bproxyActivities\b/.test(text) ? [name] : []));
  expect(files).toEqual(['regular-activities.ts']);
});
