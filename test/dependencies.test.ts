import { readFileSync } from 'node:fs';
import path from 'node:path';
import { PACKAGE_ROOT } from '../src/package-info';

function readText(file: string): string {
  return readFileSync(path.join(PACKAGE_ROOT, file), 'utf8');
}

const { dependencies, allowScripts } = JSON.parse(readText('package.json'));
const { packages } = JSON.parse(readText('package-lock.json'));
const NODE_VERSION = readText('.nvmrc').trim();

it("pins Temporal's SDK exactly: workflow code uses its internals", () => {
  const versions = Object.keys(dependencies)
    .filter((name) => name.startsWith('@temporalio/'))
    .map((name) => dependencies[name]);
  expect(versions.length).toBeGreaterThan(0);
  expect(versions).toEqual(versions.map(() => expect.stringMatching(/^\d+\.\d+\.\d+$/)));
});

it('decides about every install script, and names no other package', () => {
  const withInstallScript = Object.keys(packages)
    .filter((location) => packages[location].hasInstallScript)
    .map((location) => location.replace(/^.*node_modules\//, ''));
  expect(Object.keys(allowScripts).sort()).toEqual([...new Set(withInstallScript)].sort());
});

it('the image and npm do not run the install scripts that the image does not need', () => {
  expect(readText('Dockerfile')).toContain('RUN npm ci --ignore-scripts');
  expect(readText('.npmrc')).toContain('strict-allow-scripts=true');
});

it('the image and .nvmrc have the same exact version of Node.js', () => {
  expect(NODE_VERSION).toMatch(/^24\.\d+\.\d+$/);
  expect(readText('Dockerfile')).toContain(`ARG NODE_IMAGE=node:${NODE_VERSION}-bookworm-slim\n`);
  expect(readText('.github/workflows/ci.yml')).toContain('node-version-file: .nvmrc');
});

it('takes packages from the registry only by the lock file, with their hashes', () => {
  const withoutHash = Object.entries<{ link?: boolean; integrity?: string }>(packages)
    .filter(([location, { link, integrity }]) => location !== '' && !link && integrity === undefined)
    .map(([location]) => location);
  expect(withoutHash).toEqual([]);
});
