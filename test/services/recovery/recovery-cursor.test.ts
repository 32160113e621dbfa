import { findRecoveryCursor, saveRecoveryCursor } from '../../../src/db/operations/recovery-cursor';
import { listOpenPayments, type Key } from '../../../src/db/payments/list-open-payments';
import { asSuperuser } from '../../support/backdate';
import { createTestLedger, type TestLedger } from '../../support/payments';
import { applyTransitions } from '../ledger/transition-path';

let ledger: TestLedger;
beforeAll(async () => {
  ledger = await createTestLedger();
});
afterAll(() => ledger.close());

async function idsAfter(begin?: Key): Promise<string[]> {
  const ids: string[] = [];
  for await (const { terms } of listOpenPayments(ledger.db, begin)) ids.push(terms.paymentId);
  return ids;
}

it('a recovery that was stopped goes on after the payment of its cursor, within an hour', async () => {
  for (let count = 0; count < 3; count += 1) await applyTransitions(ledger, ['issue']);
  const [first = '', ...others] = await idsAfter();
  const { rows } = await ledger.db.query('select provider_account_id as "accountId" from payments limit 1');
  const accountId: string = rows[0].accountId;
  expect(await findRecoveryCursor(ledger.db)).toBeUndefined();
  for (const doneCount of [7, 8]) await saveRecoveryCursor(ledger.db, { accountId, paymentId: first, doneCount });
  expect(await findRecoveryCursor(ledger.db)).toEqual({ accountId, paymentId: first, doneCount: 8 });
  expect(await idsAfter([accountId, first])).toEqual(others);

  await asSuperuser(ledger.db, "update recovery_cursor set saved_at = now() - interval '61 minutes'");
  expect(await findRecoveryCursor(ledger.db)).toBeUndefined();
});

it('a cursor from before recovery mode does not count: PostgreSQL was restored meanwhile', async () => {
  await asSuperuser(ledger.db, 'update recovery_cursor set saved_at = now()');
  expect(await findRecoveryCursor(ledger.db)).toBeDefined();
  await asSuperuser(
    ledger.db,
    "update recovery_mode set begun_at = now() + interval '1 second', begun_by = 'x', reason = 'y'",
  );
  expect(await findRecoveryCursor(ledger.db)).toBeUndefined();
});
