import { claimOpenNews, noteNews } from '../../src/db/notifications';
import { openLedger, type Ledgered } from '../support/payments';

let ledger: Ledgered;
beforeAll(async () => {
  ledger = await openLedger();
});
afterAll(() => ledger.close());

it.each([
  ['5 seconds', 5],
  ['80 seconds', 80],
  ['3 days', 3_600],
])('news that is open for %s is told, and next after %d s', async (age, nextSeconds) => {
  const referenceId = `LN-${nextSeconds}`;
  const { rows } = await ledger.db.query('select id from provider_accounts limit 1');
  await noteNews(ledger.db, { accountId: rows[0].id, referenceId });
  await ledger.db.query(
    'update provider_notifications set received_at = now() - $2::interval, tell_again_at = now() where reference_id = $1',
    [referenceId, age],
  );
  expect(await claimOpenNews(ledger.db, 10)).toMatchObject([{ referenceId }]);
  expect(await claimOpenNews(ledger.db, 10)).toEqual([]);
  const { rows: next } = await ledger.db.query(
    'select round(extract(epoch from tell_again_at - now()))::integer as seconds from provider_notifications where reference_id = $1',
    [referenceId],
  );
  expect(next).toEqual([{ seconds: nextSeconds }]);
});
