import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { environmentSchema, loadConfig } from '../../../src/config';
import { PACKAGE_ROOT } from '../../../src/package-info';
import {
  buildHelmTools,
  lintChart,
  pipe,
  renderChart,
  type HelmTools,
  type Manifest,
  type RenderedPod,
} from '../../deploy/helm';

const TOOLS_TIMEOUT_MS = 20 * 60_000;
const withoutDashboard = { PUBLIC_BASE_URL: 'https://pay.example', TEMPORAL_ADDRESS: 'temporal.example:7233' };
const environment = { ...withoutDashboard, DASHBOARD_URL: 'https://dashboard.example' };
const peers = [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'others' } } }];
const others = { apiFrom: peers, postgresql: { to: peers }, temporal: { to: peers } };
/** What is required beside the environment. */
const networkPolicy = { ...others, dashboardFrom: peers };
const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'dewi@example.com' }];

/** Values of installations, from the smallest to one with everything. */
const VALUE_SETS = {
  smallest: { environment, networkPolicy },
  'with everything': {
    environment: {
      ...environment,
      TEMPORAL_NAMESPACE: 'payments',
      REFUND_HOLD_SECONDS: 120,
      LUNAS_RECOVERY_MODE: false,
      OTEL_EXPORTER_OTLP_ENDPOINT: 'https://traces.example:4318',
    },
    image: { repository: 'registry.example/lunas', digest: `sha256:${'0'.repeat(64)}` },
    imagePullSecrets: [{ name: 'registry' }],
    secrets: {
      temporalTls: 'temporal-tls',
      databaseCa: 'postgresql-ca',
      hasOldMasterKeys: true,
      hasTemporalApiKey: true,
    },
    extraVolumes: [{ name: 'traces-ca', configMap: { name: 'traces-ca' } }],
    extraVolumeMounts: [{ name: 'traces-ca', mountPath: '/etc/traces', readOnly: true }],
    operators: {
      people: {
        dewi: {
          database: 'operator-dewi',
          subjects,
          extraVolumes: [{ name: 'archive', persistentVolumeClaim: { claimName: 'archive' } }],
          extraVolumeMounts: [{ name: 'archive', mountPath: '/archive' }],
        },
        budi: { database: 'operator-budi' },
      },
    },
    api: { environment: { MAX_CONNECTIONS: 2_000 }, autoscaling: { enabled: true }, service: { type: 'LoadBalancer' } },
    dashboard: {
      replicas: 3,
      ingress: { enabled: true, className: 'nginx', tlsSecret: 'dashboard-tls', annotations: { owner: 'payments' } },
    },
    keda: { enabled: true },
    metrics: {
      serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
      rules: { enabled: true, labels: { release: 'prometheus' }, runbooks: 'https://git.example/lunas/' },
      dashboards: { enabled: true },
    },
    networkPolicy: { ...networkPolicy, metricsFrom: peers, traces: { to: [{ ipBlock: { cidr: '10.9.0.0/24' } }] } },
    nodeSelector: { pool: 'payments' },
    tolerations: [{ operator: 'Exists' }],
  },
  'without the dashboard': { environment: withoutDashboard, dashboard: { enabled: false }, networkPolicy: others },
  'without policies': { environment, networkPolicy: { enabled: false }, podDisruptionBudget: { enabled: false } },
} as const;

let tools: HelmTools;
let rendered: Map<string, readonly Manifest[]>;

beforeAll(async () => {
  tools = await buildHelmTools();
  const sets = Object.entries(VALUE_SETS).map(
    async ([name, values]) => [name, await renderChart(tools, values)] as const,
  );
  rendered = new Map(await Promise.all(sets));
}, TOOLS_TIMEOUT_MS);

function manifests(set: keyof typeof VALUE_SETS): readonly Manifest[] {
  return rendered.get(set) ?? [];
}

function find(kind: string, name: string): Manifest | undefined {
  return manifests('with everything').find((each) => each.kind === kind && each.metadata.name === name);
}

function podsOf(list: readonly Manifest[]) {
  return list.flatMap(({ kind, metadata, spec: { template, replicas } }) =>
    template === undefined ? [] : [{ kind, name: metadata.name, replicas, metadata, pod: template.spec }],
  );
}

const allPods = () => [...rendered.values()].flatMap(podsOf);

function kinds(list: readonly Manifest[]): string[] {
  return list.map(({ kind, metadata: { name } }) => `${kind} ${name}`).sort();
}

