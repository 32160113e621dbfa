import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Client } from 'pg';
import type { ManagedProcess } from '../../src/local-stack/managed-process';
import { freePort } from '../../src/local-stack/ports';
import { ensureDatabase, PostgresCluster } from '../../src/local-stack/postgres';
import { postgresOsUser } from '../../src/local-stack/postgres-os-user';
import { isAlive, temporaryDirectory, untilGone } from './processes';

const signal = new AbortController().signal;
const running: ManagedProcess[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.stop()));
});

/** In a directory that only its owner may enter: if the tests run as root, PostgreSQL's OS user has no access. */
async function openCluster(directory?: string): Promise<PostgresCluster> {
  const parent = directory ?? (await temporaryDirectory());
  const files = { directory: path.join(parent, 'postgres'), logFile: path.join(parent, 'postgres.log') };
  return PostgresCluster.open({ ...files, port: await freePort() }, signal);
}

async function start(cluster: PostgresCluster): Promise<ManagedProcess> {
  const server = await cluster.start(signal);
  running.push(server);
  return server;
}

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

it('data survives a stop and kill -9; the settings are durable, and it listens on loopback only', async () => {
  const cluster = await openCluster();
  const first = await start(cluster);
  const url = cluster.databaseUrl('lunas');
  await ensureDatabase(cluster.databaseUrl('postgres'), 'lunas');
  await ensureDatabase(cluster.databaseUrl('postgres'), 'lunas');
  await query(url, 'create table notes (word text); insert into notes values ($$stopped$$)');
  const settings = `
    select current_setting('fsync') || current_setting('synchronous_commit')
        || current_setting('full_page_writes') as durable,
      current_setting('listen_addresses') as listens, current_setting('server_encoding') as encoding`;
  expect(await query(url, settings)).toEqual([{ durable: 'ononon', listens: '127.0.0.1', encoding: 'UTF8' }]);
  await first.stop();
  expect(isAlive(first.pid)).toBe(false);

  const second = await start(cluster);
  await query(url, 'insert into notes values ($$killed$$)');
  second.kill('SIGKILL');
  await second.exited;

  await start(cluster);
  expect(await query(url, 'select word from notes order by word')).toEqual([{ word: 'killed' }, { word: 'stopped' }]);
});

it('requires the password of the data directory', async () => {
  const cluster = await openCluster();
  await start(cluster);
  const stranger = new URL(cluster.databaseUrl('postgres'));
  stranger.password = 'guess';
  await expect(query(stranger.href, 'SELECT 1')).rejects.toThrow(/password authentication failed/);
});

it('stops an orphaned server on the directory', async () => {
  const directory = await temporaryDirectory();
  const leftover = await start(await openCluster(directory));
  const cluster = await openCluster(directory);
  await start(cluster);
  await untilGone(leftover.pid);
  expect(await query(cluster.databaseUrl('postgres'), 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
});

it('starts despite a stale pid file with the id of an unrelated process', async () => {
  const directory = await temporaryDirectory();
  const cluster = await openCluster(directory);
  const killed = await start(cluster);
  killed.kill('SIGKILL');
  await killed.exited;
  const pidFile = path.join(directory, 'postgres', 'data', 'postmaster.pid');
  const [, ...rest] = (await readFile(pidFile, 'utf8')).split('\n');
  // PostgreSQL regards any process that it may signal as a postmaster: those of its own OS user.
  const stranger = spawn('sleep', ['60'], { ...postgresOsUser() });
  try {
    await writeFile(pidFile, [stranger.pid, ...rest].join('\n'));
    await start(cluster);
    expect(await query(cluster.databaseUrl('postgres'), 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  } finally {
    stranger.kill();
  }
});

it('creates the cluster again after an interrupted first start', async () => {
  const directory = await temporaryDirectory();
  await mkdir(path.join(directory, 'postgres.partial', 'data'), { recursive: true });
  await writeFile(path.join(directory, 'postgres.partial', 'data', 'PG_VERSION'), '18');
  const aborter = new AbortController();
  const files = { directory: path.join(directory, 'postgres'), logFile: path.join(directory, 'postgres.log') };
  const cutShort = PostgresCluster.open({ ...files, port: await freePort() }, aborter.signal);
  setTimeout(() => aborter.abort(new Error('Ctrl-C')), 50);
  await expect(cutShort).rejects.toThrow('Ctrl-C');
  expect(existsSync(files.directory)).toBe(false);
  await start(await openCluster(directory));
});

it('a directory that is not a cluster is not changed', async () => {
  const directory = await temporaryDirectory();
  await mkdir(path.join(directory, 'postgres'));
  await writeFile(path.join(directory, 'postgres', 'holiday.jpg'), '');
  await expect(openCluster(directory)).rejects.toThrow(/is not a complete PostgreSQL cluster\. Move it away/);
  expect(existsSync(path.join(directory, 'postgres', 'holiday.jpg'))).toBe(true);
});

it('a start with a wrong password is not repeated', async () => {
  const directory = await temporaryDirectory();
  await openCluster(directory);
  await writeFile(path.join(directory, 'postgres', 'password'), 'guess');
  const cluster = await openCluster(directory);
  await expect(cluster.start(signal)).rejects.toThrow(/password authentication failed/);
});

it('reports the output of PostgreSQL immediately if it does not start', async () => {
  const directory = await temporaryDirectory();
  const cluster = await openCluster(directory);
  const conf = path.join(directory, 'postgres', 'data', 'postgresql.conf');
  await writeFile(conf, `${await readFile(conf, 'utf8')}\nno_such_setting = 1\n`);
  await expect(cluster.start(signal)).rejects.toThrow(/PostgreSQL did not start:[^]*no_such_setting/);
});
