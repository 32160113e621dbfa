import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { PACKAGE_ROOT } from '../../src/package-info';

/** The directories and files of the repository with which a path of the page begins. */
const PATH = /`((?:src|activities|workflows|docs|packages|test)\/[\w./-]+|CHANGELOG\.md)`/g;

const pathsIn = (text: string) => [...text.matchAll(PATH)].map(([, file = '']) => file);
const exists = (file: string) => existsSync(path.join(PACKAGE_ROOT, file));

const page = readFileSync(path.join(PACKAGE_ROOT, 'CONTRIBUTING.md'), 'utf8');
const examples = page
  .slice(page.indexOf('## Worked examples'), page.indexOf('## Checklists'))
  .split(/^### /m)
  .slice(1)
  .map((text) => ({ title: text.slice(0, text.indexOf('\n')), text }));

describe('the worked examples of CONTRIBUTING.md', () => {
  it('the page has an example for each kind of change', () => {
    expect(examples.map(({ title }) => title)).toHaveLength(8);
  });

  it.each(examples)('$title: each file exists', ({ text }) => {
    expect(pathsIn(text).length).toBeGreaterThan(2);
    expect(pathsIn(text).filter((file) => !exists(file))).toEqual([]);
  });

  it('each path of the rest of the page exists', () => {
    expect(pathsIn(page).filter((file) => !exists(file))).toEqual([]);
  });

  it('a file that was moved is found', () => {
    expect(pathsIn('1. `src/domain/moved.ts`: its name.').filter((file) => !exists(file))).toEqual([
      'src/domain/moved.ts',
    ]);
  });
});
