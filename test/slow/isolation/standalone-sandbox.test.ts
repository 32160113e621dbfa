import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { dataDirectoryAt } from '../../../src/local-stack/data-directory';
import { freePort } from '../../../src/local-stack/ports';
import { readSandboxRunFile } from '../../../src/local-stack/run-file';
import { temporaryDirectory } from '../../local-stack/processes';
import { eventually } from '../../support/eventually';
import { freePorts, LUNAS, LunasProcess } from '../../support/lunas-process';

const TIMEOUT_MS = 180_000;
const ORDER = { payment_type: 'qris', transaction_details: { order_id: 'ORDER-1', gross_amount: 10_000 } };
const paymentSchema = z.object({ payment: z.object({ id: z.string(), reference_id: z.string(), status: z.string() }) });

const stops: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()));
}, TIMEOUT_MS);

/** Starts `lunas sandbox` without other services. */
function startSandbox(dataDirectory: string, port: number, variables: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, [LUNAS, 'sandbox'], {
    env: { PATH: process.env.PATH, LUNAS_HOME: dataDirectory, SANDBOX_PORT: String(port), ...variables },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const exited = once(child, 'close').then(() => child.exitCode);
  const stop = async (signal: NodeJS.Signals) => {
    if (child.exitCode === null) child.kill(signal);
    return { exitCode: await exited, stderr };
  };
  stops.push(() => stop('SIGTERM'));
  return {
    pid: child.pid,
    stop,
    ended: () => exited.then((exitCode) => ({ exitCode, stderr })),
    ready: () =>
      eventually(
        async () => ({
          run: await readSandboxRunFile(dataDirectoryAt(dataDirectory)),
          hasEnded: child.exitCode !== null,
          stderr,
        }),
        ({ run, hasEnded }) => run?.pid === child.pid || hasEnded,
      ),
  };
}

async function lunas(dataDirectory: string, ...args: string[]): Promise<unknown> {
  const env = { PATH: process.env.PATH, LUNAS_HOME: dataDirectory };
  const { stdout } = await promisify(execFile)(process.execPath, [LUNAS, ...args, '--json'], { env });
  return JSON.parse(stdout);
}

async function ledgerOf(url: string): Promise<unknown> {
  return (await fetch(`${url}/simulator/payments`)).json();
}

async function charge(url: string): Promise<void> {
  const authorization = `Basic ${Buffer.from('SB-Mid-server-lunas-sandbox:').toString('base64')}`;
  await fetch(`${url}/v2/charge`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization },
    body: JSON.stringify(ORDER),
  });
}

it(
  'lunas sandbox alone stores its ledger in its own PostgreSQL, also over a restart',
  async () => {
    const dataDirectory = await temporaryDirectory();
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const first = startSandbox(dataDirectory, port);
    await first.ready();
    const run = JSON.parse(await readFile(path.join(dataDirectory, 'run.json'), 'utf8'));
    expect(run).toEqual({ sandbox_url: url, pid: first.pid });
    await charge(url);
    expect(await first.stop('SIGTERM')).toMatchObject({ exitCode: 0 });
    expect(existsSync(path.join(dataDirectory, 'run.json'))).toBe(false);

    const second = startSandbox(dataDirectory, port);
    await second.ready();
    expect(await ledgerOf(url)).toMatchObject({ payments: [{ order_id: 'ORDER-1', status: 'pending' }] });
    expect(await lunas(dataDirectory, 'sandbox', 'pay', 'ORDER-1')).toMatchObject({
      payment: { status: 'settlement' },
    });
    expect(await second.stop('SIGINT')).toMatchObject({ exitCode: 0 });
    expect(existsSync(path.join(dataDirectory, 'run.json'))).toBe(false);
  },
  TIMEOUT_MS,
);

