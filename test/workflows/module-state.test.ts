import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { PACKAGE_ROOT } from '../../src/package-info';

/**
 * All workflows of a worker share one evaluation of these modules (`preloadModules` in scripts/bundle-workflows.mjs).
 * So no module may have state. The SDK freezes what a module exports. This test reads the rest, in the module's file.
 * Prettier has formatted the files: a declaration of a module begins in the first column.
 */
const DIRECTORIES = ['workflows', 'src/domain'];
const VARIABLE = /^(?:export )?(?:let|var) .*/gm;
const STATIC_FIELD = /^ +(?:(?:private|public|protected) )?static (?!readonly |async |[\w#]+[(<]).*/gm;
const CONSTANT = /^(?:export )?const (\w+)/gm;
const MUTATORS = 'add|clear|copyWithin|delete|fill|pop|push|reverse|set|shift|sort|splice|unshift';

function changesOf(constant: string): RegExp {
  const member = String.raw`(?:\.\w+|\[[^\]]*\])`;
  const operator = String.raw`(?:[-+*/%&|^?]{0,2}=(?!=|>)|\+\+|--)`;
  return new RegExp(String.raw`\b${constant}(?:${member}+ ?${operator}|${member}*\.(?:${MUTATORS})\()`, 'g');
}

function stateOf(text: string): string[] {
  const constants = [...text.matchAll(CONSTANT)].map(([, name = '']) => name);
  const patterns = [VARIABLE, STATIC_FIELD, ...constants.map(changesOf)];
  return patterns.flatMap((pattern) => text.match(pattern) ?? []);
}

const files = DIRECTORIES.flatMap((directory) =>
  readdirSync(path.join(PACKAGE_ROOT, directory), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => path.join(directory, file)),
);

it.each(files)('%s has no state', (file) => {
  expect(stateOf(readFileSync(path.join(PACKAGE_ROOT, file), 'utf8'))).toEqual([]);
});

it.each([
  'let count = 0;',
  'export let count = 0;',
  'const seen = new Set();\nfunction f() {\n  seen.add(1);\n}',
  'const seen: Record<string, number> = {};\nfunction f() {\n  seen[key] = 1;\n}',
  'const counts = { all: 0 };\nfunction f() {\n  counts.all += 1;\n}',
  'const counts = { all: 0 };\nfunction f() {\n  counts.all++;\n}',
  'const list = { items: [] };\nfunction f() {\n  list.items.push(1);\n}',
  'class Counter {\n  static count = 0;\n}',
])('finds the state in %j', (text) => {
  expect(stateOf(text)).toHaveLength(1);
});

it.each([
  'const TABLE = { a: 1 };\nconst isA = TABLE.a === 1 || TABLE.a >= 1;',
  'function f() {\n  const list = [];\n  list.push(1);\n}',
  'class Table {\n  static readonly #rows = [];\n  static of() {}\n}',
])('finds none in %j', (text) => {
  expect(stateOf(text)).toEqual([]);
});
