import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { freePort } from '../../src/local-stack/ports';
import { startTemporal, type TemporalOptions } from '../../src/local-stack/temporal';
import { testEnvironment } from '../support/test-environment';
import { isAlive, temporaryDirectory, untilGone } from './processes';

const signal = new AbortController().signal;

async function newOptions(): Promise<TemporalOptions> {
  const directory = await temporaryDirectory();
  await mkdir(path.join(directory, 'temporal'));
  return {
    binary: testEnvironment('TEMPORAL_CLI_PATH'),
    port: await freePort(),
    uiPort: await freePort(),
    namespace: 'default',
    databaseFile: path.join(directory, 'temporal', 'temporal.db'),
    logFile: path.join(directory, 'temporal.log'),
  };
}

async function withClient<T>({ port }: TemporalOptions, use: (client: Client) => Promise<T>): Promise<T> {
  const connection = await Connection.connect({ address: `127.0.0.1:${port}` });
  try {
    return await use(new Client({ connection }));
  } finally {
    await connection.close();
  }
}

it('workflows survive kill -9, appear in the Web UI, and a new server replaces an orphaned one', async () => {
  const options = await newOptions();
  const workflowId = randomUUID();
  const leftover = await startTemporal(options, signal);
  await withClient(options, (client) => client.workflow.start('any', { taskQueue: 'none', workflowId }));

  const second = await startTemporal({ ...options, port: await freePort(), uiPort: await freePort() }, signal);
  await untilGone(leftover.pid);
  second.kill('SIGKILL');
  await second.exited;

  const third = await startTemporal(options, signal);
  try {
    const described = await withClient(options, (client) => client.workflow.getHandle(workflowId).describe());
    expect(described.status.name).toBe('RUNNING');
    const page = await fetch(`http://127.0.0.1:${options.uiPort}/`);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/html')]);
  } finally {
    await third.stop();
  }
  expect(isAlive(third.pid)).toBe(false);
});

it('reports the output of Temporal if it does not start', async () => {
  const options = await newOptions();
  await writeFile(options.databaseFile ?? '', 'This is no database. '.repeat(100));
  await expect(startTemporal(options, signal)).rejects.toThrow(/Temporal did not start:[^]*not a database/);
});