it(
  'a sandbox stays on loopback if HOST opens the API',
  async () => {
    const port = await freePort();
    await startSandbox(await temporaryDirectory(), port, { HOST: '0.0.0.0' }).ready();
    await expect(fetch(`http://127.0.0.1:${port}/healthz`)).resolves.toMatchObject({ status: 200 });
    // On Linux each address of 127.0.0.0/8 reaches a server that listens on all interfaces.
    await expect(fetch(`http://127.0.0.2:${port}/healthz`)).rejects.toThrow('fetch failed');
  },
  TIMEOUT_MS,
);

it(
  'a second lunas sandbox or lunas up on a locked data directory exits; the first continues',
  async () => {
    const dataDirectory = await temporaryDirectory();
    const first = startSandbox(dataDirectory, await freePort());
    const { run } = await first.ready();
    const second = startSandbox(dataDirectory, await freePort());
    const up = new LunasProcess('up', dataDirectory, await freePorts());
    stops.push(() => up.stop());
    expect(await second.ended()).toEqual({
      exitCode: 1,
      stderr:
        `Lunas runs already on ${dataDirectory} (process ${first.pid}). ` +
        'Stop it, or set LUNAS_HOME to another directory.\n',
    });
    expect(await up.exitCode).toBe(1);
    expect(up.stderr).toContain(`Lunas runs already on ${dataDirectory} (process ${first.pid}).`);
    expect(await ledgerOf(run?.sandbox_url ?? '')).toEqual({ payments: [] });
  },
  TIMEOUT_MS,
);

it(
  'commands that need a database are errors on the data directory of a sandbox alone',
  async () => {
    const dataDirectory = await temporaryDirectory();
    await startSandbox(dataDirectory, await freePort()).ready();
    await expect(lunas(dataDirectory, 'merchants', 'list')).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^error: DATABASE_URL is not set/),
    });
  },
  TIMEOUT_MS,
);

it(
  'lunas up uses the sandbox at SANDBOX_URL, whose ledger remains if the data of the service is removed',
  async () => {
    const [sandboxHome, serviceHome] = [await temporaryDirectory(), await temporaryDirectory()];
    const sandboxPort = await freePort();
    const sandboxUrl = `http://127.0.0.1:${sandboxPort}`;
    await startSandbox(sandboxHome, sandboxPort).ready();
    const ports = { ...(await freePorts()), SANDBOX_PORT: String(sandboxPort) };
    const withoutUrl = new LunasProcess('up', serviceHome, ports);
    expect(await withoutUrl.exitCode).toBe(1);
    expect(withoutUrl.stderr).toContain(
      `Port ${sandboxPort} is taken. Set SANDBOX_PORT to a free one, or stop what uses it. ` +
        `To use a running sandbox, set SANDBOX_URL=${sandboxUrl}.`,
    );

    const up = new LunasProcess('up', serviceHome, { ...ports, SANDBOX_URL: sandboxUrl });
    stops.push(() => up.stop());
    const run = await up.ready();
    expect(run.sandbox_url).toBe(sandboxUrl);
    expect(up.children('lunas.js sandbox')).toEqual([]);

    const headers = { authorization: `Bearer ${run.secret_key}`, 'content-type': 'application/json' };
    const created = await fetch(`${run.api_url}/payments`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ amount: 50_000, provider: 'gopay' }),
    });
    const { payment } = paymentSchema.parse(await created.json());
    await lunas(serviceHome, 'sandbox', 'pay', payment.reference_id);
    await eventually(
      async () => paymentSchema.parse(await (await fetch(`${run.api_url}/payments/${payment.id}`, { headers })).json()),
      (shown) => shown.payment.status === 'paid' || shown.payment.status === 'settled',
    );

    await up.stop();
    await rm(serviceHome, { recursive: true });
    expect(await ledgerOf(sandboxUrl)).toMatchObject({
      payments: [{ order_id: payment.reference_id, status: 'settlement' }],
    });
  },
  TIMEOUT_MS,
);
