import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { readListenKey } from '../../../src/cli/listen/listen-key';
import { runLunas } from '../run-lunas';

const [ONE, OTHER, THIRD] = ['a', 'b', 'c'].map((character) => `sk_test_${character.repeat(39)}`);
const directory = mkdtempSync(path.join(os.tmpdir(), 'lunas-listen-key-'));
const keyFile = path.join(directory, 'key.txt');
afterAll(() => rmSync(directory, { recursive: true }));

it('the key is that of a file, of the command line or of LUNAS_KEY', async () => {
  writeFileSync(keyFile, `${OTHER}\n`);
  expect(await readListenKey({}, ONE)).toBe(ONE);
  expect(await readListenKey({ keyFile }, ONE)).toBe(OTHER);
  expect(await readListenKey({ key: THIRD }, ONE)).toBe(THIRD);
});

it.each([
  [[], {}, 'Set LUNAS_KEY to a secret key of the merchant, or give a file with it: --key-file PATH.'],
  [['--key-file', '/nowhere'], {}, '--key-file: /nowhere cannot be read (ENOENT).'],
  [['--key-file', '/nowhere', '--key', String(ONE)], {}, 'Give --key-file or --key, not both.'],
  [['--key', 'secret'], {}, '--key must be a secret key of a merchant: sk_test_… or sk_live_…'],
  [[], { LUNAS_KEY: 'secret' }, 'LUNAS_KEY must be a secret key of a merchant: sk_test_… or sk_live_…'],
])('lunas listen %j with %j is rejected', async (args, environment, message) => {
  const outcome = await runLunas(['listen', '--forward-to', 'http://localhost:1', ...args], {
    LUNAS_HOME: directory,
    ...environment,
  });
  expect(outcome).toEqual({ exitCode: 1, stdout: '', stderr: `error: ${message}\n` });
});
