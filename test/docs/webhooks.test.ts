import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { freePort } from '../../src/local-stack/ports';
import { PACKAGE_ROOT } from '../../src/package-info';
import { signWebhook } from '../../src/webhooks/sign';
import { eventually } from '../support/eventually';

const SECRET = 'whsec_4f9d8a7b6c5e4d3c2b1a';
const START_TIMEOUT_MS = 90_000;
const EXAMPLES = path.join(PACKAGE_ROOT, 'examples');
const temporary = mkdtempSync(path.join(os.tmpdir(), 'lunas-examples-'));

interface Language {
  /** Prints its version where the language is on the machine. */
  readonly version: readonly [command: string, ...args: string[]];
  /** Below `examples`. */
  readonly file: string;
  readonly run: (file: string, port: number) => readonly [command: string, ...args: string[]];
}

/** Go compiles first; the others run the source. */
const LANGUAGES: Readonly<Record<string, Language>> = {
  'Node.js': {
    version: ['node', '--version'],
    file: 'webhook-receiver-node/receiver.mjs',
    run: (file) => ['node', file],
  },
  Python: {
    version: ['python3', '--version'],
    file: 'webhook-receiver-python/receiver.py',
    run: (file) => ['python3', file],
  },
  PHP: {
    version: ['php', '--version'],
    file: 'webhook-receiver-php/receiver.php',
    run: (file, port) => ['php', '-S', `127.0.0.1:${port}`, file],
  },
  Go: {
    version: ['go', 'version'],
    file: 'webhook-receiver-go/receiver.go',
    run: (file) => {
      const binary = path.join(temporary, 'receiver');
      const environment = { ...process.env, GOTOOLCHAIN: 'local', GOFLAGS: '-mod=mod' };
      execFileSync('go', ['build', '-o', binary, '.'], { cwd: path.dirname(file), env: environment });
      return [binary];
    },
  },
};

function isInstalled([command, ...args]: Language['version']): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

afterAll(() => rmSync(temporary, { recursive: true }));

const here = Object.entries(LANGUAGES).filter(([, { version }]) => isInstalled(version));
const missing = Object.keys(LANGUAGES).filter((name) => !here.some(([present]) => present === name));

it(`each language has a receiver; not on this machine, so not run: ${missing.join() || 'none'}`, () => {
  for (const { file } of Object.values(LANGUAGES)) {
    expect(readFileSync(path.join(EXAMPLES, file), 'utf8')).toContain('300');
  }
});

