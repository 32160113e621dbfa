import { needsPerson, nextOfRow, pageOf } from '../../src/cli/attention-commands';
import { createPool, type Pool } from '../../src/db/connection/pool';
import { findAccountsOf, listRecordedCases } from '../../src/db/operations/list-attention';
import { listMissingRoles } from '../../src/db/operations/missing-roles';
import { openException } from '../../src/db/operations/open-exception';
import { recordHeartbeat } from '../../src/db/transitions/role-heartbeats';
import type { RetriedStep } from '../../src/domain/retried-step';
import { CASES_OF_KIND, HALF_MS, listAttention } from '../../src/services/attention';
import type { WorkflowNeedingAttention } from '../../src/temporal/workflow-records';
import { asSuperuser } from '../support/backdate';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { createTestLedger } from '../support/payments';
import { applyTransitions } from './ledger/transition-path';

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

const STARTED_AT = new Date('2026-11-26T00:00:00Z');

function workflow(referenceId: string, retriedStep?: RetriedStep | null): WorkflowNeedingAttention {
  return {
    workflowId: 'payment-1',
    merchantId: null,
    startedAt: STARTED_AT,
    referenceId,
    ...(retriedStep !== undefined && { retriedStep }),
  };
}

const halvesOf = (db: Pool, workflows: readonly WorkflowNeedingAttention[]) => ({
  postgresql: () => listRecordedCases(db, CASES_OF_KIND),
  temporal: () => Promise.resolve({ workflows, versions: [], unpolled: [] }),
  accountsOf: (references: readonly string[]) => findAccountsOf(db, references),
});

const list = (workflows: readonly WorkflowNeedingAttention[], limit = 50) =>
  listAttention(halvesOf(db, workflows), limit);

const FULL = {
  activity: 'settlePayment',
  attempt: 7,
  failure: 'PostgreSQL is full.',
  isOfProvider: false,
  nextAttemptAt: null,
} as const;

it('a workflow whose step is repeated has the last failure, another one when it was started', async () => {
  const { cases } = await list([workflow('LN1', FULL), workflow('LN2', null)]);
  const found = cases.filter(({ kind }) => kind === 'workflow');
  expect(found.map(({ subject, detail }) => [subject, detail])).toEqual([
    ['LN1', 'attempt 7 of settlePayment failed: PostgreSQL is full'],
    ['LN2', 'payment-1, started then'],
  ]);
});

describe('an outage with many payments', () => {
  const refused = (attempt: number) => ({
    ...FULL,
    activity: 'openPayment',
    attempt,
    failure: `500 of call ${attempt}`,
  });
  const workflows = [
    ...Array.from({ length: 200 }, (_, index) => workflow(`LN${index}`, index % 8 === 0 ? refused(index) : undefined)),
    workflow('LN999', FULL),
  ];

  it('many cases of one cause are one row with the count, and hide no later case', async () => {
    await openException(db, { kind: 'unknown_payout', referenceId: 'LP7', detail: 'Not here.' });
    const { rows, moreRows } = await list(workflows, 20);
    expect(moreRows).toBe(0);
    expect(rows.map(({ kind, count, subject }) => [kind, count, subject])).toEqual([
      ['workflow', 200, 'LN0'],
      ['workflow', 1, 'LN999'],
      ['exception', 1, expect.any(String)],
    ]);
    expect(rows.map((row) => [nextOfRow(row), needsPerson(row)])).toEqual([
      ['lunas payments show LN0', true],
      ['lunas payments show LN999', true],
      [`lunas exceptions resolve ${rows[2]?.subject} --note "…"`, true],
    ]);
  });

  it('each kind has a row and a case, whatever the limit is', async () => {
    const { rows, moreRows, cases } = await list(workflows, 1);
    expect(rows.map(({ kind }) => kind)).toEqual(['workflow', 'exception']);
    expect(moreRows).toBe(1);
    expect(cases.map(({ kind }) => kind)).toEqual(['workflow', 'exception']);
  });

  it('if the provider is the cause, the row names its account', async () => {
    const ledger = await createTestLedger();
    // An open one would be overdue too.
    const { terms } = await applyTransitions(ledger, ['issue', 'pay', 'settle']);
    const failed = { ...refused(3), isOfProvider: true };
    const like = Array.from({ length: 9 }, () => workflow(terms.referenceId));
    const { rows } = await listAttention(halvesOf(ledger.db, [workflow(terms.referenceId, failed), ...like]), 20);
    await ledger.close();
    const row = rows.find(({ kind }) => kind === 'workflow');
    expect(row).toMatchObject({ count: 10, about: terms.providerAccountId });
    expect(row && nextOfRow(row)).toBe(`lunas accounts disable ${terms.providerAccountId} --note "…"`);
  });
});

describe('a half that is away', () => {
  const hangs = () => new Promise<never>(() => undefined);
  const both = () => halvesOf(db, [workflow('LN1', FULL)]);

  it('PostgreSQL away: the workflows and the page of the runbook', async () => {
    const before = Date.now();
    const { rows } = await listAttention({ ...both(), postgresql: hangs, accountsOf: hangs }, 20);
    expect(Date.now() - before).toBeLessThan(2 * HALF_MS);
    expect(rows.map(({ kind }) => kind)).toEqual(['workflow', 'postgresql']);
    expect(rows.map(pageOf)).toEqual([null, 'docs/operations/postgresql-down.md']);
    expect(rows.map(({ detail }) => detail)).toContain('no response in 2 s');
  });

  it('Temporal away: what PostgreSQL has, and the page of the runbook', async () => {
    const { rows } = await listAttention({ ...both(), temporal: hangs }, 20);
    expect(rows.map(({ kind }) => kind)).toEqual(['exception', 'temporal']);
    expect(rows.map(pageOf)).toContain('docs/operations/temporal-down.md');
  });

  it('both away: a row for each', async () => {
    const { rows } = await listAttention({ ...both(), postgresql: hangs, temporal: hangs }, 20);
    expect(rows.map(({ kind }) => kind).toSorted()).toEqual(['postgresql', 'temporal']);
  });
});

describe('the roles of processes', () => {
  const listRoles = async () =>
    (await list([])).cases.flatMap(({ kind, subject }) => (kind === 'role_missing' ? [subject] : []));
  const seenAgo = (age: string) => asSuperuser(db, `update role_heartbeats set seen_at = now() - interval '${age}'`);

  it('a role is missing after three minutes without a process, until one runs or a week is over', async () => {
    expect(await listRoles()).toEqual([]);
    await asSuperuser(db, "insert into role_heartbeats (role) values ('dashboard'), ('relay'), ('payments')");
    await seenAgo('2 minutes');
    expect(await listRoles()).toEqual([]);
    await seenAgo('4 minutes');
    expect(new Set(await listRoles())).toEqual(new Set(['dashboard', 'relay']));
    expect(await listMissingRoles(db)).toEqual(['dashboard', 'payments', 'relay']);
    await recordHeartbeat(db, ['relay']);
    expect(await listRoles()).toEqual(['dashboard']);
    await seenAgo('8 days');
    expect(await listRoles()).toEqual([]);
  });
});

describe('the runs of the schedules', () => {
  const RUNS = 'insert into daily_runs (kind, started_at, finished_at, is_complete, failed_count, failed) values';
  const listRunCases = async () => {
    const { cases } = await list([]);
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
      ('retention', now(), now(), true, 0, '{}'), ('reconciliation', now(), now(), true, 0, '{}'),
      ('ledger_verification', now(), now(), true, 0, '{}'), ('audit_verification', now(), now(), true, 0, '{}')`);
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
