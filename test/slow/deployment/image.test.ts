import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, copyFile, mkdir } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import { createServer } from 'node:tls';
import { z } from 'zod';
import type { ManagedProcess } from '../../../src/local-stack/managed-process';
import { freePort } from '../../../src/local-stack/ports';
import { PostgresCluster, withClient } from '../../../src/local-stack/postgres';
import { startTemporal } from '../../../src/local-stack/temporal';
import {
  buildComposeLoader,
  loadComposeFile,
  lunasServicesInOrder,
  type ComposeProject,
  type ComposeService,
} from '../../deploy/compose-project';
import { buildImageTree, runInTree, type ImageTree } from '../../deploy/image-tree';
import { PrivateNetwork, type Container, type Forward } from '../../deploy/private-network';
import { temporaryDirectory } from '../../local-stack/processes';
import { eventually } from '../../support/eventually';
import { readSection } from '../../support/marked-section';
import { newMasterKey } from '../../support/service';
import { testEnvironment } from '../../support/test-environment';

/** Building the image and starting everything. */
const START_TIMEOUT_MS = 600_000;
const TEST_TIMEOUT_MS = 180_000;
const PORTS = { postgres: 5432, temporal: 7233, temporalWithTls: 7234, api: 3000, sandbox: 3001 };

const stops: (() => Promise<void>)[] = [];
const containers = new Map<string, Container>();
let image: ImageTree;
let project: ComposeProject;
let network: PrivateNetwork;
/** The ports of their metrics are those of the API. */
/** The networks of services that have one of their own. */
const ownNetworks = new Map<string, PrivateNetwork>();
let apiUrl: string;
let authorityFile: string;
let secretKey = '';

beforeAll(async () => {
  const directory = await temporaryDirectory();
  // PostgreSQL runs as another user, if root starts it.
  await chmod(directory, 0o711);
  const loader = await buildComposeLoader();
  project = await loadComposeFile(loader, `LUNAS_MASTER_KEY=${newMasterKey()}\n`);
  image = await buildImageTree(path.join(directory, 'image'));
  const [postgresPort, temporalPort, apiPort] = [await freePort(), await freePort(), await freePort()];
  const tlsPort = await startTlsTerminator(directory, temporalPort);
  await Promise.all([startPostgres(directory, postgresPort), startTemporalServer(directory, temporalPort)]);
  const sandboxPort = await freePort();
  const servers: Forward[] = [
    { from: 'inside', port: PORTS.postgres, toPort: postgresPort },
    { from: 'inside', port: PORTS.temporal, toPort: temporalPort },
    { from: 'inside', port: PORTS.temporalWithTls, toPort: tlsPort },
  ];
  network = await openNetwork(directory, 'api', [
    ...servers,
    { from: 'outside', port: apiPort, toPort: PORTS.api },
    { from: 'outside', port: sandboxPort, toPort: PORTS.sandbox },
  ]);
  const toSandbox: Forward = { from: 'inside', port: PORTS.sandbox, toPort: sandboxPort };
  const forwards = {
    worker: [...servers, toSandbox],
    payouts: [...servers, toSandbox],
    verifier: servers,
    dashboard: servers,
  };
  for (const [name, each] of Object.entries(forwards)) ownNetworks.set(name, await openNetwork(directory, name, each));
  apiUrl = `http://127.0.0.1:${apiPort}`;
  for (const name of lunasServicesInOrder(project)) await startService(name);
}, START_TIMEOUT_MS);

afterAll(async () => {
  for (const stop of stops.reverse()) await stop();
}, TEST_TIMEOUT_MS);

async function openNetwork(parent: string, name: string, forwards: readonly Forward[]): Promise<PrivateNetwork> {
  const directory = path.join(parent, name);
  await mkdir(directory);
  const opened = await PrivateNetwork.open(directory, Object.keys(project.services), forwards);
  stops.push(() => opened.close());
  return opened;
}

function networkOf(name: string): PrivateNetwork {
  return ownNetworks.get(name) ?? network;
}

const stopAtTheEnd = (server: ManagedProcess) => stops.push(() => server.stop());

function service(name: string): ComposeService {
  const found = project.services[name];
  if (found === undefined) throw new Error(`docker-compose.yml has no service ${name}`);
  return found;
}

/** Instead of the service `postgres`: a server with its script for new volumes. */
async function startPostgres(directory: string, port: number): Promise<void> {
  const { signal } = new AbortController();
  const files = { directory: path.join(directory, 'postgres'), logFile: path.join(directory, 'postgres.log') };
  const cluster = await PostgresCluster.open({ ...files, port }, signal);
  stopAtTheEnd(await cluster.start(signal));
  const statements = project.configs['roles']?.content.trim().split('\n') ?? [];
  const { POSTGRES_DB = '' } = service('postgres').environment;
  await withClient(cluster.databaseUrl('postgres'), (client) => client.query(`create database ${POSTGRES_DB}`));
  await withClient(cluster.databaseUrl(POSTGRES_DB), async (client) => {
    for (const statement of statements) await client.query(statement);
  });
}

