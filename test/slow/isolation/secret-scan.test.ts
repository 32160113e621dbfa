import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createOperatorKey, createSecretKey } from '../../../src/crypto/secret-key';
import { PACKAGE_ROOT } from '../../../src/package-info';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(path.join(os.tmpdir(), 'lunas-secrets-'));
  git('init', '--quiet');
});
afterEach(() => rm(directory, { recursive: true }));

function git(...args: string[]): void {
  const identity = ['-c', 'user.name=Dewi', '-c', 'user.email=dewi@lunas.example', '-c', 'commit.gpgsign=false'];
  execFileSync('git', [...identity, ...args], { cwd: directory });
}

async function commit(text: string): Promise<void> {
  await writeFile(path.join(directory, 'notes.md'), text);
  git('add', 'notes.md');
  git('commit', '--quiet', '--message', 'docs: add notes');
}

function scan(repository: string) {
  const { status, stdout, stderr } = spawnSync(path.join(PACKAGE_ROOT, 'scripts', 'scan-secrets.sh'), [repository], {
    encoding: 'utf8',
  });
  return { status, output: `${stdout}${stderr}` };
}

it('finds no secret in the history of this repository', () => {
  expect(scan(PACKAGE_ROOT)).toMatchObject({ status: 0, output: expect.stringContaining('no leaks found') });
});

it.each([
  ['a merchant', createSecretKey('production', '00').secret],
  ['an operator', createOperatorKey('production', '00').secret],
])('finds a live key of %s that a later commit removed, and does not print it', async (_owner, secret) => {
  await commit(`The key is ${secret}.\n`);
  await commit('The key is gone.\n');
  const { status, output } = scan(directory);
  expect(status).toBe(1);
  expect(output).toContain('lunas-live-key');
  expect(output).not.toContain(secret);
});

it('accepts sandbox keys, which the documentation shows', async () => {
  await commit(`Authorization: Bearer ${createSecretKey('sandbox', '00').secret}\n`);
  expect(scan(directory)).toMatchObject({ status: 0 });
});
