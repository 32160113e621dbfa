import { readFileSync } from 'node:fs';
import path from 'node:path';
import { PACKAGE_ROOT } from '../src/package-info';

it("pins Temporal's SDK exactly: workflow code uses its internals", () => {
  const { dependencies } = JSON.parse(readFileSync(path.join(PACKAGE_ROOT, 'package.json'), 'utf8'));
  const versions = Object.keys(dependencies)
    .filter((name) => name.startsWith('@temporalio/'))
    .map((name) => dependencies[name]);
  expect(versions.length).toBeGreaterThan(0);
  expect(versions).toEqual(versions.map(() => expect.stringMatching(/^\d+\.\d+\.\d+$/)));
});