/** Instead of the service `temporal`. */
async function startTemporalServer(directory: string, port: number): Promise<void> {
  const files = { databaseFile: null, logFile: path.join(directory, 'temporal.log') };
  const binary = testEnvironment('TEMPORAL_CLI_PATH');
  const options = { binary, port, uiPort: await freePort(), namespace: 'default', ...files };
  stopAtTheEnd(await startTemporal(options, new AbortController().signal));
}

const NEW_CERTIFICATE = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2'];

/** Before Temporal, with a certificate of an authority that is not public. @returns its port */
async function startTlsTerminator(directory: string, temporalPort: number): Promise<number> {
  const file = (name: string): string => path.join(directory, name);
  const openssl = (name: string, ...args: readonly string[]): void => {
    const output = ['-subj', `/CN=${name}`, '-keyout', file(`${name}.key`), '-out', file(`${name}.pem`)];
    execFileSync('openssl', [...NEW_CERTIFICATE, ...output, ...args], { stdio: 'ignore' });
  };
  openssl('authority');
  const extensions = ['-addext', 'subjectAltName=DNS:temporal', '-addext', 'basicConstraints=critical,CA:FALSE'];
  openssl('temporal', ...extensions, '-CA', file('authority.pem'), '-CAkey', file('authority.key'));
  authorityFile = file('authority.pem');
  const [key, cert] = [readFileSync(file('temporal.key')), readFileSync(file('temporal.pem'))];
  const sockets = new Set<Socket>();
  const server = createServer({ key, cert, ALPNProtocols: ['h2'] }, (caller) => {
    const callee = connect(temporalPort, '127.0.0.1');
    const destroyBoth = (): void => [caller, callee].forEach((socket) => socket.destroy());
    for (const socket of [caller, callee]) sockets.add(socket.on('error', destroyBoth).on('close', destroyBoth));
    caller.pipe(callee).pipe(caller);
  });
  const port = await freePort();
  await once(server.listen(port, '127.0.0.1'), 'listening');
  stops.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return port;
}

/** The output belongs to the message of a failure. */
function expectSuccess({ exitCode, output }: { readonly exitCode: number | null; readonly output: string }): void {
  expect({ exitCode, output: exitCode === 0 ? '' : output }).toEqual({ exitCode: 0, output: '' });
}

/** As Compose does: until it has ended, if another service waits for that, else until its health check succeeds. */
async function startService(name: string): Promise<void> {
  const { environment, command } = service(name);
  const container = await networkOf(name).start(image, { environment, command: command ?? [] });
  const conditions = Object.values(project.services).map(({ depends_on }) => depends_on[name]?.condition);
  if (conditions.includes('service_completed_successfully')) {
    expectSuccess({ exitCode: await container.exitCode, output: container.output() });
    return;
  }
  containers.set(name, container);
  await eventually(
    async () => ({ isHealthy: await isHealthy(name), output: container.output() }),
    ({ isHealthy }) => isHealthy,
  );
}

async function isHealthy(name: string): Promise<boolean> {
  const [kind, ...entrypoint] = service(name).healthcheck?.test ?? [];
  expect(kind).toBe('CMD');
  return (await execute(name, entrypoint, [])).exitCode === 0;
}

/** `docker compose exec` and `docker compose run`: a process beside that of the service. */
async function execute(name: string, entrypoint: readonly string[], command: readonly string[]) {
  const { environment } = service(name);
  const container = await networkOf(name).start(image, { environment, entrypoint, command });
  return { exitCode: await container.exitCode, output: container.output(), stdout: container.stdout() };
}

async function expectStop(name: string): Promise<void> {
  const container = containers.get(name);
  container?.signal('SIGTERM');
  expectSuccess({ exitCode: (await container?.exitCode) ?? null, output: container?.output() ?? '' });
}

const paymentSchema = z.object({ payment: z.object({ reference_id: z.string() }) });
const statusSchema = z.object({ payment: z.object({ status: z.enum(['pending', 'paid', 'settled']) }) });

async function expectPayment(pay: (referenceId: string) => Promise<unknown>): Promise<void> {
  // The worker may still be connecting.
  const create = () => callApi('POST', '/payments', { amount: 50_000 });
  const { payment } = paymentSchema.parse((await eventually(create, ({ ok }) => ok)).body);
  await pay(payment.reference_id);
  await eventually(
    async () => statusSchema.parse((await callApi('GET', `/payments/${payment.reference_id}`)).body),
    ({ payment: { status } }) => status !== 'pending',
  );
}

