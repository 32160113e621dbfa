import { environmentSchema } from '../../../src/config';
import { localStackSchema } from '../../../src/local-stack/local-stack-config';
import {
  buildComposeLoader,
  loadComposeFile,
  lunasServicesInOrder,
  type ComposeProject,
  type ComposeService,
} from '../../deploy/compose-project';
import { newMasterKey } from '../../support/service';

/** `lunas accounts add --server-key-env` reads it. */
const NOT_OF_LUNAS = 'SANDBOX_SERVER_KEY';
const WORKER_SIZES = [
  'WORKER_ROLES',
  'DATABASE_POOL_SIZE',
  'WORKFLOW_CACHE_SIZE',
  'WORKFLOW_TASK_SLOTS',
  'ACTIVITY_SLOTS',
  'RELAY_SLOTS',
] as const;
const MIN_STOP_SECONDS = 20;

let loader: string;
let project: ComposeProject;

beforeAll(async () => {
  loader = await buildComposeLoader();
  project = await loadComposeFile(loader, `LUNAS_MASTER_KEY=${newMasterKey()}\n`);
});

const service = (name: string): ComposeService => {
  const found = project.services[name];
  if (found === undefined) throw new Error(`no service ${name}`);
  return found;
};

const lunasServices = (): [string, ComposeService][] =>
  Object.entries(project.services).filter(([, { image }]) => image === 'lunas:local');

it('takes the master key from .env, the same at each command', async () => {
  const key = newMasterKey();
  const keys = [await loadComposeFile(loader, `LUNAS_MASTER_KEY=${key}\n`), project].map(
    ({ services }) => services['api']?.environment['LUNAS_MASTER_KEY'],
  );
  expect(keys[0]).toBe(key);
  await expect(loadComposeFile(loader, '')).rejects.toThrow(/LUNAS_MASTER_KEY.*\.env/);
});

it('starts the processes in the order migrate, set-up of Temporal, the services, sandbox', () => {
  const order = ['migrate', 'temporal-setup', 'api', 'dashboard', 'payouts', 'sandbox', 'verifier', 'worker'];
  expect(lunasServicesInOrder(project)).toEqual(order);
  const started = { condition: 'service_completed_successfully', restart: false };
  for (const name of ['api', 'dashboard', 'worker', 'payouts', 'verifier']) {
    expect(service(name).depends_on).toEqual({ migrate: started, 'temporal-setup': started });
  }
  expect(service('migrate').depends_on).toMatchObject({ postgres: { condition: 'service_healthy' } });
  expect(service('sandbox').depends_on).toEqual({ api: { condition: 'service_healthy', restart: true } });
});

it('gives each process only variables of src/config.ts, and the sandbox its own', () => {
  const unknown = lunasServices().flatMap(([process, { environment }]) => {
    const { shape } = process === 'sandbox' ? localStackSchema : environmentSchema;
    return Object.keys(environment).filter((name) => name !== NOT_OF_LUNAS && !Object.hasOwn(shape, name));
  });
  expect(unknown).toEqual([]);
});

it('takes the roles and the sizes of the worker from .env, and else the defaults of src/config.ts', async () => {
  const { environment } = service('worker');
  const rolesOf = (name: string) =>
    environmentSchema.shape.WORKER_ROLES.parse(service(name).environment['WORKER_ROLES']);
  const roles = ['worker', 'payouts', 'verifier'].flatMap(rolesOf);
  expect(roles).toEqual(environmentSchema.shape.WORKER_ROLES.parse(undefined));
  for (const name of WORKER_SIZES.filter((size) => size !== 'WORKER_ROLES')) {
    expect([name, environmentSchema.shape[name].parse(environment[name])]).toEqual([
      name,
      environmentSchema.shape[name].parse(undefined),
    ]);
  }
  const sizes = { ...Object.fromEntries(WORKER_SIZES.map((name, n) => [name, `${n + 10}`])), WORKER_ROLES: 'relay' };
  const dotEnv = Object.entries({ ...sizes, LUNAS_MASTER_KEY: newMasterKey() }).map((pair) => `${pair.join('=')}\n`);
  const sized = await loadComposeFile(loader, dotEnv.join(''));
  expect(sized.services['worker']?.environment).toMatchObject(sizes);
});

it('gives the sandbox no key, and each process the database role for its work', () => {
  expect(service('sandbox').environment).not.toHaveProperty('LUNAS_MASTER_KEY');
  const users = lunasServices().map(([, { environment }]) => new URL(environment['DATABASE_URL'] ?? '').username);
  expect(users.sort()).toEqual([
    'api',
    'dashboard',
    'migrator',
    'operator',
    'operator',
    'payouts',
    'sandbox',
    'verifier',
    'worker',
  ]);
});

it('stops no process before it has ended by itself', () => {
  const tooShort = lunasServices().filter(([, { stop_grace_period }]) => {
    const [, seconds = 0] = /^(\d+)s$/.exec(stop_grace_period ?? '') ?? [];
    return Number(seconds) < MIN_STOP_SECONDS;
  });
  expect(tooShort).toEqual([]);
});

it('runs each process with a read-only file system, and each service that stays with a limit and a check', () => {
  expect(lunasServices().filter(([, { read_only }]) => !read_only)).toEqual([]);
  const staying = Object.entries(project.services).filter(([, { restart }]) => restart === 'unless-stopped');
  expect(staying.map(([name]) => name).sort()).toEqual([
    'api',
    'dashboard',
    'payouts',
    'postgres',
    'sandbox',
    'temporal',
    'temporal-ui',
    'verifier',
    'worker',
  ]);
  expect(staying.filter(([, { deploy }]) => deploy === undefined)).toEqual([]);
  // The Web UI has no dependents.
  const withoutCheck = staying.filter(([, { healthcheck }]) => healthcheck === undefined).map(([name]) => name);
  expect(withoutCheck).toEqual(['temporal-ui']);
});

it('waits for the server of PostgreSQL that others can reach', () => {
  expect(service('postgres').healthcheck?.test.join(' ')).toMatch(/^CMD pg_isready --host 127\.0\.0\.1 /);
});

it('sets up Temporal by its own tools, with shards for growth and with fairness', () => {
  const images = Object.values(project.services).map(({ image }) => image);
  expect(images.filter((image) => !/:(?:\d[\d.]*[\w.-]*|local)$/.test(image) || image.includes('auto-setup'))).toEqual(
    [],
  );
  expect(Number(service('temporal').environment['NUM_HISTORY_SHARDS'])).toBeGreaterThanOrEqual(512);
  expect(project.configs['temporal']?.content).toMatch(/^matching\.enableFairness:\n\s+- value: true\n$/);
});
