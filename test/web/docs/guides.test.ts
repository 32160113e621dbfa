import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { PACKAGE_ROOT } from '../../../src/package-info';
import { GUIDE_FILES } from '../../../src/web/docs/guides';
import { isExcludedFromContext } from '../../deploy/dockerfile';
import { startTestApis, type TestApis } from '../../support/api';

let apis: TestApis;
let url: string;
beforeAll(async () => {
  apis = await startTestApis([{}]);
  url = apis.urls[0] ?? '';
});
afterAll(() => apis.close());

const LINK = /\[[^\]]+\]\(([^)\s]+)\)/g;
const linksIn = (text: string) => [...text.matchAll(LINK)].map(([, target = '']) => target);

/** The anchors of a page, as GitHub derives them. */
function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

async function getPage(address: string): Promise<string> {
  const response = await fetch(address);
  expect([address, response.status]).toEqual([address, 200]);
  return response.text();
}

it('/llms.txt links to every guide, and each page has a title and fits into 400 lines', async () => {
  const response = await fetch(`${url}/llms.txt`);
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
  const index = await response.text();
  expect(index).toMatch(/^# Lunas\n\n> /);
  const paths = linksIn(index).map((link) => new URL(link).pathname);
  expect(paths).toEqual([...GUIDE_FILES.map((file) => `/docs/${file}`), '/openapi.json', '/docs']);
  for (const file of GUIDE_FILES) {
    const page = await fetch(`${url}/docs/${file}`);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/markdown; charset=utf-8']);
    const text = await page.text();
    expect(text).toMatch(/^# \S/);
    expect(text.split('\n').length).toBeLessThan(400);
  }
});

it.each(GUIDE_FILES)('each link of /docs/%s leads to a page that is served, and to a heading of it', async (file) => {
  const text = await getPage(`${url}/docs/${file}`);
  const targets = linksIn(text)
    .filter((link) => !/^https?:/.test(link))
    .map((link) => new URL(link, `${url}/docs/${file}`));
  const anchors = await Promise.all(targets.map(async ({ href }) => ['', ...anchorsOf(await getPage(href))]));
  expect(targets.filter(({ hash }, index) => !anchors[index]?.includes(hash.slice(1)))).toEqual([]);
});

it('the package and the image contain the guides', () => {
  const manifest: unknown = JSON.parse(readFileSync(path.join(PACKAGE_ROOT, 'package.json'), 'utf8'));
  const { files } = z.object({ files: z.array(z.string()) }).parse(manifest);
  for (const file of GUIDE_FILES) {
    expect(files).toContain(`docs/${file}`);
    expect(isExcludedFromContext(`docs/${file}`)).toBe(false);
  }
  expect(isExcludedFromContext('docs/production.md')).toBe(true);
});
