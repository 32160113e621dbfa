import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { PACKAGE_ROOT } from '../../src/package-info';

const MIGRATIONS = path.join('src', 'db', 'migrations');
const MODULE = pathToFileURL(path.join(PACKAGE_ROOT, 'scripts', 'previous-version.mjs')).href;
const SCRIPT = `
  import { findPreviousVersion } from '${MODULE}';
  console.log(JSON.stringify(findPreviousVersion(process.argv[1])));`;
const AUTHOR = ['-c', 'user.name=test', '-c', 'user.email=test@example.com'];

let directory: string;

const git = (...args: readonly string[]) =>
  execFileSync('git', [...AUTHOR, ...args], { cwd: directory, encoding: 'utf8' }).trim();

/** Jest loads no ES modules. */
function findPreviousVersion(): unknown {
  const args = ['--input-type=module', '--eval', SCRIPT, directory];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }));
}

function writeMigration(name: string): void {
  writeFileSync(path.join(directory, MIGRATIONS, name), '-- Up Migration\n');
}

/** @returns the commit */
function commit(subject: string): string {
  git('add', '--all');
  git('commit', '--quiet', '--allow-empty', '--message', subject);
  return git('rev-parse', 'HEAD');
}

beforeEach(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), 'lunas-versions-'));
  mkdirSync(path.join(directory, MIGRATIONS), { recursive: true });
  git('init', '--quiet');
  writeMigration('0001_schema_roles.sql');
});
afterEach(() => rmSync(directory, { recursive: true }));

it('a history without a migration after the first schema has no previous version', () => {
  commit('one');
  writeMigration('0002_schema_payments.sql');
  commit('two');
  writeFileSync(path.join(directory, MIGRATIONS, '0001_schema_roles.sql'), '-- Changed\n');
  commit('changed');
  expect(findPreviousVersion()).toEqual({ commit: null, missing: 'migration' });
});

it('the previous version is the commit before the last migration', () => {
  const first = commit('one');
  writeMigration('0003_more.sql');
  commit('two');
  commit('later');
  expect(findPreviousVersion()).toEqual({ commit: first });
});

it('the previous version is the last commit if the last migration is not committed', () => {
  commit('one');
  const last = commit('later');
  writeMigration('0003_more.sql');
  expect(findPreviousVersion()).toEqual({ commit: last });
});

it('the previous version is not known if the history does not go back that far', () => {
  writeMigration('0003_more.sql');
  commit('all');
  expect(findPreviousVersion()).toEqual({ commit: null, missing: 'history' });
});
