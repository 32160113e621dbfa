import { createPool, type Pool } from '../../../src/db/connection/pool';
import { openException } from '../../../src/db/operations/open-exception';
import { listActions } from '../../../src/services/audit/list-actions';
import { listExceptions, listExceptionsOf } from '../../../src/services/payments/exceptions';
import { osUser } from '../../support/actors';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { resolveByOperator } from '../../support/resolve-exception';

const DEWI = osUser('dewi');
const UNKNOWN_ID = '0193e5c0-0000-7000-8000-000000000000';

let database: TestDatabase;
let db: Pool;
beforeEach(async () => {
  database = await createTestDatabase();
  db = createPool(database.url);
});
afterEach(async () => {
  await db.end();
  await database.drop();
});

let cases = 0;

/** Opens an exception one second after the last one: two of the same millisecond have no order. */
async function open(referenceId: string, kind: 'wrong_amount' | 'unknown_order' = 'unknown_order'): Promise<void> {
  const detail = 'Money.';
  await openException(db, { kind, referenceId, providerAccountId: null, paymentId: null, amountRupiah: 500, detail });
  cases += 1;
  await db.query(
    `update exceptions set opened_at = now() + $3 * interval '1 second'
     where reference_id = $1 and kind = $2 and resolved_at is null`,
    [referenceId, kind, cases],
  );
}

it('lists open exceptions, newest first, and resolved ones if requested', async () => {
  for (const reference of ['LN1', 'LN2', 'LN3']) await open(reference);
  const [newest] = await listExceptions(db, { onlyOpen: true, limit: 10 });
  expect(newest).toMatchObject({ kind: 'unknown_order', referenceId: 'LN3', amountRupiah: 500, resolvedAt: null });
  const resolved = await resolveByOperator({ db }, DEWI, newest?.id ?? '', { note: 'sent back', isRefunded: false });
  expect(resolved).toMatchObject({
    id: newest?.id,
    resolvedBy: 'cli:dewi',
    note: 'sent back',
    resolvedAt: expect.any(Date),
  });

  const references = async (onlyOpen: boolean, limit = 10) =>
    (await listExceptions(db, { onlyOpen, limit })).map(({ referenceId }) => referenceId);
  expect(await references(true)).toEqual(['LN2', 'LN1']);
  expect(await references(false)).toEqual(['LN3', 'LN2', 'LN1']);
  expect(await references(false, 1)).toEqual(['LN3']);
});

it('resolves an exception once, and records each attempt', async () => {
  await open('LN1');
  const [{ id } = { id: '' }] = await listExceptions(db, { onlyOpen: true, limit: 1 });
  await resolveByOperator({ db }, DEWI, id, { note: 'first', isRefunded: false });
  await expect(resolveByOperator({ db }, osUser('budi'), id, { note: 'second', isRefunded: false })).rejects.toThrow(
    'no open exception',
  );
  await expect(resolveByOperator({ db }, DEWI, UNKNOWN_ID, { note: 'third', isRefunded: false })).rejects.toThrow(
    'no open exception',
  );
  expect(await listExceptionsOf(db, 'LN1')).toMatchObject([{ resolvedBy: 'cli:dewi', note: 'first' }]);
  expect(await listActions(db, { target: id, limit: 9 })).toMatchObject([
    { actor: 'cli:budi', action: 'exception.resolve', note: 'second', outcome: 'rejected' },
    { actor: 'cli:dewi', note: 'first', outcome: 'succeeded' },
  ]);
});

it('opens a new exception after the resolution of an equal one', async () => {
  await open('LN1');
  const [{ id } = { id: '' }] = await listExceptions(db, { onlyOpen: true, limit: 1 });
  await resolveByOperator({ db }, DEWI, id, { note: 'done', isRefunded: false });
  await open('LN1');
  await open('LN1', 'wrong_amount');
  expect((await listExceptionsOf(db, 'LN1')).map(({ kind, resolvedBy }) => [kind, resolvedBy])).toEqual([
    ['unknown_order', 'cli:dewi'],
    ['unknown_order', null],
    ['wrong_amount', null],
  ]);
});
