import { createPool, type Pool } from '../../src/db/connection/pool';
import { listAttention } from '../../src/services/attention';
import { asSuperuser } from '../support/backdate';
import { createTestDatabase, type TestDatabase } from '../support/database';

let database: TestDatabase;
let db: Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  db = createPool(database.url, { max: 2 });
});
afterAll(async () => {
  await db.end();
  await database.drop();
});

it('a workflow whose step is repeated has the last failure, another one when it was started', async () => {
  const startedAt = new Date('2026-11-26T00:00:00Z');
  const workflow = { workflowId: 'payment-1', merchantId: null, startedAt };
  const retriedStep = { activity: 'settlePayment', attempt: 7, failure: 'PostgreSQL is full.', nextAttemptAt: null };
  const workflows = [
    { ...workflow, referenceId: 'LN1', retriedStep },
    { ...workflow, referenceId: 'LN2', retriedStep: null },
  ];
  const cases = await listAttention(db, () => Promise.resolve({ workflows, versions: [], unpolled: [] }), 50);
  const found = cases.filter(({ kind }) => kind === 'workflow');
  expect(found.map(({ subject, detail }) => [subject, detail])).toEqual([
    ['LN1', 'attempt 7 of settlePayment failed: PostgreSQL is full'],
    ['LN2', 'payment-1, started then'],
  ]);
});

describe('the runs of the schedules', () => {
  const RUNS = 'insert into daily_runs (kind, started_at, finished_at, is_complete, failed_count, failed) values';
  const listRunCases = async () => {
    const cases = await listAttention(db, () => Promise.resolve({ workflows: [], versions: [], unpolled: [] }), 50);
    return cases.flatMap(({ kind, subject, detail }) => (kind === 'daily_run' ? [[subject, detail]] : []));
  };
  const installedAgo = (age: string) =>
    asSuperuser(db, `update installation set recorded_at = now() - interval '${age}'`, 'truncate daily_runs');

  it('no run is late on the first day of an installation, or without an account at the bank', async () => {
    await installedAgo('3 hours');
    expect(await listRunCases()).toEqual([]);
  });

  it('a kind of run is late if its schedule is paused', async () => {
    await installedAgo('30 days');
    await db.query(`${RUNS} ('closing', now() - interval '26 hours', now() - interval '26 hours', true, 0, '{}'),
      ('retention', now(), now(), true, 0, '{}'), ('reconciliation', now(), now(), true, 0, '{}')`);
    expect(await listRunCases()).toEqual([['closing', 'no complete run since then']]);
  });

  it('a run of payouts names the merchant who failed, until a later run is complete', async () => {
    await installedAgo('3 hours');
    await db.query(`insert into provider_accounts (id, purpose, adapter, base_url, sealed_server_key,
      sealed_credentials) values (gen_random_uuid(), 'payouts', 'snap-midtrans', 'http://127.0.0.1:9', 'x', 'x')`);
    await db.query(`${RUNS} ('payouts', now() - interval '2 hours', now() - interval '1 hour', false, 1, '{toko}')`);
    expect(await listRunCases()).toEqual([['payouts', '1 failed: toko']]);
    await db.query(`${RUNS} ('payouts', now(), now(), true, 0, '{}')`);
    expect(await listRunCases()).toEqual([]);
  });
});
