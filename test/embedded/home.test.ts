import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import {
  closeHome,
  ensureMasterKey,
  homeAt,
  openHome,
  readMasterKey,
  readRun,
  removeRun,
  type Run,
  writeRun,
} from '../../src/embedded/home';
import { acquireLock, lockHolder } from '../../src/embedded/lock-file';
import { temporaryFolder } from './processes';

const run: Run = {
  api_url: 'http://127.0.0.1:3000',
  sandbox_url: 'http://127.0.0.1:3001',
  temporal_address: '127.0.0.1:7233',
  temporal_ui_url: 'http://127.0.0.1:8233',
  database_url: 'postgresql://lunas:secret@127.0.0.1:5433/lunas',
  merchant_id: '01935b6c-7c00-7000-8000-00006c756e61',
  secret_key: 'sk_test_x',
  webhook_secret: null,
  pid: process.pid,
};

async function newHome() {
  return homeAt(path.join(await temporaryFolder(), 'deep', 'home'));
}

/** A process that has ended, and left its name in the lock file. */
async function leaveLockOfDead(file: string): Promise<void> {
  const dead = spawn(process.execPath, ['-e', '']);
  await once(dead, 'exit');
  await writeFile(file, JSON.stringify({ pid: dead.pid, command_line: 'node lunas up' }));
}

it.each(['/proc/lunas', '/dev/null/lunas'])(
  'says in one line that %s cannot be written, and what to set',
  async (folder) => {
    const failure = openHome(homeAt(folder));
    await expect(failure).rejects.toThrow(
      /^\/.* cannot be written \(.*\)\. Set LUNAS_HOME to a folder that you may write\.$/,
    );
    await expect(failure).rejects.toMatchObject({ name: 'UserError' });
  },
);

it('lets one process at a time use a home, and names it to the others', async () => {
  const home = await newHome();
  await expect(openHome(home)).resolves.toEqual({ afterCrash: false });
  await expect(openHome(home)).rejects.toThrow(`Lunas runs already on ${home.folder} (process ${process.pid}).`);
  await closeHome(home);
  await expect(openHome(home)).resolves.toEqual({ afterCrash: false });
});

it('takes over from one that was killed, and tells so', async () => {
  const home = await newHome();
  await openHome(home);
  await leaveLockOfDead(path.join(home.folder, 'lunas.lock'));
  await expect(openHome(home)).resolves.toEqual({ afterCrash: true });
});

it('does not take a stranger that was given the same process id for Lunas', async () => {
  const home = await newHome();
  await openHome(home);
  const lock = path.join(home.folder, 'lunas.lock');
  await writeFile(lock, JSON.stringify({ pid: process.ppid, command_line: 'node lunas up' }));
  expect(await lockHolder(lock)).toBeNull();
  await expect(openHome(home)).resolves.toEqual({ afterCrash: true });
});

it('gives a lock of the dead to exactly one of many that want it', async () => {
  const folder = await temporaryFolder();
  const file = path.join(folder, 'lock');
  await leaveLockOfDead(file);
  const attempts = await Promise.all(Array.from({ length: 20 }, () => acquireLock(file)));
  expect(attempts.filter(({ acquired }) => acquired)).toHaveLength(1);
  expect(await readdir(folder)).toEqual(['lock']);
});

it('tells other commands of a run while it lasts, and of none before and after', async () => {
  const home = await newHome();
  expect(await readRun(home)).toBeNull();
  await openHome(home);
  await writeRun(home, run);
  expect(await readRun(home)).toEqual(run);
  await leaveLockOfDead(path.join(home.folder, 'lunas.lock'));
  expect(await readRun(home)).toBeNull();
  await removeRun(home);
  expect(await readRun(home)).toBeNull();
});

it('keeps one master key of 32 bytes, and its secrets from other users', async () => {
  const home = await newHome();
  await openHome(home);
  expect(await readMasterKey(home)).toBeNull();
  const key = await ensureMasterKey(home);
  expect(Buffer.from(key, 'base64')).toHaveLength(32);
  expect(await ensureMasterKey(home)).toBe(key);
  expect(await readMasterKey(home)).toBe(key);
  await writeRun(home, run);
  for (const name of ['master-key', 'run.json']) {
    expect((await stat(path.join(home.folder, name))).mode & 0o077).toBe(0);
  }
  expect(JSON.parse(await readFile(path.join(home.folder, 'run.json'), 'utf8'))).toEqual(run);
});