it.each(Object.entries(VALUE_SETS))('helm lint accepts the values %s', async (_name, values) => {
  expect(await lintChart(tools, values)).toBeNull();
});

it.each([
  ['no address of Temporal', { environment: { ...environment, TEMPORAL_ADDRESS: null } }, /TEMPORAL_ADDRESS/],
  ['no host for the dashboard', { environment: withoutDashboard }, /DASHBOARD_URL/],
  [
    'a dashboard below a path',
    { environment: { ...environment, DASHBOARD_URL: 'https://pay.example/d' } },
    /DASHBOARD/,
  ],
  ['a secret in clear', { environment: { ...environment, LUNAS_MASTER_KEY: 'key' } }, /LUNAS_MASTER_KEY/],
  ['a misspelled value', { environment, apis: {} }, /apis/],
  ['an unknown role', { environment, workers: { main: { roles: ['mailer'] } } }, /roles/],
  ['verifier beside other roles', { environment, workers: { main: { roles: ['relay', 'verifier'] } } }, /roles/],
  ['payouts beside other roles', { environment, workers: { main: { roles: ['relay', 'payouts'] } } }, /roles/],
  ['a Worker Controller without a connection', { workerController: { enabled: true } }, /connection/],
  [
    'two that scale the workers',
    { workerController: { enabled: true, connection: 'temporal' }, keda: { enabled: true } },
    /keda/,
  ],
  ["an operator's pod without a login", { environment, operators: { people: { dewi: {} } } }, /database/],
  ['an API that everybody may call', { networkPolicy: { ...networkPolicy, apiFrom: [] } }, /apiFrom/],
  ['a peer that is everybody', { networkPolicy: { ...networkPolicy, apiFrom: [{}] } }, /apiFrom/],
  ['a dashboard that everybody may call', { networkPolicy: others }, /dashboardFrom/],
  ['no destination of PostgreSQL', { networkPolicy: { ...networkPolicy, postgresql: { to: [] } } }, /postgresql/],
  ['no destination of Temporal', { networkPolicy: { ...networkPolicy, temporal: { to: [] } } }, /temporal/],
  ['a service monitor that may not read metrics', { metrics: { serviceMonitor: { enabled: true } } }, /metricsFrom/],
  [
    'no destination of traces',
    { environment: { ...environment, OTEL_EXPORTER_OTLP_ENDPOINT: 'https://traces.example:4318' } },
    /traces/,
  ],
  ['a worker that may not exist', { environment, keda: { minReplicas: 0 } }, /minReplicas/],
  ['the tag latest', { environment, image: { tag: 'latest' } }, /tag/],
  ['every port of the internet', { networkPolicy: { ...networkPolicy, internetPorts: [] } }, /internetPorts/],
  [
    'a private network that is everything',
    { networkPolicy: { ...networkPolicy, privateNetworks: ['0.0.0.0/0'] } },
    /Networks/,
  ],
  ['a private network of IPv6', { networkPolicy: { ...networkPolicy, privateNetworks: ['fd00::/8'] } }, /Networks/],
  ['metrics at the port of a process', { metrics: { port: 3000 } }, /port/],
  ['an annotation that is no text', { podAnnotations: { scrape: true } }, /podAnnotations/],
  ['an extra volume with the name of one of ours', { extraVolumes: [{ name: 'tmp', emptyDir: {} }] }, /extraVolumes/],
])('helm lint rejects %s', async (_name, values, problem) => {
  expect(await lintChart(tools, { environment, networkPolicy, ...values })).toMatch(problem);
});

it('a value of a process counts, also false and 0; numbers have no exponent; no variable stands twice', async () => {
  const common = { ...environment, LUNAS_RECOVERY_MODE: true, REFUND_HOLD_SECONDS: 60, REQUEST_LOG_ROWS: 10_000_000 };
  const own = { LUNAS_RECOVERY_MODE: false, REFUND_HOLD_SECONDS: 0 };
  const list = await renderChart(tools, {
    environment: { ...common, DATABASE_TLS_CA: '/elsewhere/ca.crt' },
    networkPolicy,
    secrets: { databaseCa: 'postgresql-ca' },
    api: { environment: own },
  });
  const api = podsOf(list).find(({ kind, name }) => kind === 'Deployment' && name === 'lunas-api');
  const env = api?.pod.containers[0].env ?? [];
  expect(Object.fromEntries(env.map(({ name, value }) => [name, value]))).toMatchObject({
    LUNAS_RECOVERY_MODE: 'false',
    REFUND_HOLD_SECONDS: '0',
    REQUEST_LOG_ROWS: '10000000',
    DATABASE_TLS_CA: '/etc/lunas/postgresql/ca.crt',
  });
  expect(env).toHaveLength(new Set(env.map(({ name }) => name)).size);
});

