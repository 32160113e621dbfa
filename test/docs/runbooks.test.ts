import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { PACKAGE_ROOT } from '../../src/package-info';

const RUNBOOKS = path.join(PACKAGE_ROOT, 'docs', 'operations');
const IMAGES = path.join(RUNBOOKS, 'images');
const MAX_IMAGE_BYTES = 60_000;

/** Outages and changes: each page also has who notices it, and what not to do. */
const INCIDENTS = [
  'provider-down',
  'postgresql-down',
  'postgresql-failed-over',
  'postgresql-restored',
  'temporal-down',
  'backlog',
  'poison-workflow',
  'disk-full',
  'deploy',
];
const PARTS = ['What merchants and customers notice', 'How you know that it is over', 'What not to do'];

const pages = readdirSync(RUNBOOKS, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md'))
  .map((name) => ({ file: path.join(RUNBOOKS, name), text: readFileSync(path.join(RUNBOOKS, name), 'utf8') }));

const headingsOf = (text: string) => [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);
/** As GitHub makes them: lower case, without punctuation. */
const anchorsOf = (text: string) =>
  headingsOf(text).map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

/** What is wrong with the target of a link; undefined if its file and its section exist. */
function brokenTarget(from: string, target: string): string | undefined {
  const [name = '', section] = target.split('#');
  const file = name === '' ? from : path.resolve(path.dirname(from), name);
  if (!existsSync(file)) return `${path.relative(RUNBOOKS, from)}: ${target} does not exist`;
  if (section === undefined || anchorsOf(readFileSync(file, 'utf8')).includes(section)) return undefined;
  return `${path.relative(RUNBOOKS, from)}: ${target} has no such section`;
}

it('each link and each image of a runbook exists, with its section', () => {
  const targets = pages.flatMap(({ file, text }) =>
    [...text.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, target = '']) => ({ file, target })),
  );
  expect(targets.length).toBeGreaterThan(80);
  expect(targets.flatMap(({ file, target }) => brokenTarget(file, target) ?? [])).toEqual([]);
});

it('each image is shown with a text, and is small', () => {
  const shown = pages.flatMap(({ text }) => [...text.matchAll(/!\[([^\]]+)\]\(images\/([^)]+)\)/g)]);
  const files = readdirSync(IMAGES);
  expect([...new Set(shown.map(([, , name = '']) => name))].toSorted()).toEqual(files.toSorted());
  expect(files.filter((name) => statSync(path.join(IMAGES, name)).size > MAX_IMAGE_BYTES)).toEqual([]);
});

it.each(INCIDENTS)('%s: the page is in the list and has its parts', (incident) => {
  const page = pages.find(({ file }) => file === path.join(RUNBOOKS, `${incident}.md`));
  expect(headingsOf(page?.text ?? '')).toEqual(expect.arrayContaining(PARTS));
  expect(pages.find(({ file }) => file === path.join(RUNBOOKS, 'README.md'))?.text).toContain(`](${incident}.md)`);
});
