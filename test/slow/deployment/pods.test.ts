import { readFileSync } from 'node:fs';
import { chmod, chown, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { freePort } from '../../../src/local-stack/ports';
import { PostgresCluster, withClient } from '../../../src/local-stack/postgres';
import { postgresOsUser } from '../../../src/local-stack/postgres-os-user';
import { buildHelmTools, renderChart, type Manifest, type RenderedContainer } from '../../deploy/helm';
import { machineImage, Pod, type Secrets } from '../../deploy/pod';
import type { Container } from '../../deploy/private-network';
import { createAuthority, createCertificate, type CertificateFiles } from '../../support/certificates';
import { eventually } from '../../support/eventually';
import { readSection } from '../../support/marked-section';
import { newMasterKey, newNamespace } from '../../support/service';
import { startTlsTerminator, type TlsTerminator } from '../../support/tls-terminator';

/**
 * Each container of the chart runs its own command, with its rendered variables, files, user and read-only file system,
 * against a PostgreSQL and a Temporal whose certificates only a private authority has signed. There is no Kubernetes:
 * bubblewrap mounts the volumes at their paths, and the image is the build of this directory (`test/deploy/pod.ts`).
 */
const START_TIMEOUT_MS = 20 * 60_000;
const HOSTS = { postgresql: 'postgresql.example', temporal: 'temporal.example' };
const LOGINS = ['migrate', 'api', 'dashboard', 'worker', 'payouts', 'verifier'] as const;
const peers = [{ podSelector: {} }];

interface RunningPod {
  readonly pod: Pod;
  readonly containers: readonly RenderedContainer[];
  readonly running: readonly Container[];
  /** The ports of this machine, by those of the pod. */
  readonly ports: ReadonlyMap<number, number>;
}

const stops: (() => Promise<unknown>)[] = [];
const pods = new Map<string, RunningPod>();
let directory: string;
let secrets: Secrets;
let machine: Awaited<ReturnType<typeof machineImage>>;
let cluster: PostgresCluster;
let postgresqlPort: number;
let temporal: TlsTerminator;
let operatorKey: string;

beforeAll(async () => {
  // Not `temporaryDirectory`, which is removed before PostgreSQL ends.
  directory = await mkdtemp(path.join(os.tmpdir(), 'lunas-test-'));
  stops.push(() => rm(directory, { recursive: true, force: true }));
  // PostgreSQL runs as another user, if root starts it.
  await chmod(directory, 0o711);
  const authority = await createAuthority(directory, 'authority');
  await startPostgresql(await createCertificate(directory, 'postgresql', authority, [HOSTS.postgresql]));
  const { address, namespace } = await newNamespace();
  const server = await createCertificate(directory, 'temporal', authority, [HOSTS.temporal]);
  temporal = await startTlsTerminator(address, server, authority);
  stops.push(() => temporal.close());
  secrets = secretsOf(authority, await createCertificate(directory, 'client', authority));
  const manifests = await renderChart(await buildHelmTools(), valuesOf(namespace));
  const mountPaths = manifests.flatMap(containersOf).flatMap(({ volumeMounts }) => volumeMounts.map(mountPathOf));
  machine = await machineImage(path.join(directory, 'image'), mountPaths);
  for (const manifest of inOrder(manifests)) await startPod(manifest);
}, START_TIMEOUT_MS);

afterAll(async () => {
  for (const stop of stops.reverse()) await stop();
});

const mountPathOf = ({ mountPath }: { readonly mountPath: string }) => mountPath;
const containersOf = ({ spec }: Manifest) => spec.template?.spec.containers ?? [];

function valuesOf(namespace: string): object {
  const urls = { PUBLIC_BASE_URL: 'https://pay.example', DASHBOARD_URL: 'https://dashboard.example' };
  return {
    environment: { ...urls, TEMPORAL_ADDRESS: `${HOSTS.temporal}:7233`, TEMPORAL_NAMESPACE: namespace },
    secrets: { databaseCa: 'postgresql-ca', temporalTls: 'temporal-tls' },
    // No load balancer has to notice the end.
    api: { drainSeconds: 0 },
    dashboard: { drainSeconds: 0 },
    operators: { people: { dewi: { database: 'operator-dewi' } } },
    networkPolicy: { apiFrom: peers, dashboardFrom: peers, postgresql: { to: peers }, temporal: { to: peers } },
  };
}

/** The logins are those of docs/production.md. */
function secretsOf(authority: CertificateFiles, client: CertificateFiles): Secrets {
  const urlOf = (login: string) => `postgresql://${login}:secret@${HOSTS.postgresql}:5432/lunas?sslmode=verify-full`;
  const [ca, certificate, key] = [authority.certificate, client.certificate, client.key].map(read);
  return {
    'lunas-keys': { LUNAS_MASTER_KEY: newMasterKey() },
    'lunas-database': Object.fromEntries(LOGINS.map((name) => [name, urlOf(name === 'migrate' ? 'migrator' : name)])),
    'operator-dewi': { DATABASE_URL: urlOf('dewi') },
    'postgresql-ca': { 'ca.crt': ca ?? '' },
    'temporal-tls': { 'ca.crt': ca ?? '', 'tls.crt': certificate ?? '', 'tls.key': key ?? '' },
  };
}

const read = (file: string): string => readFileSync(file, 'utf8');

/** A new server with TLS, on which an administrator has run the statements of docs/production.md. */
async function startPostgresql({ certificate, key }: CertificateFiles): Promise<void> {
  const user = postgresOsUser();
  for (const file of [certificate, key]) if (user !== null) await chown(file, user.uid, user.gid);
  postgresqlPort = await freePort();
  const { signal } = new AbortController();
  cluster = await PostgresCluster.open(
    {
      directory: path.join(directory, 'postgresql'),
      logFile: path.join(directory, 'postgresql.log'),
      port: postgresqlPort,
      settings: { ssl: 'on', ssl_cert_file: certificate, ssl_key_file: key, fsync: 'off' },
    },
    signal,
  );
  const server = await cluster.start(signal);
  stops.push(() => server.stop());
  const section = readSection({ page: 'docs/production.md', kind: 'sql', name: 'roles' });
  const statements = section.split('\n').filter((line) => line.endsWith(';'));
  await withClient(cluster.databaseUrl('postgres'), async (client) => {
    for (const statement of statements) await client.query(statement);
  });
}

/** The hook of Helm, the pod from which an operator sets the installation up, then the processes. */
function inOrder(manifests: readonly Manifest[]): readonly Manifest[] {
  const rank = ({ kind }: Manifest) => ['Job', 'StatefulSet', 'Deployment'].indexOf(kind);
  return manifests.filter((each) => containersOf(each).length > 0).toSorted((one, other) => rank(one) - rank(other));
}

async function startPod({ kind, metadata: { name }, spec }: Manifest): Promise<void> {
  const rendered = spec.template?.spec;
  if (rendered === undefined) throw new Error(`${name} has no pod`);
  const { containers } = rendered;
  const ports = new Map<number, number>();
  for (const { containerPort } of containers.flatMap((each) => each.ports)) ports.set(containerPort, await freePort());
  const temporalPort = Number(temporal.address.split(':')[1]);
  const pod = await Pod.open(rendered, {
    directory: path.join(directory, name),
    machine,
    secrets,
    hosts: Object.values(HOSTS),
    forwards: [
      { from: 'inside', port: 5432, toPort: postgresqlPort },
      { from: 'inside', port: 7233, toPort: temporalPort },
      ...[...ports].map(([toPort, port]) => ({ from: 'outside', port, toPort }) as const),
    ],
  });
  stops.push(() => pod.close());
  const running: Container[] = [];
  for (const container of containers) running.push(await pod.start(container));
  pods.set(name, { pod, containers, running, ports });
  if (kind === 'Job') await Promise.all(running.map(expectSuccess));
  if (kind === 'StatefulSet') await setUp();
}

/** The output belongs to the message of a failure. */
async function expectSuccess(container: Container): Promise<void> {
  const exitCode = await container.exitCode;
  expect({ exitCode, output: exitCode === 0 ? '' : container.output() }).toEqual({ exitCode: 0, output: '' });
}

function podNamed(name: string): RunningPod {
  const found = pods.get(name);
  if (found === undefined) throw new Error(`There is no pod ${name}`);
  return found;
}

/** `kubectl exec`, in the first container. */
function execute(name: string, command: readonly string[], variables: Record<string, string> = {}) {
  const { pod, containers } = podNamed(name);
  const [container] = containers;
  if (container === undefined) throw new Error(`The pod ${name} has no container`);
  return pod.execute(container, command, variables);
}

async function asOperator(...command: readonly string[]): Promise<string> {
  const key = operatorKey === undefined ? {} : { LUNAS_OPERATOR_KEY: operatorKey };
  const { exitCode, stdout, output } = await execute('lunas-operator-dewi', ['lunas', ...command], key);
  expect({ command, exitCode, output: exitCode === 0 ? '' : output }).toEqual({ command, exitCode: 0, output: '' });
  return stdout;
}

const createdSchema = z.object({ operator: z.object({ secret: z.string() }) });

async function setUp(): Promise<void> {
  await asOperator('temporal', 'setup');
  const created = await asOperator('operators', 'create', '--name=dewi', '--login=dewi', '--note=setup', '--json');
  operatorKey = createdSchema.parse(JSON.parse(created)).operator.secret;
}

it.each(['lunas-api', 'lunas-dashboard', 'lunas-worker-main', 'lunas-worker-payouts', 'lunas-worker-verifier'])(
  '%s becomes ready at its rendered probe',
  async (name) => {
    const { containers, running, ports } = podNamed(name);
    for (const { readinessProbe, ports: named } of containers) {
      const { path: address, port } = readinessProbe?.httpGet ?? { path: '', port: '' };
      const { containerPort = 0 } = named.find((each) => each.name === port) ?? {};
      const url = `http://127.0.0.1:${ports.get(containerPort)}${address}`;
      const output = () => running.map((container) => container.output()).join('');
      const probed = await eventually(
        async () => ({ status: await fetch(url).then(({ status }) => status, String), output: output() }),
        ({ status }) => status === 200,
      );
      expect(probed.status).toBe(200);
    }
  },
);

it('no process has a session in clear', async () => {
  const { rows } = await withClient(cluster.databaseUrl('lunas'), (client) =>
    client.query<{ encrypted: boolean; sessions: number }>(
      `select ssl as encrypted, count(*)::int as sessions from pg_stat_activity join pg_stat_ssl using (pid)
       where usename = any ($1) group by ssl`,
      [['api', 'dashboard', 'payouts', 'verifier', 'worker', 'dewi']],
    ),
  );
  expect(rows).toEqual([{ encrypted: true, sessions: expect.any(Number) }]);
});

it('an operator reads and acts from their own pod', async () => {
  await asOperator('doctor');
  await asOperator('attention');
  await asOperator('recover', '--note=drill');
  await asOperator('payouts', 'stop', '--note=drill');
  expect(JSON.parse(await asOperator('audit', 'verify', '--json'))).toMatchObject({ audit: { breaks: [] } });
});

/** A request on loopback, as `kubectl port-forward` makes it. */
const DECODE = `
  const headers = { authorization: 'Bearer ' + process.env.LUNAS_OPERATOR_KEY };
  const response = await fetch('http://127.0.0.1:3003/decode', { method: 'POST', headers, body: '{}' });
  console.log(response.status, await response.text());`;

it('the codec server of the pod decrypts with the key of its operator', async () => {
  const node = ['node', '--input-type=module', '-e', DECODE];
  const decoded = await execute('lunas-operator-dewi', node, { LUNAS_OPERATOR_KEY: operatorKey });
  expect(decoded.stdout).toBe('200 {"payloads":[]}\n');
  const rejected = await execute('lunas-operator-dewi', node, { LUNAS_OPERATOR_KEY: 'op_live_x' });
  expect(rejected.stdout).toMatch(/^401 /);
});

it('a command without the file of the authority makes no connection, and names the variable', async () => {
  const command = ['lunas', 'attention', '--json'];
  const { exitCode, output } = await execute('lunas-operator-dewi', command, { DATABASE_TLS_CA: '' });
  expect(exitCode).not.toBe(0);
  expect(output).toContain('Set DATABASE_TLS_CA to its file.');
});

it.each(['lunas-api', 'lunas-operator-dewi'])(
  '%s: user 1000 reads its files, and writes only below /tmp',
  async (name) => {
    const files = 'cat /etc/lunas/LUNAS_MASTER_KEY | wc -c; touch /lunas/file /etc/lunas/file /file';
    const { output } = await execute(name, ['sh', '-c', `id -u; ${files}; touch /tmp/file && echo written`]);
    expect(output).toMatch(/^1000$[^]*^44$/m);
    expect(output.match(/Read-only file system/g)).toHaveLength(3);
    expect(output).toContain('written');
  },
);

it('a profile is in /tmp', async () => {
  // Only Node.js 22 or newer, which the image has, takes the options from NODE_OPTIONS.
  const node = ['node', '--cpu-prof', '--cpu-prof-dir=/tmp'];
  await execute('lunas-api', [...node, 'dist/src/cli/lunas.js', '--version']);
  const { stdout } = await execute('lunas-api', ['ls', '/tmp']);
  expect(stdout).toMatch(/\.cpuprofile$/m);
});

it('each process ends with exit code 0 after SIGTERM', async () => {
  const workers = ['lunas-worker-main', 'lunas-worker-payouts', 'lunas-worker-verifier'];
  const processes = ['lunas-api', 'lunas-dashboard', ...workers];
  const running = processes.flatMap((name) => podNamed(name).running);
  for (const container of running) container.signal('SIGTERM');
  await Promise.all(running.map(expectSuccess));
});
