import { environmentSchema, loadConfig } from '../../../src/config';
import { buildHelmTools, lintChart, pipe, renderChart, type HelmTools, type Manifest } from '../../deploy/helm';

const TOOLS_TIMEOUT_MS = 20 * 60_000;
const withoutDashboard = { PUBLIC_BASE_URL: 'https://pay.example', TEMPORAL_ADDRESS: 'temporal.example:7233' };
const environment = { ...withoutDashboard, DASHBOARD_URL: 'https://dashboard.example' };

/** Values of installations, from the smallest to one with everything. */
const VALUE_SETS = {
  smallest: { environment },
  'with everything': {
    environment: {
      ...environment,
      TEMPORAL_NAMESPACE: 'payments',
      REFUND_HOLD_SECONDS: 120,
      LUNAS_RECOVERY_MODE: false,
    },
    image: { repository: 'registry.example/lunas', digest: `sha256:${'0'.repeat(64)}` },
    imagePullSecrets: [{ name: 'registry' }],
    secrets: { temporalTls: 'temporal-tls' },
    api: { environment: { MAX_CONNECTIONS: 2_000 }, autoscaling: { enabled: true }, service: { type: 'LoadBalancer' } },
    dashboard: {
      replicas: 3,
      ingress: { enabled: true, className: 'nginx', tlsSecret: 'dashboard-tls', annotations: { owner: 'payments' } },
    },
    keda: { enabled: true },
    metrics: { serviceMonitor: { enabled: true, labels: { release: 'prometheus' } } },
    networkPolicy: {
      apiFrom: [{ namespaceSelector: {} }],
      dashboardFrom: [{ namespaceSelector: {} }],
      metricsFrom: [{ podSelector: {} }],
    },
    nodeSelector: { pool: 'payments' },
    tolerations: [{ operator: 'Exists' }],
  },
  'without the dashboard': { environment: withoutDashboard, dashboard: { enabled: false } },
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
  ['payouts beside other roles', { environment, workers: { main: { roles: ['relay', 'payouts'] } } }, /roles/],
  ['a worker that may not exist', { environment, keda: { minReplicas: 0 } }, /minReplicas/],
  ['the tag latest', { environment, image: { tag: 'latest' } }, /tag/],
])('helm lint rejects %s', async (_name, values, problem) => {
  expect(await lintChart(tools, values)).toMatch(problem);
});

it('renders what an installation needs', () => {
  expect(kinds(manifests('smallest'))).toEqual([
    'Deployment lunas-api',
    'Deployment lunas-dashboard',
    'Deployment lunas-worker-main',
    'Deployment lunas-worker-payouts',
    'Job lunas-migrate',
    'NetworkPolicy lunas',
    'NetworkPolicy lunas-api',
    'NetworkPolicy lunas-dashboard',
    'NetworkPolicy lunas-worker',
    'PodDisruptionBudget lunas-api',
    'PodDisruptionBudget lunas-dashboard',
    'PodDisruptionBudget lunas-worker-main',
    'PodDisruptionBudget lunas-worker-payouts',
    'Service lunas-api',
    'Service lunas-dashboard',
  ]);
  const added = kinds(manifests('with everything')).filter((name) => !kinds(manifests('smallest')).includes(name));
  expect(added).toEqual([
    'HorizontalPodAutoscaler lunas-api',
    'Ingress lunas-dashboard',
    'ScaledObject lunas-worker-main',
    'Service lunas-metrics',
    'ServiceMonitor lunas',
    'TriggerAuthentication lunas-temporal',
  ]);
  expect(kinds(manifests('without the dashboard')).filter((name) => name.includes('dashboard'))).toEqual([]);
  expect(kinds(manifests('without policies')).filter((name) => /Policy|Budget/.test(name))).toEqual([]);
});

it('gives each process only variables of src/config.ts, with valid values', () => {
  for (const { pod } of allPods()) {
    const { env } = pod.containers[0];
    const unknown = env.map(({ name }) => name).filter((name) => !Object.hasOwn(environmentSchema.shape, name));
    expect(unknown).toEqual([]);
    const values = env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]]));
    expect(() => loadConfig(Object.fromEntries(values))).not.toThrow();
  }
});

