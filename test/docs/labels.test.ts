import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { PACKAGE_ROOT } from '../../src/package-info';
import { fileOf, INDONESIAN_SHOP_GUIDES, SHOP_GUIDES } from '../../src/web/docs/guides';

const PAGES = path.join(PACKAGE_ROOT, 'src', 'web');
const sources = readdirSync(PAGES, { recursive: true, encoding: 'utf8' })
  .filter((file) => /texts?\b.*\.ts$|\/(?:en|id)\.ts$/.test(file))
  .map((file) => readFileSync(path.join(PAGES, file), 'utf8'))
  .join('\n');

/** What a guide has in italics: the texts of the dashboard that its reader looks for. */
const labelsOf = (text: string): string[] =>
  [...text.matchAll(/(?<![\w/])_(\p{Lu}[^_]*)_(?!\w)/gu)].map(([, label = '']) => label.replaceAll('\n', ' '));

it.each([...SHOP_GUIDES, ...INDONESIAN_SHOP_GUIDES].map((guide) => [guide.name, guide] as const))(
  'each label in the guide %s is a text of the dashboard',
  (_name, guide) => {
    const labels = labelsOf(readFileSync(path.join(PACKAGE_ROOT, fileOf(guide)), 'utf8'));
    expect(labels.filter((label) => !sources.includes(`'${label}'`))).toEqual([]);
  },
);

it('the guides have labels', () => {
  const [dashboard] = INDONESIAN_SHOP_GUIDES;
  if (!dashboard) throw new Error('There is no guide');
  expect(labelsOf(readFileSync(path.join(PACKAGE_ROOT, fileOf(dashboard)), 'utf8')).length).toBeGreaterThan(20);
});