it('renders what an installation needs', () => {
  expect(kinds(manifests('smallest'))).toEqual([
    'Deployment lunas-api',
    'Deployment lunas-dashboard',
    'Deployment lunas-worker-main',
    'Deployment lunas-worker-payouts',
    'Deployment lunas-worker-verifier',
    'Job lunas-migrate',
    'NetworkPolicy lunas',
    'NetworkPolicy lunas-api',
    'NetworkPolicy lunas-dashboard',
    'NetworkPolicy lunas-worker',
    'PodDisruptionBudget lunas-api',
    'PodDisruptionBudget lunas-dashboard',
    'PodDisruptionBudget lunas-worker-main',
    'PodDisruptionBudget lunas-worker-payouts',
    'PodDisruptionBudget lunas-worker-verifier',
    'Service lunas-api',
    'Service lunas-dashboard',
  ]);
  const added = kinds(manifests('with everything')).filter((name) => !kinds(manifests('smallest')).includes(name));
  expect(added).toEqual([
    'ConfigMap lunas-grafana-payments',
    'ConfigMap lunas-grafana-processes',
    'HorizontalPodAutoscaler lunas-api',
    'Ingress lunas-dashboard',
    'PrometheusRule lunas',
    'Role lunas-operator-dewi',
    'RoleBinding lunas-operator-dewi',
    'ScaledObject lunas-worker-main',
    'Service lunas-metrics',
    'ServiceMonitor lunas',
    'StatefulSet lunas-operator-budi',
    'StatefulSet lunas-operator-dewi',
    'TriggerAuthentication lunas-temporal',
  ]);
  expect(kinds(manifests('without the dashboard')).filter((name) => name.includes('dashboard'))).toEqual([]);
  expect(kinds(manifests('without policies')).filter((name) => /Policy|Budget/.test(name))).toEqual([]);
});

