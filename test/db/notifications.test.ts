import { claimOpenNews, noteNews } from '../../src/db/notifications';
import { openLedger, type Ledgered } from '../support/payments';

let ledger: Ledgered;
beforeAll(async () => {
  ledger = await openLedger();
});
afterAll(() => ledger.close());

it.each([
  ['5 seconds', 0, 5],
  ['50 minutes', 0, 10],
  ['80 seconds', 2, 40],
  ['80 seconds', 4, 80],
  ['30 days', 2_000, 3_600],
  ['-20 seconds', 0, 5],
])(
  'news that is open for %s and was told %d times before is told, and next after %d s',
  async (age, told, nextSeconds) => {
    const referenceId = `LN-${age}-${told}`;
    const { rows } = await ledger.db.query('select id from provider_accounts limit 1');
    // Within a transaction the time stands still.
    const db = await ledger.db.connect();
    try {
      await db.query('begin');
      await noteNews(db, { accountId: rows[0].id, referenceId });
      await db.query(
        `update provider_notifications set received_at = now() - $2::interval,
           tell_again_at = now() - interval '1 second', told = $3 where reference_id = $1`,
        [referenceId, age, told],
      );
      expect(await claimOpenNews(db, 10)).toMatchObject([{ referenceId }]);
      expect(await claimOpenNews(db, 10)).toEqual([]);
      const { rows: next } = await db.query(
        'select extract(epoch from tell_again_at - now())::integer as seconds from provider_notifications where reference_id = $1',
        [referenceId],
      );
      expect(next).toEqual([{ seconds: nextSeconds }]);
    } finally {
      await db.query('rollback');
      db.release();
    }
  },
);