async function callApi(method: string, target: string, body?: object): Promise<{ ok: boolean; body: unknown }> {
  const headers = { authorization: `Bearer ${secretKey}`, 'content-type': 'application/json' };
  const response = await fetch(apiUrl + target, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  return { ok: response.ok, body: await response.json() };
}

/** A line of the page, with the values that earlier lines have printed. */
async function runDocumented(line: string, values: ReadonlyMap<string, string>): Promise<string> {
  const given = [...values].reduce((text, [name, value]) => text.replaceAll(name, value), line);
  const words = [...given.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '');
  const [, compose, command, ...rest] = words;
  expect(compose).toBe('compose');
  const [name = '', ...args] = command === 'run' ? rest.slice(1) : rest;
  const [entrypoint, own] = command === 'run' ? [image.entrypoint, args] : [args.slice(0, 1), args.slice(1)];
  const result = await execute(name, entrypoint, own);
  expectSuccess(result);
  return result.stdout;
}

it(
  'the commands of docs/production.md take a payment',
  async () => {
    const section = readSection({ page: 'docs/production.md', kind: 'sh', name: 'compose' });
    const lines = section
      .replaceAll(/\\\n\s*/g, '')
      .split('\n')
      .slice(1, -1);
    const values = new Map<string, string>();
    for (const line of lines.filter((text) => !text.includes('sandbox pay'))) {
      const printed = await runDocumented(line, values);
      const [id] = /[\da-f]{8}-[\da-f-]{27}/.exec(printed) ?? [];
      if (id !== undefined && values.size === 0) values.set('MERCHANT_ID', id);
      [secretKey = secretKey] = /sk_test_\w+/.exec(printed) ?? [];
    }
    const pay = lines.find((text) => text.includes('sandbox pay')) ?? '';
    await expectPayment((referenceId) => runDocumented(pay, new Map([['REFERENCE_ID', referenceId]])));
  },
  TEST_TIMEOUT_MS,
);

/** Prints the status of the page, and of each file that it links. */
const READ_PAGE = `
  const page = await fetch('http://localhost:3004/');
  const files = [...(await page.text()).matchAll(/(?:href|src)="([^"]+[.](?:css|js|svg))"/g)].map(([, file]) => file);
  const statuses = files.map(async (file) => (await fetch(new URL(file, page.url))).status);
  console.log(JSON.stringify({ hasPage: page.status < 500, files: await Promise.all(statuses) }));`;

it(
  'the dashboard serves its pages and their files',
  async () => {
    const { exitCode, stdout, output } = await execute('dashboard', ['node', '--input-type=module', '-e'], [READ_PAGE]);
    expectSuccess({ exitCode, output });
    const { hasPage, files } = z.object({ hasPage: z.boolean(), files: z.array(z.number()) }).parse(JSON.parse(stdout));
    expect([hasPage, new Set(files)]).toEqual([true, new Set([200])]);
  },
  TEST_TIMEOUT_MS,
);

it(
  'runs as user 1000 without capabilities, and can write nowhere',
  async () => {
    const command = 'id -u; grep CapBnd /proc/self/status; touch /lunas/file /tmp/file /home/node/file';
    const { exitCode, output } = await execute('api', ['sh', '-c'], [command]);
    expect(exitCode).not.toBe(0);
    expect(output).toMatch(/^1000\nCapBnd:\s0{16}\n/);
    expect(output.match(/Read-only file system/g)).toHaveLength(3);
    expect(existsSync(path.join(image.root, 'lunas', 'node_modules', 'jest'))).toBe(false);
  },
  TEST_TIMEOUT_MS,
);

it(
  'the worker connects over TLS with no other certificate authorities than those of the image',
  async () => {
    await expectStop('worker');
    const authorities = path.join(image.root, 'usr/local/share/ca-certificates');
    await mkdir(authorities, { recursive: true });
    await copyFile(authorityFile, path.join(authorities, 'authority.crt'));
    await runInTree(image, 'update-ca-certificates');
    // An API key enables TLS, as for Temporal Cloud.
    const tls = { TEMPORAL_ADDRESS: `temporal:${PORTS.temporalWithTls}`, TEMPORAL_API_KEY: 'key' };
    const environment = { ...service('worker').environment, ...tls };
    const worker = await networkOf('worker').start(image, { environment, command: ['worker'] });
    containers.set('worker', worker);
    await expectPayment((referenceId) => execute('sandbox', image.entrypoint, ['sandbox', 'pay', referenceId]));
  },
  TEST_TIMEOUT_MS,
);

it(
  'each process ends with exit code 0 after SIGTERM',
  () => Promise.all([...containers.keys()].map(expectStop)),
  TEST_TIMEOUT_MS,
);
