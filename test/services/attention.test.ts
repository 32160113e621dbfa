import { createPool, type Pool } from '../../src/db/connection/pool';
import { listAttention } from '../../src/services/attention';
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
