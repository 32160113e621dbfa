import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { renderUp } from '../../src/cli/commands/local-stack';
import { dataDirectoryAt } from '../../src/local-stack/data-directory';
import type { RunFile } from '../../src/local-stack/run-file';
import { eventually } from '../support/eventually';
import { freePorts, LunasProcess } from '../support/lunas-process';
import { testEnvironment } from '../support/test-environment';
import { isAlive, temporaryDirectory, untilGone } from './processes';

const TIMEOUT_MS = 180_000;

const started: LunasProcess[] = [];

function lunas(...start: ConstructorParameters<typeof LunasProcess>): LunasProcess {
  const process = new LunasProcess(...start);
  started.push(process);
  return process;
}

afterEach(async () => {
  await Promise.all(started.splice(0).map((process) => process.stop()));
}, TIMEOUT_MS);

const OUTPUT = ['--output', 'json', '--codec-endpoint'];

/** The history of a payment's workflow, decrypted by the codec server that the Web UI is configured with. */
async function showHistory(run: RunFile, ports: NodeJS.ProcessEnv): Promise<string> {
  const created = await fetch(`${run.api_url}/payments`, {
    method: 'POST',
    headers: { authorization: `Bearer ${run.secret_key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ amount: 50_000, merchant_reference_id: 'ORDER-1' }),
  });
  const { payment } = z.object({ payment: z.object({ id: z.string() }) }).parse(await created.json());
  const settings: unknown = await (await fetch(`${run.temporal_ui_url}/api/v1/settings`)).json();
  const codecUrl = `http://127.0.0.1:${ports['CODEC_PORT']}`;
  expect(settings).toMatchObject({ Codec: { Endpoint: codecUrl } });
  const show = ['workflow', 'show', '--address', run.temporal_address, '--workflow-id', `payment-${payment.id}`];
  const { stdout } = await promisify(execFile)(testEnvironment('TEMPORAL_CLI_PATH'), [...show, ...OUTPUT, codecUrl]);
  return stdout;
}

const statusOf = async (url: string): Promise<number> => (await fetch(url)).status;

it(
  'runs all processes on a data directory, restarts a killed one, and stops all on Ctrl-C',
  async () => {
    const dataDirectory = await temporaryDirectory();
    const ports = await freePorts();
    const up = lunas('up', dataDirectory, ports);
    const run = await up.ready();
    expect(await statusOf(`${run.api_url}/payments/none`)).toBe(401);
    expect(await statusOf(`${run.operator_url}/operator/actions`)).toBe(401);
    expect(await statusOf(`${run.api_url}/operator/actions`)).toBe(404);
    expect(await statusOf(run.sandbox_url)).toBe(200);
    expect(await statusOf(run.temporal_ui_url ?? '')).toBe(200);
    const links = renderUp(run, dataDirectoryAt(dataDirectory), 'default').match(/http\S+\/namespaces\/\S+/g) ?? [];
    expect(links).toHaveLength(6);
    // The Web UI sends the query of its address to the server, which rejects one with an unknown attribute.
    for (const link of links) expect(await statusOf(link.replace('/namespaces/', '/api/v1/namespaces/'))).toBe(200);
    expect(Object.keys(run.metrics_urls)).toEqual(['api', 'worker', 'dashboard']);
    for (const url of Object.values(run.metrics_urls)) expect(await statusOf(url)).toBe(200);
    expect(await statusOf(new URL('/readyz', run.metrics_urls['worker']).href)).toBe(200);
    expect(await statusOf(`${run.dashboard_url}/readyz`)).toBe(200);
    expect((await fetch(run.dashboard_link ?? '', { redirect: 'manual' })).status).toBe(303);
    expect(await showHistory(run, ports)).not.toContain(Buffer.from('binary/encrypted').toString('base64'));
    expect(JSON.parse(up.stdout)).toEqual(run);
    expect(JSON.parse(await readFile(path.join(dataDirectory, 'run.json'), 'utf8'))).toEqual(run);

    const again = lunas('up', dataDirectory, await freePorts());
    const elsewhere = lunas('up', await temporaryDirectory(), ports);
    expect(await Promise.all([again.exitCode, elsewhere.exitCode])).toEqual([1, 1]);
    expect(again.stderr).toMatch(new RegExp(`Lunas runs already on ${dataDirectory} \\(process ${up.pid}\\)\\.`));
    expect(elsewhere.stderr).toContain(`Port ${ports['PORT']} is taken. Set PORT to a free one`);
    expect([again.stdout, elsewhere.stdout]).toEqual(['', '']);

    const [worker = 0] = up.children('lunas.js worker');
    process.kill(worker, 'SIGKILL');
    await eventually(
      async () => up.stderr,
      (text) => text.includes('worker is running again.'),
    );
    expect(up.stderr).toContain(
      `worker ended unexpectedly (SIGKILL), restarting. Log: ${dataDirectory}/logs/worker.log`,
    );

    const children = up.children('');
    expect(children).toHaveLength(7);
    up.kill('SIGINT');
    // Like npm, which forwards the signal of the terminal.
    up.kill('SIGINT');
    expect(await up.exitCode).toBe(0);
    expect(children.filter(isAlive)).toEqual([]);
    expect(existsSync(path.join(dataDirectory, 'run.json'))).toBe(false);
  },
  TIMEOUT_MS,
);

it('reads .env of its directory, and variables of the environment win', async () => {
  const directory = await temporaryDirectory();
  await writeFile(path.join(directory, '.env'), 'PORT=none\nSANDBOX_PORT=many\n');
  const ports = { ...(await freePorts()), PORT: undefined };
  const wrong = lunas('up', directory, ports, directory);
  expect(await wrong.exitCode).toBe(1);
  expect(wrong.stderr).toMatch(/\bPORT\b/);
  expect(wrong.stderr).not.toContain('SANDBOX_PORT');
});

it(
  'continues after kill -9 with the same data, and stops the orphaned processes',
  async () => {
    const dataDirectory = await temporaryDirectory();
    const ports = await freePorts();
    const up = lunas('up', dataDirectory, ports);
    const before = await up.ready();
    const services = [...up.children('lunas.js')];
    const [postgres = 0] = up.children('postgres');
    const [temporal = 0] = up.children('start-dev');
    up.kill('SIGKILL');
    await Promise.all(services.map(untilGone));

    const next = lunas('services', dataDirectory, ports);
    const after = await next.ready();
    expect(next.stderr).toContain(`Stopped the PostgreSQL (process ${postgres}) that a killed lunas had left running.`);
    expect(next.stderr).toContain(
      `Stopped the Temporal server (process ${temporal}) that a killed lunas had left running.`,
    );
    const withoutDashboard = { dashboard_url: null, dashboard_link: null };
    expect(after).toEqual({ ...before, ...withoutDashboard, metrics_urls: {}, pid: next.pid });
    expect(next.children('lunas.js')).toHaveLength(2);
    expect(await statusOf(after.sandbox_url)).toBe(200);
    await expect(fetch(after.api_url)).rejects.toThrow('fetch failed');
    next.kill('SIGTERM');
    expect(await next.exitCode).toBe(0);
  },
  TIMEOUT_MS,
);

it(
  'stops all processes if it is interrupted before it is ready',
  async () => {
    const dataDirectory = await temporaryDirectory();
    const up = lunas('up', dataDirectory, await freePorts());
    const [first = 0] = await eventually(
      async () => up.children(''),
      (pids) => pids.length > 0,
    );
    up.kill('SIGINT');
    expect(await up.exitCode).toBe(130);
    expect(isAlive(first)).toBe(false);
    expect(up.children('')).toEqual([]);
    expect(existsSync(path.join(dataDirectory, 'run.json'))).toBe(false);
    expect(up.stdout).toBe('');
  },
  TIMEOUT_MS,
);

it(
  'attack: a master key that did not seal the data stops the start, and seals nothing',
  async () => {
    const [dataDirectory, ports] = [await temporaryDirectory(), await freePorts()];
    const services = lunas('services', dataDirectory, ports);
    await services.ready();
    services.kill('SIGINT');
    expect(await services.exitCode).toBe(0);

    const wrongKey = { LUNAS_MASTER_KEY: Buffer.alloc(32).toString('base64') };
    const wrong = lunas('services', dataDirectory, { ...ports, ...wrongKey });
    expect(await wrong.exitCode).toBe(1);
    expect(wrong.stderr).toMatch(
      /The database has values sealed with master key \w{8}, but LUNAS_MASTER_KEY is key \w{8}\./,
    );
    expect(await lunas('services', dataDirectory, ports).ready()).toBeTruthy();
  },
  TIMEOUT_MS,
);

it('an invalid environment variable is an error with its name', async () => {
  const up = lunas('up', await temporaryDirectory(), { PORT: 'three' });
  expect(await up.exitCode).toBe(1);
  expect(up.stderr).toMatch(/PORT/);
});
