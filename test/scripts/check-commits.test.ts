import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { PACKAGE_ROOT } from '../../src/package-info';

const SCRIPT = path.join('scripts', 'check-commits.mjs');
const CONFIG = 'commitlint.config.cjs';

describe('the check of commit messages', () => {
  let checkout: string;

  beforeEach(() => {
    checkout = mkdtempSync(path.join(os.tmpdir(), 'lunas-commits-'));
    mkdirSync(path.join(checkout, 'scripts'));
    for (const file of [SCRIPT, CONFIG]) copyFileSync(path.join(PACKAGE_ROOT, file), path.join(checkout, file));
    symlinkSync(path.join(PACKAGE_ROOT, 'node_modules'), path.join(checkout, 'node_modules'));
  });

  afterEach(() => rmSync(checkout, { recursive: true }));

  function git(...args: string[]): void {
    const identity = ['-c', 'user.name=Dewi', '-c', 'user.email=dewi@lunas.example', '-c', 'commit.gpgsign=false'];
    execFileSync('git', [...identity, ...args], { cwd: checkout, stdio: 'ignore' });
  }

  function commit(...messages: string[]): void {
    for (const message of messages) git('commit', '--allow-empty', '--message', message);
  }

  function check() {
    // A hook of git sets these for its own repository.
    const { GIT_DIR: _dir, GIT_INDEX_FILE: _index, ...environment } = process.env;
    const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT], {
      cwd: checkout,
      env: environment,
      encoding: 'utf8',
    });
    return { status, output: `${stdout}${stderr}` };
  }

  it('skips a directory without git', () => {
    expect(check()).toEqual({ status: 0, output: expect.stringContaining('No commit to check') });
  });

  it('accepts earlier commits, and rejects a later one that breaks the convention', () => {
    git('init');
    commit('Everything at the beginning');
    expect(check()).toEqual({ status: 0, output: expect.stringContaining('No commit to check') });
    git('add', CONFIG);
    commit('build: lint commit messages', 'feat(api): list refunds\n\nMerchants could not list them.');
    expect(check()).toEqual({ status: 0, output: '' });
    commit('feat(api): list refunds; count them');
    expect(check()).toEqual({ status: 1, output: expect.stringContaining('the subject must not have a semicolon') });
  });

  it('accepts a shallow clone, which contains one commit', () => {
    git('init');
    git('add', CONFIG);
    commit('build: lint commit messages', 'Anything');
    const history = path.join(checkout, '.git');
    git('clone', '--depth', '1', `file://${checkout}`, 'shallow');
    rmSync(history, { recursive: true });
    renameSync(path.join(checkout, 'shallow', '.git'), history);
    expect(check()).toEqual({ status: 0, output: '' });
  });
});
