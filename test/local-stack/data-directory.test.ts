import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import {
  dataDirectoryAt,
  ensureMasterKey,
  lockDataDirectory,
  readMasterKey,
  unlockDataDirectory,
} from '../../src/local-stack/data-directory';
import { acquireLock, lockOwner } from '../../src/local-stack/lock-file';
import { readRunFile, removeRunFile, writeRunFile, type RunFile } from '../../src/local-stack/run-file';
import { temporaryDirectory } from './processes';

const run: RunFile = {
  api_url: 'http://127.0.0.1:3000',
  dashboard_url: null,
  dashboard_link: null,
  operator_url: 'http://127.0.0.1:3002',
  metrics_urls: { api: 'http://127.0.0.1:9464/metrics' },
  sandbox_url: 'http://127.0.0.1:3001',
  temporal_address: '127.0.0.1:7233',
  temporal_ui_url: 'http://127.0.0.1:8233',
  database_url: 'postgresql://lunas:secret@127.0.0.1:5433/lunas',
  merchant_id: '01935b6c-7c00-7000-8000-00006c756e61',
  secret_key: 'sk_test_x',
  webhook_secret: null,
  pid: process.pid,
};

async function newDataDirectory() {
  return dataDirectoryAt(path.join(await temporaryDirectory(), 'parent', 'data'));
}

/** Writes the lock file of a process that has ended. */
async function writeStaleLock(file: string): Promise<void> {
  const ended = spawn(process.execPath, ['-e', '']);
  await once(ended, 'exit');
  await writeFile(file, JSON.stringify({ pid: ended.pid, command_line: 'node lunas up' }));
}

it.each(['/proc/lunas', '/dev/null/lunas'])(
  'a directory that cannot be written (%s) is a UserError of one line with the remedy',
  async (directory) => {
    const failure = lockDataDirectory(dataDirectoryAt(directory));
    await expect(failure).rejects.toThrow(/^\/.* cannot be written \(.*\)\. Set LUNAS_HOME to a writable directory\.$/);
    await expect(failure).rejects.toMatchObject({ name: 'UserError' });
  },
);

it('one process at a time locks a data directory; the error names its owner', async () => {
  const dataDirectory = await newDataDirectory();
  await expect(lockDataDirectory(dataDirectory)).resolves.toEqual({ afterCrash: false });
  await expect(lockDataDirectory(dataDirectory)).rejects.toThrow(
    `Lunas runs already on ${dataDirectory.path} (process ${process.pid}).`,
  );
  await unlockDataDirectory(dataDirectory);
  await expect(lockDataDirectory(dataDirectory)).resolves.toEqual({ afterCrash: false });
});

it('replaces the lock of a killed process and reports the crash', async () => {
  const dataDirectory = await newDataDirectory();
  await lockDataDirectory(dataDirectory);
  await writeStaleLock(path.join(dataDirectory.path, 'lunas.lock'));
  await expect(lockDataDirectory(dataDirectory)).resolves.toEqual({ afterCrash: true });
});

it('ignores the lock of an unrelated process with the same process id', async () => {
  const dataDirectory = await newDataDirectory();
  await lockDataDirectory(dataDirectory);
  const lock = path.join(dataDirectory.path, 'lunas.lock');
  await writeFile(lock, JSON.stringify({ pid: process.ppid, command_line: 'node lunas up' }));
  expect(await lockOwner(lock)).toBeNull();
  await expect(lockDataDirectory(dataDirectory)).resolves.toEqual({ afterCrash: true });
});

it('exactly one of 20 concurrent attempts acquires the lock of a killed process', async () => {
  const directory = await temporaryDirectory();
  const file = path.join(directory, 'lock');
  await writeStaleLock(file);
  const attempts = await Promise.all(Array.from({ length: 20 }, () => acquireLock(file)));
  expect(attempts.filter(({ acquired }) => acquired)).toHaveLength(1);
  expect(await readdir(directory)).toEqual(['lock']);
});

it('the run file exists for other commands only during the run', async () => {
  const dataDirectory = await newDataDirectory();
  expect(await readRunFile(dataDirectory)).toBeNull();
  await lockDataDirectory(dataDirectory);
  await writeRunFile(dataDirectory, run);
  expect(await readRunFile(dataDirectory)).toEqual(run);
  await writeStaleLock(path.join(dataDirectory.path, 'lunas.lock'));
  expect(await readRunFile(dataDirectory)).toBeNull();
  await removeRunFile(dataDirectory);
  expect(await readRunFile(dataDirectory)).toBeNull();
});

it('stores one master key of 32 bytes; other users cannot read the secrets', async () => {
  const dataDirectory = await newDataDirectory();
  await lockDataDirectory(dataDirectory);
  expect(await readMasterKey(dataDirectory)).toBeNull();
  const key = await ensureMasterKey(dataDirectory);
  expect(Buffer.from(key, 'base64')).toHaveLength(32);
  expect(await ensureMasterKey(dataDirectory)).toBe(key);
  expect(await readMasterKey(dataDirectory)).toBe(key);
  await writeRunFile(dataDirectory, run);
  for (const name of ['master-key', 'run.json']) {
    expect((await stat(path.join(dataDirectory.path, name))).mode & 0o077).toBe(0);
  }
  expect(JSON.parse(await readFile(path.join(dataDirectory.path, 'run.json'), 'utf8'))).toEqual(run);
});
