import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Client } from 'pg';
import type { ManagedProcess } from '../../src/embedded/managed-process';
import { freePort } from '../../src/embedded/ports';
import { ensureDatabase, PostgresCluster } from '../../src/embedded/postgres';
import { postgresAccount } from '../../src/embedded/postgres-account';
import { isAlive, temporaryFolder, untilGone } from './processes';

const signal = new AbortController().signal;
const running: ManagedProcess[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.stop()));
});

/** In a folder that only its owner may enter: as root, PostgreSQL's own account cannot get in by itself. */
async function openCluster(folder?: string): Promise<PostgresCluster> {
  const parent = folder ?? (await temporaryFolder());
  const files = { folder: path.join(parent, 'postgres'), logFile: path.join(parent, 'postgres.log') };
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

it('keeps what was written over a stop and over kill -9, durably and on loopback only', async () => {
  const cluster = await openCluster();
  const first = await start(cluster);
  const url = cluster.databaseUrl('lunas');
  await ensureDatabase(cluster.databaseUrl('postgres'), 'lunas');
  await ensureDatabase(cluster.databaseUrl('postgres'), 'lunas');
  await query(url, 'CREATE TABLE kept (word text); INSERT INTO kept VALUES ($$stopped$$)');
  const settings = `SELECT current_setting('fsync') || current_setting('synchronous_commit') || current_setting('full_page_writes') AS durable,
    current_setting('listen_addresses') AS listens, current_setting('server_encoding') AS encoding`;
  expect(await query(url, settings)).toEqual([{ durable: 'ononon', listens: '127.0.0.1', encoding: 'UTF8' }]);
  await first.stop();
  expect(isAlive(first.pid)).toBe(false);

  const second = await start(cluster);
  await query(url, 'INSERT INTO kept VALUES ($$killed$$)');
  second.kill('SIGKILL');
  await second.exited;

  await start(cluster);
  expect(await query(url, 'SELECT word FROM kept ORDER BY word')).toEqual([{ word: 'killed' }, { word: 'stopped' }]);
});

it('asks for the password that only the home knows', async () => {
  const cluster = await openCluster();
  await start(cluster);
  const stranger = new URL(cluster.databaseUrl('postgres'));
  stranger.password = 'guess';
  await expect(query(stranger.href, 'SELECT 1')).rejects.toThrow(/password authentication failed/);
});

it('stops the server that a killed lunas has left running on the folder', async () => {
  const folder = await temporaryFolder();
  const leftover = await start(await openCluster(folder));
  const cluster = await openCluster(folder);
  await start(cluster);
  await untilGone(leftover.pid);
  expect(await query(cluster.databaseUrl('postgres'), 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
});

it('is not kept from starting by a stale pid file that names a living stranger', async () => {
  const folder = await temporaryFolder();
  const cluster = await openCluster(folder);
  const killed = await start(cluster);
  killed.kill('SIGKILL');
  await killed.exited;
  const pidFile = path.join(folder, 'postgres', 'data', 'postmaster.pid');
  const [, ...rest] = (await readFile(pidFile, 'utf8')).split('\n');
  // PostgreSQL takes a process for a postmaster where it may signal it: one of its own account.
  const stranger = spawn('sleep', ['60'], { ...postgresAccount() });
  try {
    await writeFile(pidFile, [stranger.pid, ...rest].join('\n'));
    await start(cluster);
    expect(await query(cluster.databaseUrl('postgres'), 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  } finally {
    stranger.kill();
  }
});

it('makes the cluster anew where its first start was cut short', async () => {
  const folder = await temporaryFolder();
  await mkdir(path.join(folder, 'postgres.partial', 'data'), { recursive: true });
  await writeFile(path.join(folder, 'postgres.partial', 'data', 'PG_VERSION'), '18');
  const aborter = new AbortController();
  const files = { folder: path.join(folder, 'postgres'), logFile: path.join(folder, 'postgres.log') };
  const cutShort = PostgresCluster.open({ ...files, port: await freePort() }, aborter.signal);
  setTimeout(() => aborter.abort(new Error('Ctrl-C')), 50);
  await expect(cutShort).rejects.toThrow('Ctrl-C');
  expect(existsSync(files.folder)).toBe(false);
  await start(await openCluster(folder));
});

it('does not touch a folder that is no cluster', async () => {
  const folder = await temporaryFolder();
  await mkdir(path.join(folder, 'postgres'));
  await writeFile(path.join(folder, 'postgres', 'holiday.jpg'), '');
  await expect(openCluster(folder)).rejects.toThrow(/is not a complete PostgreSQL cluster\. Move it away/);
  expect(existsSync(path.join(folder, 'postgres', 'holiday.jpg'))).toBe(true);
});

it('does not go on asking a server that does not know its password', async () => {
  const folder = await temporaryFolder();
  await openCluster(folder);
  await writeFile(path.join(folder, 'postgres', 'password'), 'guess');
  const cluster = await openCluster(folder);
  await expect(cluster.start(signal)).rejects.toThrow(/password authentication failed/);
});

it('tells what PostgreSQL says when it does not start, at once', async () => {
  const folder = await temporaryFolder();
  const cluster = await openCluster(folder);
  const conf = path.join(folder, 'postgres', 'data', 'postgresql.conf');
  await writeFile(conf, `${await readFile(conf, 'utf8')}\nno_such_setting = 1\n`);
  await expect(cluster.start(signal)).rejects.toThrow(/PostgreSQL ended at its start:[^]*no_such_setting/);
});
