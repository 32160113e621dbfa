import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { PACKAGE_ROOT } from '../src/package-info';

/** Also those whose rows `fill-database` counts. */
const HAS_SIZES = /from '[./]+\/support\/(?:size|fill-database)'/;

it('npm run test:proof runs each test that has two sizes, and no other', () => {
  const config = readFileSync(path.join(PACKAGE_ROOT, 'jest.proof.config.cjs'), 'utf8');
  const listed = [...config.matchAll(/'(test\/.*\.test\.ts)'/g)].map(([, file]) => file);
  const files = readdirSync(path.join(PACKAGE_ROOT, 'test'), { recursive: true, encoding: 'utf8' });
  const sized = files
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => `test/${file}`)
    .filter((file) => HAS_SIZES.test(readFileSync(path.join(PACKAGE_ROOT, file), 'utf8')));
  expect(listed).toEqual(sized.toSorted());
});
