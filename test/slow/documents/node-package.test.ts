import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { createSealer } from '../../../src/crypto/sealing';
import { freePort } from '../../../src/local-stack/ports';
import { PACKAGE_ROOT } from '../../../src/package-info';
import { eventually } from '../../support/eventually';
import { newNamespace, startTestService, type TestService } from '../../support/service';
import { registerEndpoint } from '../../support/webhooks';

const INSTALL_TIMEOUT_MS = 300_000;
const START_TIMEOUT_MS = 60_000;
const SOURCE = path.join(PACKAGE_ROOT, 'packages', 'node');
const ORDER = 'ORDER-1042';

/** A copy of the package outside of the checkout, and an empty project that installs its tarball. */
const temporary = mkdtempSync(path.join(os.tmpdir(), 'lunas-node-package-'));
const copy = path.join(temporary, 'package');
const project = path.join(temporary, 'project');
const receivers: ChildProcess[] = [];

let service: TestService;
let checked: string;

beforeAll(async () => {
  [service, checked] = await Promise.all([
    newNamespace().then((temporal) => startTestService(temporal)),
    installTarball(),
  ]);
}, INSTALL_TIMEOUT_MS);

afterAll(async () => {
  for (const receiver of receivers) {
    if (receiver.exitCode === null && receiver.kill('SIGKILL')) await once(receiver, 'exit');
  }
  await service.close();
  rmSync(temporary, { recursive: true });
});

async function run(directory: string, command: string, ...args: string[]): Promise<string> {
  const options = { cwd: directory, env: environment(), timeout: INSTALL_TIMEOUT_MS };
  const { stdout } = await promisify(execFile)(command, args, options);
  return stdout;
}

/** Jest's own variables would reach the examples. */
function environment(more: Record<string, string> = {}): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _options, NODE_ENV: _environment, ...inherited } = process.env;
  return { ...inherited, ...more };
}

/** @returns what publint and are-the-types-wrong print */
async function installTarball(): Promise<string> {
  const isSource = (file: string) => !['node_modules', 'dist'].includes(path.basename(file));
  cpSync(SOURCE, copy, { recursive: true, filter: isSource });
  await run(copy, 'npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund');
  await run(copy, 'npm', 'run', 'build');
  const check = await run(copy, 'npm', 'run', 'check');
  mkdirSync(project);
  const tarball = (await run(copy, 'npm', 'pack', '--silent', '--pack-destination', temporary)).trim();
  writeFileSync(path.join(project, 'package.json'), '{ "private": true }');
  await run(project, 'npm', 'install', '--offline', '--no-audit', '--no-fund', path.join(temporary, tarball));
  return check;
}

/** The examples of the README by file name, written into the project. */
const examples = new Map(
  [...readFileSync(path.join(SOURCE, 'README.md'), 'utf8').matchAll(/```js\n\/\/ ([\w.-]+)\n([\s\S]*?)```/g)].map(
    ([, name = '', code = '']) => [name, code] as const,
  ),
);

async function runExample(name: string): Promise<string> {
  writeFileSync(path.join(project, name), examples.get(name) ?? '');
  const options = {
    cwd: project,
    env: environment({ LUNAS_KEY: service.secretKey, LUNAS_URL: service.apiUrl }),
    timeout: START_TIMEOUT_MS,
  };
  const { stdout } = await promisify(execFile)(process.execPath, [name], options);
  return stdout.trim();
}

it('the package is built from a copy, and publint and are-the-types-wrong report nothing', () => {
  expect(checked).toContain('All good!');
  expect(checked).toContain('No problems found');
});

it('contains only what it needs, and installs no other package', async () => {
  const files = JSON.parse(await run(copy, 'npm', 'pack', '--dry-run', '--json'))[0].files.map(
    (file: { path: string }) => file.path,
  );
  expect(files.filter((file: string) => !file.startsWith('dist/')).toSorted()).toEqual([
    'LICENSE',
    'README.md',
    'package.json',
  ]);
  const tree = JSON.parse(await run(project, 'npm', 'ls', '--all', '--json'));
  expect(Object.keys(tree.dependencies)).toEqual(['@lunas/node']);
  expect(tree.dependencies['@lunas/node'].dependencies).toBeUndefined();
});

