import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { PACKAGE_ROOT } from '../../src/package-info';
import { migrationViolations } from './migration-rules';

const DIRECTORY = path.join(PACKAGE_ROOT, 'src/db/migrations');

/** The parts of the schema of the first version are one migration: no table of theirs has rows. */
const isFirstSchema = (name: string) => /^\d{4}_schema_/.test(name);
const files = readdirSync(DIRECTORY).toSorted();
const migrations = [files.filter(isFirstSchema), ...files.filter((name) => !isFirstSchema(name)).map((name) => [name])];

function upOf(name: string): string {
  const [, up = ''] = readFileSync(path.join(DIRECTORY, name), 'utf8').split(/^-- (?:Up|Down) Migration$/m);
  return up;
}

it.each(migrations.map((names) => ({ names })))(
  '$names changes no table that has rows in a way that stops the service',
  async ({ names }) => {
    expect(await migrationViolations(names.map(upOf).join('\n'))).toEqual([]);
  },
);

it.each([
  ['create index payments_x_idx on payments (x)', 'if not exists'],
  ['alter table payments alter column x set not null', 'set not null'],
  ['alter table payments add constraint x_check check (x > 0)', 'not valid'],
  ['alter table payments add column x integer check (x > 0)', 'not valid'],
  ['alter table payments add foreign key (x) references merchants', 'not valid'],
  ['alter table payments add column x uuid default gen_random_uuid()', 'every row'],
  ['alter table payments alter column x type bigint', 'rewrites'],
  ['alter table payments drop column x', 'previous version'],
  ['alter table payments rename column x to y', 'previous version'],
  ['drop table rate_limits', 'previous version'],
  ['update payments set x = 1', 'rewrites'],
])('rejects: %s', async (sql, reason) => {
  expect(await migrationViolations(sql)).toEqual([expect.stringContaining(reason)]);
});

it.each([
  'create index if not exists payments_x_idx on payments (x)',
  'alter table payments add column x integer not null default 0',
  'alter table payments add column x timestamptz default now()',
  'alter table payments add constraint x_check check (x > 0) not valid',
  'create table things (id integer check (id > 0)); create index things_idx on things (id); update things set id = 1',
])('accepts: %s', async (sql) => {
  expect(await migrationViolations(sql)).toEqual([]);
});