it('takes each secret from an existing Secret, and the database role of each process', () => {
  for (const { name, pod } of allPods()) {
    const [{ args, env }] = pod.containers;
    const references = env.flatMap(({ name, valueFrom }) => (valueFrom ? [[name, valueFrom.secretKeyRef.key]] : []));
    expect({ name, ...Object.fromEntries(references) }).toEqual({
      name,
      [args[0] === 'migrate' ? 'DATABASE_DIRECT_URL' : 'DATABASE_URL']: name.endsWith('-payouts') ? 'payouts' : args[0],
      LUNAS_MASTER_KEY: 'LUNAS_MASTER_KEY',
      LUNAS_OLD_MASTER_KEYS: 'LUNAS_OLD_MASTER_KEYS',
      TEMPORAL_API_KEY: 'TEMPORAL_API_KEY',
    });
  }
});

it('runs each process as user 1000, read-only, without capabilities and without a token', () => {
  for (const { pod } of allPods()) {
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          securityContext: {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          },
        },
      ],
    });
    expect(pod.containers[0].resources).toMatchObject({ requests: { memory: expect.any(String) }, limits: {} });
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
    podSelector: { matchExpressions: [{ operator: 'NotIn', values: ['api', 'dashboard', 'migrate'] }] },
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
  const values = { environment, api: { drainSeconds: 40 }, dashboard: { drainSeconds: 25 } };
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
  ]);
});

it('lets the autoscalers decide the number of replicas', () => {
  const replicas = (set: keyof typeof VALUE_SETS) =>
    podsOf(manifests(set)).flatMap(({ kind, replicas }) => (kind === 'Deployment' ? [replicas] : []));
  expect(replicas('smallest')).toEqual([2, 2, 2, 2]);
  expect(replicas('with everything')).toEqual([undefined, 3, undefined, 2]);
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
  const list = await renderChart(tools, { environment, workers, keda: { enabled: true } });
  expect(kinds(list).filter((name) => name.includes('worker-'))).toEqual([
    'Deployment lunas-worker-others',
    'Deployment lunas-worker-payments',
    'Deployment lunas-worker-payouts',
    'PodDisruptionBudget lunas-worker-others',
    'PodDisruptionBudget lunas-worker-payments',
    'PodDisruptionBudget lunas-worker-payouts',
    // A process that only relays or sweeps has no backlog at Temporal.
    'ScaledObject lunas-worker-payments',
  ]);
  expect(workersOf(list)).toMatchObject([
    { name: 'lunas-worker-others', replicas: 3, roles: 'relay,sweeper' },
    { name: 'lunas-worker-payments', replicas: undefined, roles: 'payments' },
    { name: 'lunas-worker-payouts', replicas: 2, roles: 'payouts' },
  ]);
  const scaled = list.find(({ kind }) => kind === 'ScaledObject');
  expect(scaled?.spec).toMatchObject({ triggers: [{ metadata: { taskQueue: 'lunas-payments' } }] });
});

it('runs two versions of workers beside each other', async () => {
  const version = (tag: string) => ({ ...worker('payments'), tag, environment: { TEMPORAL_WORKER_BUILD_ID: tag } });
  const digest = `sha256:${'1'.repeat(64)}`;
  const workers = { old: version('1.0.0'), new: { ...version('1.1.0'), tag: '', digest } };
  const list = await renderChart(tools, { environment, image: { tag: '1.0.1' }, workers });
  expect(workersOf(list)).toMatchObject([
    { name: 'lunas-worker-main', image: 'lunas:1.0.1', buildId: undefined },
    { name: 'lunas-worker-new', image: `lunas@${digest}`, buildId: '1.1.0' },
    { name: 'lunas-worker-old', image: 'lunas:1.0.0', buildId: '1.0.0' },
    { name: 'lunas-worker-payouts', image: 'lunas:1.0.1', buildId: undefined },
  ]);
});

function worker(...roles: string[]): object {
  const resources = { requests: { memory: '1Gi' }, limits: { memory: '2Gi' } };
  return { replicas: 3, roles, resources };
}

/** The deployments of workers, by name. */
function workersOf(list: readonly Manifest[]) {
  const pods = podsOf(list).filter(({ name }) => name.includes('worker-'));
  return pods
    .map(({ name, replicas, pod }) => {
      const [{ image, env }] = pod.containers;
      const variable = (of: string) => env.find((each) => each.name === of)?.value;
      return { name, replicas, image, roles: variable('WORKER_ROLES'), buildId: variable('TEMPORAL_WORKER_BUILD_ID') };
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
