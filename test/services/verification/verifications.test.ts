import { createPool, type Pool } from '../../../src/db/connection/pool';
import { listRecordedCases } from '../../../src/db/operations/list-attention';
import type { Verifications } from '../../../src/domain/verification';
import { withAudit } from '../../../src/services/audit/audit';
import { AUDIT_HEAD_MESSAGE, createVerifications } from '../../../src/services/verification/verifications';
import { pingEndpoint } from '../../../src/services/webhooks/ping-endpoint';
import { osUser } from '../../support/actors';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { addLines, applyPayout, createTestPayouts, ofPayments } from '../../support/payouts';
import { applyTransitions } from '../ledger/transition-path';

const NEW = { isFull: false };
const ALL = { isFull: true };

let database: TestDatabase;
let db: Pool;
let verifier: Pool;
let verifications: Verifications;
const log = { info: jest.fn(), error: jest.fn() };

beforeEach(async () => {
  database = await createTestDatabase();
  db = createPool(database.url, { max: 2 });
  verifier = createPool(database.urlOf('lunas_local_verifier'), { max: 2 });
  verifications = createVerifications({ db: verifier, log });
  jest.clearAllMocks();
});
afterEach(async () => {
  await Promise.all([db.end(), verifier.end()]);
  await database.drop();
});

/** Two entries of the chain. */
function act(target: string): Promise<void> {
  return withAudit({ db }, osUser('root'), { action: pingEndpoint, target }, () => Promise.resolve());
}

/** As the owner of the tables, who can disable their triggers. */
async function asOwner(table: string, statement: string): Promise<void> {
  await db.query(`alter table ${table} disable trigger user; ${statement}; alter table ${table} enable trigger user`);
}

async function attentionRows(): Promise<(string | null)[]> {
  const cases = await listRecordedCases(db, 10);
  return cases.flatMap(({ kind, detail }) => (kind === 'audit_breaks' ? [detail] : []));
}

it('verifies the ledger with the rights of the verifier, and records the result', async () => {
  expect(await verifications.ledger(NEW)).toEqual({ verified: 0, breakCount: 0 });
  expect(await verifications.ledger(NEW)).toEqual({ verified: 0, breakCount: 0 });
  expect(await verifications.ledger(ALL)).toEqual({ verified: 0, breakCount: 0 });
  const { rows } = await db.query('select is_full, break_count from ledger_verification_results order by id');
  expect(rows.map(({ is_full }) => is_full)).toEqual([true, false, true]);
});

it('the verifier may verify a ledger that is not empty', async () => {
  const ledger = await createTestPayouts();
  await addLines(ledger, [100_000]);
  await applyPayout(ledger, ['approve', 'submit', 'complete']);
  const payments = ofPayments(ledger);
  await applyTransitions(payments, ['issue', 'pay', 'settle']);
  const pool = createPool(ledger.database.urlOf('lunas_local_verifier'), { max: 2 });
  const { ledger: verify } = createVerifications({ db: pool, log });
  expect(await verify(ALL)).toMatchObject({ breakCount: 0 });
  await applyTransitions(payments, ['issue', 'pay']);
  expect(await verify(NEW)).toMatchObject({ breakCount: 0 });
  await pool.end();
  await ledger.close();
});

it('verifies the entries since the last verification, and writes the head into the log', async () => {
  expect(await verifications.audit(NEW)).toEqual({ verified: 0, breakCount: 0 });
  expect(log.info).toHaveBeenLastCalledWith({ position: 0, head: null }, AUDIT_HEAD_MESSAGE);
  await act('E1');
  expect(await verifications.audit(NEW)).toEqual({ verified: 2, breakCount: 0 });
  await act('E2');
  await act('E3');
  expect(await verifications.audit(NEW)).toEqual({ verified: 4, breakCount: 0 });
  expect(await verifications.audit(NEW)).toEqual({ verified: 0, breakCount: 0 });
  expect(await verifications.audit(ALL)).toEqual({ verified: 6, breakCount: 0 });
  const { rows } = await db.query<{ head: string }>(
    "select encode(hash, 'hex') as head from audit_chain order by position desc limit 1",
  );
  expect(log.info).toHaveBeenLastCalledWith({ position: 6, head: rows[0]?.head }, AUDIT_HEAD_MESSAGE);
  expect(await attentionRows()).toEqual([]);
});

it.each([
  ['a changed new row', 'operator_actions', "update operator_actions set note = 'x' where id = 2", 'action 2 changed'],
  ['a new row without an entry', 'audit_chain', 'delete from audit_chain where position = 4', 'outcome 2 inserted'],
  ['a lost head', 'audit_chain', 'delete from audit_chain where position >= 2', /entry [0-9a-f]{64} missing/],
])('finds %s, until it is as it was again', async (_break, table, statement, found) => {
  await act('E1');
  await verifications.audit(NEW);
  await act('E2');
  await asOwner(table, `create table kept as select * from ${table}; ${statement}`);
  expect((await verifications.audit(NEW)).breakCount).toBeGreaterThan(0);
  expect((await verifications.audit(NEW)).breakCount).toBeGreaterThan(0);
  expect(log.error).toHaveBeenCalledTimes(2);
  expect(await attentionRows()).toEqual([expect.stringMatching(found)]);
  await restore(table);
  expect(await verifications.audit(NEW)).toEqual({ verified: 2, breakCount: 0 });
  expect(await attentionRows()).toEqual([]);
});

/** The rows of `kept`, as a backup has them. */
async function restore(table: string): Promise<void> {
  const note = 'update operator_actions set note = kept.note from kept where kept.id = operator_actions.id';
  const entries = 'insert into audit_chain select * from kept on conflict do nothing';
  await asOwner(table, table === 'audit_chain' ? entries : note);
}

it('finds a lost head that the owner of the tables has made PostgreSQL forget', async () => {
  await act('E1');
  await verifications.audit(NEW);
  await asOwner('audit_chain', 'delete from audit_chain where position = 2');
  await asOwner('operator_action_outcomes', 'delete from operator_action_outcomes where action_id = 1');
  await asOwner(
    'audit_verifications',
    'update audit_verifications set position = 1, head = (select hash from audit_chain where position = 1)',
  );
  expect((await verifications.audit(NEW)).breakCount).toBe(1);
  expect((await verifications.audit(ALL)).breakCount).toBe(1);
  // Another process has only PostgreSQL. The heads in its logs remain.
  expect(await createVerifications({ db: verifier, log }).audit(NEW)).toEqual({ verified: 0, breakCount: 0 });
});

it('the daily verification finds a changed old row', async () => {
  await act('E1');
  await act('E2');
  await verifications.audit(NEW);
  await asOwner('operator_actions', "update operator_actions set note = 'x' where id = 1");
  expect(await verifications.audit(NEW)).toEqual({ verified: 0, breakCount: 0 });
  expect(await verifications.audit(ALL)).toEqual({ verified: 4, breakCount: 1 });
  expect(await attentionRows()).toEqual(['action 1 changed']);
});