/** The commands that run as a process of an installation: the sandbox belongs to the local stack. */
function serviceCommands(): string[] {
  const directory = path.join(PACKAGE_ROOT, 'src', 'cli', 'commands');
  const sources = readdirSync(directory).map((file) => readFileSync(path.join(directory, file), 'utf8'));
  return sources
    .flatMap((source) => /runService\('(\w+)'/.exec(source)?.[1] ?? [])
    .filter((name) => name !== 'sandbox');
}

it('the chart has every process and every role of workers', () => {
  const containers = podsOf(manifests('with everything')).flatMap(({ pod }) => pod.containers);
  expect(new Set(containers.flatMap(({ args }) => args))).toEqual(new Set([...serviceCommands(), 'migrate']));
  const roles = containers.flatMap(
    ({ env }) => env.find(({ name }) => name === 'WORKER_ROLES')?.value.split(',') ?? [],
  );
  expect(new Set(roles)).toEqual(new Set(loadConfig({}).WORKER_ROLES));
});

it('gives each process only variables of src/config.ts, with valid values', () => {
  for (const { env } of allPods().flatMap(({ pod }) => pod.containers)) {
    const unknown = env.map(({ name }) => name).filter((name) => !Object.hasOwn(environmentSchema.shape, name));
    expect(unknown).toEqual([]);
    // The files are those of the pod: pods.test.ts.
    const values = env.flatMap(({ name, value }) => (/_FILE$|_TLS_CA$/.test(name) ? [] : [[name, value]]));
    expect(() => loadConfig(Object.fromEntries(values))).not.toThrow();
  }
});

/** The secrets of a pod: the variables that name their files, each with the key and the secret. */
function secretsOf({ containers, volumes }: RenderedPod): Record<string, string> {
  const [{ env, volumeMounts }] = containers;
  const files = volumes.flatMap(({ name, projected }) => {
    const { mountPath } = volumeMounts.find((mount) => mount.name === name) ?? {};
    return (projected?.sources ?? []).flatMap(({ secret }) =>
      secret.items.map(({ key, path: file }) => [`${mountPath}/${file}`, `${key} of ${secret.name}`] as const),
    );
  });
  const keys = new Map<string, string>(files);
  const used = env.flatMap(({ name, value }) => (keys.has(value) ? [[name, keys.get(value)] as const] : []));
  expect(used.length).toBe(files.length);
  return Object.fromEntries(used.map(([name, key]) => [name, key ?? '']));
}

const SMALLEST_SECRETS = { LUNAS_MASTER_KEY_FILE: 'LUNAS_MASTER_KEY of lunas-keys' };
const ALL_SECRETS = {
  ...SMALLEST_SECRETS,
  LUNAS_OLD_MASTER_KEYS_FILE: 'LUNAS_OLD_MASTER_KEYS of lunas-keys',
  TEMPORAL_API_KEY_FILE: 'TEMPORAL_API_KEY of lunas-keys',
  TEMPORAL_TLS_CA: 'ca.crt of temporal-tls',
  TEMPORAL_TLS_CERT: 'tls.crt of temporal-tls',
  TEMPORAL_TLS_KEY: 'tls.key of temporal-tls',
};

it.each([
  ['smallest', SMALLEST_SECRETS, {}],
  ['with everything', ALL_SECRETS, { DATABASE_TLS_CA: 'ca.crt of postgresql-ca' }],
] as const)(
  '%s: each secret is a file of an existing Secret, with the database role of the process',
  (set, keys, ca) => {
    const logins = Object.fromEntries(['api', 'dashboard', 'migrate'].map((name) => [`lunas-${name}`, name]));
    const workers = {
      'lunas-worker-main': 'worker',
      'lunas-worker-payouts': 'payouts',
      'lunas-worker-verifier': 'verifier',
    };
    const people = Object.fromEntries(['dewi', 'budi'].map((name) => [`lunas-operator-${name}`, `operator-${name}`]));
    const expected: Record<string, string | undefined> = { ...logins, ...workers };
    for (const { name, pod } of podsOf(manifests(set))) {
      const DATABASE_URL_FILE =
        name in people ? `DATABASE_URL of ${people[name]}` : `${expected[name]} of lunas-database`;
      const migration = { DATABASE_DIRECT_URL_FILE: 'migrate of lunas-database', ...ca };
      const secrets = name.endsWith('-migrate') ? migration : { DATABASE_URL_FILE, ...keys, ...ca };
      expect({ name, ...secretsOf(pod) }).toEqual({ name, ...secrets });
    }
  },
);

it('lets a person scale and enter their own pod only, which has no replica by itself', () => {
  const own = { resourceNames: ['lunas-operator-dewi-0'] };
  expect(find('Role', 'lunas-operator-dewi')).toMatchObject({
    rules: [
      { resources: ['statefulsets'], resourceNames: ['lunas-operator-dewi'], verbs: ['get'] },
      { resources: ['statefulsets/scale'], resourceNames: ['lunas-operator-dewi'] },
      { resources: ['pods'], verbs: ['get'], ...own },
      { resources: ['pods/exec', 'pods/portforward'], verbs: ['get', 'create'], ...own },
    ],
  });
  expect(find('RoleBinding', 'lunas-operator-dewi')).toMatchObject({
    roleRef: { kind: 'Role', name: 'lunas-operator-dewi' },
    subjects,
  });
  const { replicas, template } = find('StatefulSet', 'lunas-operator-dewi')?.spec ?? {};
  expect([replicas, template?.spec.containers.map(({ name }) => name)]).toEqual([0, ['operator', 'codec']]);
  expect(template?.spec.volumes.map(({ name }) => name)).toEqual(['tmp', 'lunas', 'traces-ca', 'archive']);
});

it('the chart has the alerts and the dashboards of this repository', () => {
  const alerts = readFileSync(path.join(PACKAGE_ROOT, 'deploy', 'prometheus', 'rules.yaml'), 'utf8');
  const rendered = JSON.stringify(find('PrometheusRule', 'lunas')?.spec);
  const names = [...alerts.matchAll(/- alert: (\w+)/g)].map(([, name]) => name);
  expect([...rendered.matchAll(/"alert":"(\w+)"/g)].map(([, name]) => name)).toEqual(names);
  const links = [...rendered.matchAll(/"runbook_url":"([^"]+)"/g)].map(([, link]) => link ?? '');
  expect(links.length).toBe(names.length);
  expect(links.filter((link) => !link.startsWith('https://git.example/lunas/docs/'))).toEqual([]);
  for (const name of ['payments', 'processes']) {
    const file = `lunas-${name}.json`;
    const text = readFileSync(path.join(PACKAGE_ROOT, 'deploy', 'grafana', file), 'utf8');
    expect(find('ConfigMap', `lunas-grafana-${name}`)).toMatchObject({ data: { [file]: text } });
  }
});

it('closes each way that has no destination', () => {
  const dns = {
    ports: [
      { port: 53, protocol: 'UDP' },
      { port: 53, protocol: 'TCP' },
    ],
    to: [expect.anything()],
  };
  const known = [dns, { ports: [{ port: 5432 }], to: peers }, { ports: [{ port: 7233 }], to: peers }];
  const policyOf = (set: keyof typeof VALUE_SETS) =>
    manifests(set).find(({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name === 'lunas')?.spec;
  expect(policyOf('smallest')).toMatchObject({ policyTypes: ['Ingress', 'Egress'], egress: known });
  expect(policyOf('smallest')).not.toHaveProperty('ingress');
  const traces = { ports: [{ port: 4318 }], to: [{ ipBlock: { cidr: '10.9.0.0/24' } }] };
  const metrics = { ports: [{ port: 9464 }], from: peers };
  expect(policyOf('with everything')).toMatchObject({ ingress: [metrics], egress: [...known, traces] });
});

it('runs each process as user 1000, read-only, without capabilities and without a token', () => {
  for (const { pod } of allPods()) {
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
    });
    for (const { securityContext, resources, volumeMounts } of pod.containers) {
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(resources).toMatchObject({ requests: { memory: expect.any(String) }, limits: {} });
      expect(volumeMounts).toContainEqual({ name: 'tmp', mountPath: '/tmp', readOnly: false });
    }
  }
});

it('the dashboard has an ingress for its own host, and no way to providers and receivers', () => {
  const all = manifests('with everything');
  expect(all.find(({ kind }) => kind === 'Ingress')?.spec).toMatchObject({
    ingressClassName: 'nginx',
    tls: [{ hosts: ['dashboard.example'], secretName: 'dashboard-tls' }],
    rules: [
      {
        host: 'dashboard.example',
        http: { paths: [{ path: '/', backend: { service: { name: 'lunas-dashboard', port: { name: 'http' } } } }] },
      },
    ],
  });
  const outward = all.find(({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name === 'lunas-worker');
  expect(outward?.spec).toMatchObject({
    podSelector: { matchExpressions: [{ operator: 'NotIn', values: ['api', 'dashboard', 'migrate', 'operator'] }] },
  });
});

it('migrates before each installation and upgrade', () => {
  const job = podsOf(manifests('smallest')).find(({ kind }) => kind === 'Job');
  expect(job).toMatchObject({
    metadata: { annotations: { 'helm.sh/hook': 'pre-install,pre-upgrade' } },
    pod: { restartPolicy: 'Never', containers: [{ args: ['migrate'] }] },
  });
});

it('gives each process time to end, API and dashboard their drain time too', async () => {
  const values = { environment, networkPolicy, api: { drainSeconds: 40 }, dashboard: { drainSeconds: 25 } };
  const deployments = podsOf(await renderChart(tools, values)).filter(({ kind }) => kind === 'Deployment');
  const drained = deployments.map(({ name, pod }) => ({
    name,
    drain: pod.containers[0].env.find(({ name }) => name === 'DRAIN_SECONDS')?.value,
    graceSeconds: pod.terminationGracePeriodSeconds,
  }));
  expect(drained).toEqual([
    { name: 'lunas-api', drain: '40', graceSeconds: 60 },
    { name: 'lunas-dashboard', drain: '25', graceSeconds: 45 },
    { name: 'lunas-worker-main', drain: undefined, graceSeconds: 30 },
    { name: 'lunas-worker-payouts', drain: undefined, graceSeconds: 30 },
    { name: 'lunas-worker-verifier', drain: undefined, graceSeconds: 30 },
  ]);
});

it('lets the autoscalers decide the number of replicas', () => {
  const replicas = (set: keyof typeof VALUE_SETS) =>
    podsOf(manifests(set)).flatMap(({ kind, replicas }) => (kind === 'Deployment' ? [replicas] : []));
  expect(replicas('smallest')).toEqual([2, 2, 2, 2, 1]);
  expect(replicas('with everything')).toEqual([undefined, 3, undefined, 2, 1]);
  const scaled = manifests('with everything').find(({ kind }) => kind === 'ScaledObject');
  const trigger = { endpoint: 'temporal.example:7233', namespace: 'payments', queueTypes: 'workflow,activity' };
  expect(scaled?.spec).toMatchObject({
    scaleTargetRef: { name: 'lunas-worker-main' },
    minReplicaCount: 2,
    triggers: [
      { type: 'temporal', metadata: { ...trigger, taskQueue: 'lunas-payments' } },
      { type: 'temporal', metadata: { ...trigger, taskQueue: 'lunas-webhooks' } },
    ],
  });
});

it('the chart has one deployment for each entry of workers', async () => {
  const workers = { main: null, payments: worker('payments'), others: worker('relay', 'sweeper') };
  const list = await renderChart(tools, { environment, networkPolicy, workers, keda: { enabled: true } });
  expect(kinds(list).filter((name) => name.includes('worker-'))).toEqual([
    'Deployment lunas-worker-others',
    'Deployment lunas-worker-payments',
    'Deployment lunas-worker-payouts',
    'Deployment lunas-worker-verifier',
    'PodDisruptionBudget lunas-worker-others',
    'PodDisruptionBudget lunas-worker-payments',
    'PodDisruptionBudget lunas-worker-payouts',
    'PodDisruptionBudget lunas-worker-verifier',
    // A process that only relays or sweeps has no backlog at Temporal.
    'ScaledObject lunas-worker-payments',
  ]);
  expect(workersOf(list)).toMatchObject([
    { name: 'lunas-worker-others', replicas: 3, roles: 'relay,sweeper' },
    { name: 'lunas-worker-payments', replicas: undefined, roles: 'payments' },
    { name: 'lunas-worker-payouts', replicas: 2, roles: 'payouts' },
    { name: 'lunas-worker-verifier', replicas: 1, roles: 'verifier' },
  ]);
  const scaled = list.find(({ kind }) => kind === 'ScaledObject');
  expect(scaled?.spec).toMatchObject({ triggers: [{ metadata: { taskQueue: 'lunas-payments' } }] });
});

it("leaves the versions of workers to Temporal's Worker Controller", async () => {
  const workerController = { enabled: true, connection: 'temporal' };
  const values = { environment: { ...environment, TEMPORAL_NAMESPACE: 'payments' }, networkPolicy, workerController };
  const list = await renderChart(tools, values);
  expect(workersOf(list)).toMatchObject([
    { kind: 'WorkerDeployment', name: 'lunas-worker-main', replicas: 2, buildId: undefined },
    { kind: 'WorkerDeployment', name: 'lunas-worker-payouts', replicas: 2, buildId: undefined },
    { kind: 'WorkerDeployment', name: 'lunas-worker-verifier', replicas: 1, buildId: undefined },
  ]);
  const main = list.find(({ kind, metadata }) => kind === 'WorkerDeployment' && metadata.name.endsWith('-main'));
  expect(main?.spec).toMatchObject({
    workerOptions: { connectionRef: { name: 'temporal' }, temporalNamespace: 'payments' },
    rollout: { strategy: 'Progressive' },
    sunset: { scaledownDelay: '1h' },
  });
});

function worker(...roles: string[]): object {
  const resources = { requests: { memory: '1Gi' }, limits: { memory: '2Gi' } };
  return { replicas: 3, roles, resources };
}

/** The deployments of workers, by name. */
function workersOf(list: readonly Manifest[]) {
  const pods = podsOf(list).filter(({ name }) => name.includes('worker-'));
  return pods
    .map(({ kind, name, replicas, pod }) => {
      const [{ image, env }] = pod.containers;
      const variable = (of: string) => env.find((each) => each.name === of)?.value;
      return {
        kind,
        name,
        replicas,
        image,
        roles: variable('WORKER_ROLES'),
        buildId: variable('TEMPORAL_WORKER_BUILD_ID'),
      };
    })
    .toSorted((one, other) => one.name.localeCompare(other.name));
}

it('the validation finds a field that does not exist, and a value that is not allowed', async () => {
  const deployment = manifests('smallest').find(({ kind }) => kind === 'Deployment');
  const valid = JSON.stringify(deployment);
  const misspelled = valid.replace('"readinessProbe"', '"readynessProbe"');
  expect(() => pipe(tools.decoder, [], misspelled)).toThrow(/unknown field .*readynessProbe/);
  const validate = [require.resolve('../../deploy/validate-manifests.mjs')];
  const notAllowed = valid.replace('"IfNotPresent"', '"Sometimes"');
  expect(() => pipe(process.execPath, validate, notAllowed)).toThrow(/imagePullPolicy must be equal to one of/);
});
