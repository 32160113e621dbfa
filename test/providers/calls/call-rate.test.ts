import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createSealer } from '../../../src/crypto/sealing';
import { createPool, type Pool } from '../../../src/db/connection/pool';
import type { FindPaymentOutcome } from '../../../src/providers/provider';
import { createProviderRegistry, type ProviderRegistry } from '../../../src/providers/registry';
import { addAccount, type ProviderAccount } from '../../../src/services/provider-accounts/provider-accounts';
import { runLunas } from '../../cli/run-lunas';
import { SILENT } from '../../support/collect-log';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { eventually } from '../../support/eventually';

const PROCESSES = 3;
/** Together fewer than the calls of a second: none waits for too long. */
const CALLERS_PER_PROCESS = 8;
const PER_SECOND = 40;
const CALLS = 120;
const TOLERANCE = 0.1;

const sealer = createSealer(randomBytes(32).toString('base64'));
let database: TestDatabase;
let db: Pool;
let pools: Pool[];
let registries: ProviderRegistry[] = [];
let account: ProviderAccount;
let acquirer: { readonly url: string; readonly arrivalsMs: number[]; close(): Promise<void> };

beforeAll(async () => {
  database = await createTestDatabase();
  acquirer = await startAcquirer();
  // As three processes: each has connections of its own, and they share only PostgreSQL.
  pools = Array.from({ length: PROCESSES }, () => createPool(database.url, { max: 10 }));
  db = createPool(database.url, { max: 1 });
  await openRegistries();
  account = await addAccount(db, sealer, {
    provider: 'gopay',
    adapter: 'midtrans',
    serverKey: 'k',
    weight: 1,
    baseUrl: acquirer.url,
    environment: 'sandbox',
  });
});

afterAll(async () => {
  await Promise.all(registries.map((registry) => registry.close()));
  await acquirer.close();
  await Promise.all([db.end(), ...pools.map((pool) => pool.end())]);
  await database.drop();
});

async function openRegistries(): Promise<void> {
  await Promise.all(registries.map((registry) => registry.close()));
  registries = pools.map((pool) =>
    createProviderRegistry({ db: pool, sealer, publicBaseUrl: 'http://127.0.0.1', log: SILENT }),
  );
}

async function startAcquirer() {
  const arrivalsMs: number[] = [];
  const server = createServer((_request, response) => {
    arrivalsMs.push(performance.now());
    response.end(JSON.stringify({ status_code: '404', status_message: 'no such order' }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    arrivalsMs,
    async close() {
      await once(server.close(), 'close');
    },
  };
}

async function find(registry: ProviderRegistry, timeoutMs = 60_000): Promise<FindPaymentOutcome> {
  const provider = await registry.forAccount(account.id);
  const call = { signal: AbortSignal.timeout(timeoutMs), deadlineAtMs: Date.now() + timeoutMs };
  return provider.findPayment({ referenceId: 'ORDER', issued: null }, call);
}

/** Callers in all processes, each with the next call after the response, until the acquirer has had the calls. */
async function callAll(calls: number): Promise<Set<string>> {
  const outcomes = new Set<string>();
  const caller = async (registry: ProviderRegistry): Promise<void> => {
    while (acquirer.arrivalsMs.length < calls) outcomes.add((await find(registry)).outcome);
  };
  await Promise.all(
    registries.flatMap((registry) => Array.from({ length: CALLERS_PER_PROCESS }, () => caller(registry))),
  );
  return outcomes;
}

async function setRate(perSecond: number): Promise<void> {
  const { exitCode } = await runLunas(['accounts', 'set-rate', account.id, '--per-second', String(perSecond)], {
    DATABASE_URL: database.url,
  });
  expect(exitCode).toBe(0);
}

const schedules = async () => (await db.query('select next_call_at::text as at from provider_call_schedules')).rows;

it('calls do not wait without a limit', async () => {
  expect(account.callsPerSecond).toBeNull();
  expect(await callAll(20)).toEqual(new Set(['not_found']));
  expect(await schedules()).toEqual([]);
});

/** How often the rate is measured: a machine that stands still for a moment makes the first or the last call late. */
const MEASUREMENTS = 8;

async function measureRate(): Promise<number> {
  await openRegistries();
  acquirer.arrivalsMs.length = 0;
  expect(await callAll(CALLS)).toEqual(new Set(['not_found']));
  const [first = 0, last = 0] = [acquirer.arrivalsMs[0], acquirer.arrivalsMs[CALLS - 1]];
  return (CALLS - 1) / ((last - first) / 1_000);
}

it('the processes together keep to the limit of an account', async () => {
  await setRate(PER_SECOND);
  const offOf = (perSecond: number) => Math.abs(perSecond / PER_SECOND - 1);
  const measured = [await measureRate()];
  while (measured.length < MEASUREMENTS && Math.min(...measured.map(offOf)) >= TOLERANCE) {
    measured.push(await measureRate());
  }
  expect(Math.min(...measured.map(offOf))).toBeLessThan(TOLERANCE);
});

it('a call that would wait for long is not made, and reserves nothing', async () => {
  await db.query("update provider_call_schedules set next_call_at = now() + interval '2900 milliseconds'");
  const [before, calls] = [await schedules(), acquirer.arrivalsMs.length];
  expect(await Promise.all(registries.map((registry) => find(registry, 200)))).toEqual(
    registries.map(() => ({
      outcome: 'indeterminate',
      reason: 'the limit of 40 calls per second is reached',
      isRateLimited: true,
    })),
  );
  expect([await schedules(), acquirer.arrivalsMs.length]).toEqual([before, calls]);
});

it('a clock of PostgreSQL that went back by 30 s stops no call', async () => {
  await db.query("update provider_call_schedules set next_call_at = clock_timestamp() + interval '30 seconds'");
  const [registry] = registries;
  if (!registry) throw new Error('There is no registry');
  expect(await find(registry)).toEqual({ outcome: 'not_found' });
  const { rows } = await db.query(
    "select next_call_at < clock_timestamp() + interval '3 seconds' as soon from provider_call_schedules",
  );
  expect(rows).toEqual([{ soon: true }]);
});

it('0 removes the limit in every process', async () => {
  await setRate(0);
  for (const registry of registries) {
    const found = await eventually(
      () => find(registry),
      ({ outcome }) => outcome === 'not_found',
    );
    expect(found).toEqual({ outcome: 'not_found' });
  }
});
