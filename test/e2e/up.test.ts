import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { freePort } from '../../src/local-stack/ports';
import { withClient } from '../../src/local-stack/postgres';
import { createPooledInstallation, poolModeOfRun, type PooledInstallation } from '../support/database';
import { eventually } from '../support/eventually';
import { LUNAS } from '../support/lunas-process';
import { startReceiver, verifySignature, type Receiver } from '../support/receiver';
import { testEnvironment } from '../support/test-environment';

const run = promisify(execFile);

const paymentSchema = z.object({
  payment: z.looseObject({ id: z.string(), reference_id: z.string(), status: z.string() }),
});
const createdSchema = paymentSchema.extend({
  payment: paymentSchema.shape.payment.extend({ qris_payload: z.string(), expires_at: z.iso.datetime() }),
});

let home: string;
let environment: NodeJS.ProcessEnv;
let receiver: Receiver;
let installation: PooledInstallation;
let up: ChildProcess | undefined;
let output = '';

beforeAll(async () => {
  home = await mkdtemp(path.join(os.tmpdir(), 'lunas-e2e-'));
  const names = [
    'PORT',
    'OPERATOR_PORT',
    'DASHBOARD_PORT',
    'SANDBOX_PORT',
    'TEMPORAL_PORT',
    'TEMPORAL_UI_PORT',
    'CODEC_PORT',
    'POSTGRES_PORT',
  ];
  const ports = await Promise.all(names.map(async (name) => [name, String(await freePort())] as const));
  installation = await createPooledInstallation();
  environment = {
    ...process.env,
    ...installation.variables,
    ...Object.fromEntries(ports),
    LUNAS_HOME: path.join(home, 'data'),
    TEMPORAL_CLI_PATH: testEnvironment('TEMPORAL_CLI_PATH'),
    // The tests poll with one key.
    RATE_LIMIT_PER_MINUTE: '1000000',
    MAX_CONNECTIONS_PER_CLIENT: '1000000',
  };
  receiver = await startReceiver();
});

afterAll(async () => {
  await stop();
  await receiver.close();
  await installation.drop();
  await rm(home, { recursive: true, force: true });
});

/** Starts `lunas up` and waits until it prints that it is ready. */
async function start(): Promise<void> {
  output = '';
  const child = spawn(process.execPath, [LUNAS, 'up'], { env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  up = child;
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await eventually(
    async () => output,
    (text) => text.includes('Ctrl-C stops') || child.exitCode !== null,
  );
  if (child.exitCode !== null) throw new Error(`lunas up ended with ${child.exitCode}: ${output}`);
}

/** Ctrl-C; returns the exit code. */
async function stop(): Promise<number | null> {
  const child = up;
  up = undefined;
  if (!child || child.exitCode !== null) return null;
  child.kill('SIGINT');
  const [code] = await once(child, 'exit');
  return code;
}

/** kill -9. Its children have process groups of their own. */
async function crash(): Promise<void> {
  const child = up;
  up = undefined;
  child?.kill('SIGKILL');
  if (child) await once(child, 'exit');
}

async function pay({ qris_payload }: { readonly qris_payload: string }): Promise<void> {
  const scan = await fetch(`http://127.0.0.1:${environment.SANDBOX_PORT}/simulator/scan`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ qris_payload }),
  });
  expect(scan.status).toBe(200);
}

async function lunas(...args: string[]): Promise<unknown> {
  const { stdout } = await run(process.execPath, [LUNAS, ...args, '--json'], { env: environment });
  return JSON.parse(stdout);
}

/** Runs the curl line that `lunas up` has printed. */
async function runPrintedLine(): Promise<z.infer<typeof createdSchema>['payment']> {
  const line = output.split('\n').find((text) => text.includes('curl ')) ?? 'echo no curl line';
  const { stdout } = await run('sh', ['-c', line]);
  return createdSchema.parse(JSON.parse(stdout)).payment;
}

async function statusOf(id: string): Promise<string> {
  const secretKey = /sk_test_\w+/.exec(output)?.[0] ?? '';
  const response = await fetch(`http://127.0.0.1:${environment.PORT}/payments/${id}`, {
    headers: { authorization: `Bearer ${secretKey}` },
  });
  return paymentSchema.parse(await response.json()).payment.status;
}

/**
 * The superuser only migrates. `run.json` has another role, for commands. With a `DATABASE_URL`, as for a pooler, all
 * processes have the role in it.
 */