describe.each(here)('the receiver in %s', (name, { file, run }) => {
  let receiver: ChildProcess;
  let url: string;
  let printed = '';

  beforeAll(async () => {
    const port = await freePort();
    url = `http://127.0.0.1:${port}/webhooks`;
    const [command, ...args] = run(path.join(EXAMPLES, file), port);
    receiver = spawn(command, args, {
      cwd: PACKAGE_ROOT,
      env: { ...process.env, PORT: String(port), WEBHOOK_SECRET: SECRET },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [receiver.stdout, receiver.stderr]) stream?.on('data', (chunk) => (printed += String(chunk)));
    await eventually(
      () => post('{}', '').catch((error: unknown) => `${String(error)} ${printed}`),
      (status) => typeof status === 'number',
      START_TIMEOUT_MS,
    );
  }, START_TIMEOUT_MS + 60_000);

  afterAll(async () => {
    if (receiver.exitCode === null && receiver.kill('SIGKILL')) await once(receiver, 'exit');
  });

  async function post(body: string, signature: string, event = 'payment.paid'): Promise<number> {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-service-event': event,
        'x-service-delivery': randomUUID(),
        'x-service-signature': signature,
      },
      body,
      signal: AbortSignal.timeout(60_000),
    });
    await response.arrayBuffer();
    return response.status;
  }

  const paid = (changes: Record<string, unknown> = {}) =>
    JSON.stringify({
      id: randomUUID(),
      event: 'payment.paid',
      merchant_reference_id: 'PESANAN é 支付 \\',
      status: 'paid',
      updated_at: '2026-01-05T03:00:00.000Z',
      ...changes,
    });
  const now = () => Math.floor(Date.now() / 1_000);

  it('takes what is signed, to the byte', async () => {
    const body = paid();
    expect(await post(body, signWebhook(body, [SECRET], now()))).toBe(200);
    // The same values, other bytes.
    expect(await post(`${body} `, signWebhook(body, [SECRET], now()))).toBe(401);
    expect(await post(`${body} `, signWebhook(`${body} `, [SECRET], now()))).toBe(200);
  });

  it('takes either signature of a rotation', async () => {
    const body = paid();
    expect(await post(body, signWebhook(body, ['whsec_new', SECRET], now()))).toBe(200);
    expect(await post(body, signWebhook(body, [SECRET, 'whsec_old'], now()))).toBe(200);
    expect(await post(body, signWebhook(body, ['whsec_new', 'whsec_old'], now()))).toBe(401);
  });

  it('takes what is up to 300 seconds old, and no replay after that', async () => {
    const body = paid();
    expect(await post(body, signWebhook(body, [SECRET], now() - 290))).toBe(200);
    expect(await post(body, signWebhook(body, [SECRET], now() + 290))).toBe(200);
    expect(await post(body, signWebhook(body, [SECRET], now() - 302))).toBe(401);
    expect(await post(body, signWebhook(body, [SECRET], now() + 310))).toBe(401);
  });

  it('a receiver does not take a time that was not signed', async () => {
    const body = paid();
    const old = signWebhook(body, [SECRET], now() - 400);
    expect(await post(body, old.replace(/t=\d+/, `t=${now()}`))).toBe(401);
  });

  it.each([
    '',
    't=',
    'v1=',
    't=,v1=',
    `t=${'9'.repeat(30)},v1=00`,
    't=nan,v1=00',
    't=-1,v1=zz',
    '=,=,=',
    `v1=${'0'.repeat(64)}`,
    `t=${Math.floor(Date.now() / 1_000)},v1=`,
    `t=${Math.floor(Date.now() / 1_000)},v1=${'é'.repeat(32)}`,
    `t=${Math.floor(Date.now() / 1_000)},v1=${'0'.repeat(63)}`,
  ])('rejects the header %j, and keeps running', async (header) => {
    expect(await post(paid(), Buffer.from(header, 'utf8').toString('latin1'))).toBe(401);
  });

  if (name !== 'Node.js') return;

  it('fulfils once per payment, whatever comes again or late, and does nothing at a ping', async () => {
    const id = randomUUID();
    const order = `ORDER-${id}`;
    const send = async (changes: Record<string, unknown>, event?: string) => {
      const body = paid({ id, merchant_reference_id: order, ...changes });
      expect(await post(body, signWebhook(body, [SECRET], now()), event)).toBe(200);
    };
    await send({ event: 'ping' }, 'ping');
    await send({});
    await send({});
    await send({ status: 'refund_processing', updated_at: '2026-01-05T04:00:00.000Z' });
    await send({ status: 'paid', updated_at: '2026-01-05T05:00:00.000Z' });
    await send({ status: 'pending', updated_at: '2026-01-05T02:00:00.000Z' });
    await send({ updated_at: '2026-01-05T05:00:00.000Z' });
    await eventually(
      () => Promise.resolve(printed),
      (text) => text.includes(order),
    );
    expect(printed.split(`ship ${order}`)).toHaveLength(2);
  });

  it('fulfils at payment.settled where that overtook payment.paid', async () => {
    const id = randomUUID();
    const order = `ORDER-${id}`;
    for (const changes of [{ status: 'settled', updated_at: '2026-01-06T03:00:00.000Z' }, {}]) {
      const body = paid({ id, merchant_reference_id: order, ...changes });
      expect(await post(body, signWebhook(body, [SECRET], now()))).toBe(200);
    }
    await eventually(
      () => Promise.resolve(printed),
      (text) => text.includes(order),
    );
    expect(printed.split(`ship ${order}`)).toHaveLength(2);
  });
});
