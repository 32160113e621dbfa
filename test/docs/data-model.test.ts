import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { PACKAGE_ROOT } from '../../src/package-info';
import { readSection } from '../support/marked-section';

const MIGRATIONS = 'src/db/migrations';

const read = (file: string) => readFileSync(path.join(PACKAGE_ROOT, file), 'utf8');
const section = (name: string) => readSection({ page: 'docs/data-model.md', kind: 'compared', name });

/** A name of code, and the file that the page links for it. */
interface Named {
  readonly name: string;
  readonly file: string;
}

/** `one`, `two` ([file](../file)): names, and then their file. */
function namedIn(text: string): Named[] {
  const groups = text.matchAll(/((?:`[\w.]+`(?:, )?)+) \(\[[^\]]+\]\(\.\.\/([^)]+)\)\)/g);
  return [...groups].flatMap(([, names = '', file = '']) => quotedIn(names).map((name) => ({ name, file })));
}

const quotedIn = (text: string) => [...text.matchAll(/`([\w.]+)`/g)].map(([, name = '']) => name);

const rowsOf = (text: string) => text.split('\n').slice(2);

function declares({ name, file }: Named): boolean {
  const source = read(file);
  if (file.endsWith('.sql')) {
    return new RegExp(String.raw`^create (?:function|trigger|policy) ${name}\b|^  constraint ${name}\b`, 'm').test(
      source,
    );
  }
  return new RegExp(String.raw`^export (?:async )?(?:function|const) ${name}\b`, 'm').test(source);
}

/** The values that the check of a column permits. */
function valuesOf({ name, file }: Named): string[] {
  const [table = '', column = ''] = name.split('.');
  const definition = new RegExp(String.raw`^create table ${table} \($.*?^\)`, 'ms').exec(read(file))?.[0] ?? '';
  const [declared = ''] =
    new RegExp(String.raw`^  ${column} .*?(?=^  [a-z]\w* |^  --|^\))`, 'ms').exec(definition) ?? [];
  const check = declared.slice(declared.indexOf('check ('));
  return [...check.matchAll(/'(\w[^']*)'/g)].map(([, value = '']) => value);
}

/** The values of a list, or the keys of a table. */
async function valuesIn({ name, file }: Named): Promise<string[]> {
  const module: Readonly<Record<string, unknown>> = await import(path.join(PACKAGE_ROOT, file));
  const list = module[name];
  return Array.isArray(list) ? z.array(z.string()).parse(list) : Object.keys(list ?? {});
}

const rules = namedIn(section('rules'));
const lists = rowsOf(section('lists')).map((row) => {
  const [list, ...columns] = namedIn(row);
  return { list, columns };
});

it.each(rules)('$name of a rule is declared in $file', (named) => {
  expect(declares(named)).toBe(true);
});

it('each row of a rule has its TypeScript, and its SQL', () => {
  const files = rowsOf(section('rules')).map((row) => namedIn(row).map(({ file }) => path.extname(file)));
  expect(files.filter((extensions) => !extensions.includes('.ts') || !extensions.includes('.sql'))).toEqual([]);
});

it('each function of the schema decides a rule of the table, or is one of those that decide none', () => {
  const schema = readdirSync(path.join(PACKAGE_ROOT, MIGRATIONS)).map((file) => read(path.join(MIGRATIONS, file)));
  const found = schema.join('\n').matchAll(/^create (?:or replace )?function (\w+)/gm);
  const functions = new Set([...found].map(([, name = '']) => name));
  const mechanical = new Set(quotedIn(section('mechanical')));
  const decisive = new Set(rules.filter(({ file }) => file.endsWith('.sql')).map(({ name }) => name));
  expect([...functions].filter((name) => mechanical.has(name) === decisive.has(name))).toEqual([]);
  expect([...mechanical].filter((name) => !functions.has(name))).toEqual([]);
});

it.each(lists)('the columns of $list.name permit its values', async ({ list, columns }) => {
  if (!list) throw new Error('A row has no list');
  const values = (await valuesIn(list)).toSorted();
  expect(values).not.toEqual([]);
  for (const column of columns) expect({ column, values: valuesOf(column).toSorted() }).toEqual({ column, values });
});