it('the package has the same classes for import and require', async () => {
  const code = `import { createRequire } from 'node:module';
    import * as imported from '@lunas/node';
    const required = createRequire(import.meta.url)('@lunas/node');
    const names = Object.keys(imported).filter((name) => imported[name] === required[name]);
    console.log(names.length, Object.keys(required).length);`;
  writeFileSync(path.join(project, 'both.mjs'), code);
  const [same, all] = (await run(project, process.execPath, 'both.mjs')).trim().split(' ').map(Number);
  expect(all).toBeGreaterThan(20);
  expect(same).toBe(all);
});

it.each(['consumer.mts', 'consumer.cts'])('the package has types for %s under the strictest options', async (file) => {
  const code = `import { Lunas, webhooks, type CreatedPayment, type WebhookEvent } from '@lunas/node';
    const lunas = new Lunas({ apiKey: 'k', baseUrl: 'http://127.0.0.1' });
    export const created: Promise<CreatedPayment> = lunas.payments.create({ amount: 1 }, { idempotencyKey: 'a' });
    export const event = webhooks.verify('', {}, '');
    export const isPaid = (paid: WebhookEvent): boolean => paid.event === 'payment.paid';
    // @ts-expect-error the amount is missing
    export const wrong = lunas.payments.create({});`;
  writeFileSync(path.join(project, file), code);
  const types = path.join(project, 'node_modules', '@types');
  mkdirSync(types, { recursive: true });
  for (const name of ['@types/node', 'undici-types']) {
    const link = path.join(project, 'node_modules', name);
    rmSync(link, { force: true });
    symlinkSync(path.join(PACKAGE_ROOT, 'node_modules', name), link);
  }
  const compiler = path.join(PACKAGE_ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  const options = ['--strict', '--exactOptionalPropertyTypes', '--noEmit', '--module', 'node20', '--types', 'node'];
  expect(await run(project, process.execPath, compiler, ...options, file)).toBe('');
});

describe('the examples of the README', () => {
  it('the examples of the README are the ones that the tests below run', () => {
    expect([...examples.keys()]).toEqual([
      'create.mjs',
      'attempts.mjs',
      'errors.mjs',
      'receiver.mjs',
      'receiver-check.mjs',
      'list.cjs',
    ]);
  });

  it('create a payment once, list it, receive its webhook, and fulfil it', async () => {
    const receiver = await startReceiverExample();
    const created = await runExample('create.mjs');
    expect(created).toMatch(/^[\da-f-]{36} pending http/);
    expect(await runExample('create.mjs')).toBe(created);
    const [id = ''] = created.split(' ');
    const { reference_id } = (await service.call('GET', `/payments/${id}`)).body.payment;
    expect(await runExample('list.cjs')).toBe(`${reference_id} ${ORDER} 50000`);
    await service.pay(reference_id);
    await eventually(
      async () => receiver.printed(),
      (text) => text.includes(`ship ${ORDER}`),
    );
    expect(await receiver.postForged()).toBe(401);
  });

  it('create another payment for the next attempt of a customer', async () => {
    expect(await runExample('attempts.mjs')).toBe('false pending');
    const { transactions } = (await service.call('GET', '/transactions?merchant_reference_id=ORDER-1043')).body;
    expect(transactions.map(({ status }: { status: string }) => status)).toEqual(['pending', 'cancelled']);
  });

  it('show an error', async () => {
    expect(await runExample('errors.mjs')).toMatch(/^the amount is wrong\ninvalid_amount 400 [\da-f-]{36}$/);
  });

  it('sign a webhook for a test', async () => {
    expect(await runExample('receiver-check.mjs')).toBe('verified');
  });
});

interface ReceiverExample {
  readonly printed: () => string;
  /** The status of the response to a request without a genuine signature. */
  readonly postForged: () => Promise<number>;
}

async function startReceiverExample(): Promise<ReceiverExample> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/webhooks`;
  const { secret } = await registerEndpoint(service.db, createSealer(service.masterKey), {
    merchantId: service.merchantId,
    url,
    events: [],
  });
  writeFileSync(path.join(project, 'receiver.mjs'), examples.get('receiver.mjs') ?? '');
  const receiver = spawn(process.execPath, ['receiver.mjs'], {
    cwd: project,
    env: environment({ PORT: String(port), WEBHOOK_SECRET: secret }),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  receivers.push(receiver);
  let printed = '';
  receiver.stdout.on('data', (chunk) => (printed += String(chunk)));
  const postForged = async () => {
    const response = await fetch(url, { method: 'POST', body: '{}', headers: { 'webhook-signature': 'v1,AAAA' } });
    return response.status;
  };
  await eventually(
    () => postForged().catch(() => 0),
    (status) => status === 401,
    START_TIMEOUT_MS,
  );
  return { printed: () => printed, postForged };
}