async function expectOwnRoles(databaseUrl: string): Promise<void> {
  if (poolModeOfRun() !== undefined) return;
  const roles = await connectedRoles(databaseUrl);
  expect(roles).toEqual(
    expect.arrayContaining(['lunas_local', 'lunas_local_api', 'lunas_local_sandbox', 'lunas_local_workers']),
  );
  expect(roles).not.toContain('lunas');
}

/** The roles of all connections, the one that asks included. */
async function connectedRoles(databaseUrl: string): Promise<string[]> {
  return withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<{ usename: string }>(
      'select distinct usename from pg_stat_activity where datname is not null and usename is not null order by 1',
    );
    return rows.map(({ usename }) => usename);
  });
}

async function processesOfHome(): Promise<string[]> {
  const { stdout } = await run('ps', ['-eo', 'pid,args', '-ww']);
  return stdout.split('\n').filter((line) => line.includes(home) || line.includes(`port ${environment.TEMPORAL_PORT}`));
}

describe('lunas up', () => {
  it('settles a payment of the printed curl line, with signed webhooks, and keeps it after a restart', async () => {
    await start();
    const { merchant_id, database_url, temporal_address } = z
      .object({ merchant_id: z.string(), database_url: z.string(), temporal_address: z.string() })
      .parse(JSON.parse(await readFile(path.join(home, 'data', 'run.json'), 'utf8')));
    const { endpoint } = z
      .object({ endpoint: z.object({ secret: z.string() }) })
      .parse(await lunas('webhooks', 'create', '--merchant', merchant_id, '--url', receiver.url));

    // `npm run test:cluster` gives it another server.
    const { TEMPORAL_ADDRESS = `127.0.0.1:${environment.TEMPORAL_PORT}` } = process.env;
    expect(temporal_address).toBe(TEMPORAL_ADDRESS);

    await lunas('catalog', 'set', '--provider', 'gopay', '--channel', 'qris', '--settlement-delay', '10s');
    const payment = await runPrintedLine();
    expect(payment.status).toBe('pending');
    await pay(payment);
    await eventually(
      () => statusOf(payment.id),
      (status) => status === 'settled',
    );

    await expectOwnRoles(database_url);

    await receiver.waitFor(4);
    const events = receiver.received.map(({ body }) => body.event);
    expect([...events].sort((a, b) => String(a).localeCompare(String(b)))).toEqual([
      'payment.created',
      'payment.paid',
      'payment.pending',
      'payment.settled',
    ]);
    expect(receiver.received.every((webhook) => verifySignature(webhook, endpoint.secret))).toBe(true);
    expect(receiver.received.every(({ body }) => body.id === payment.id)).toBe(true);

    expect(await stop()).toBe(0);
    expect(existsSync(path.join(home, 'data', 'run.json'))).toBe(false);
    expect(await processesOfHome()).toEqual([]);

    await start();
    expect(await statusOf(payment.id)).toBe('settled');
    await lunas('catalog', 'set', '--provider', 'gopay', '--channel', 'qris', '--expires-in', '2s');
    const unpaid = await runPrintedLine();
    await eventually(
      () => statusOf(unpaid.id),
      (status) => status === 'expired',
    );
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(unpaid.expires_at));
    expect(await lunas('reconcile')).toMatchObject({ reconciliation: { compared: 2, indeterminate: 0, breaks: [] } });
    expect(await lunas('recover')).toMatchObject({
      recovery: { payments: { rebuilt: 0 }, deliveries: { rebuilt: 0 } },
    });
    expect(await lunas('ledger', 'verify')).toMatchObject({ ledger: { break_count: 0, payments: 2 } });
    expect(await stop()).toBe(0);
    expect(await processesOfHome()).toEqual([]);
  });

  it('recovers after a crash before it is ready, and its payments continue', async () => {
    await start();
    await lunas('catalog', 'set', '--provider', 'gopay', '--channel', 'qris', '--expires-in', '15m');
    const [unpaid, paid] = [await runPrintedLine(), await runPrintedLine()];
    await pay(paid);
    await crash();

    await start();
    expect(output).toContain('Recovery after a crash');
    await pay(unpaid);
    for (const { id } of [paid, unpaid]) {
      await eventually(
        () => statusOf(id),
        (status) => status === 'settled',
      );
    }
    expect(await lunas('recover')).toMatchObject({ recovery: { payments: { rebuilt: 0, notified: 0 }, failures: [] } });
    expect(await stop()).toBe(0);
    expect(await processesOfHome()).toEqual([]);
  });
});
