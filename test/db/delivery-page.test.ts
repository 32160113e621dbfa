import { createPool, type Pool } from '../../src/db/connection/pool';
import type { PageStart } from '../../src/db/payments/list-payment-page';
import type { ListPosition } from '../../src/db/payments/list-payments';
import { listDeliveryPage, type DeliveryPageFilter } from '../../src/db/webhooks/list-delivery-page';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { explainQueries } from '../support/explain';
import { fillMerchant } from '../support/fill-merchant';
import { createShop } from '../support/people';
import { insertCatalog } from '../support/seed-payments';

const DELIVERIES = 4_500;

let database: TestDatabase;
let db: Pool;
let filter: DeliveryPageFilter;
/** A third of the deliveries go to it. */
let endpointId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  db = createPool(database.url, { max: 2 });
  const { id: merchantId } = await createShop(db);
  const [policyId, accountId] = await insertCatalog(db);
  await fillMerchant(db, { merchantId, policyId, accountId }, 1, DELIVERIES);
  await db.query('analyze webhook_deliveries');
  filter = {
    merchantId,
    status: null,
    event: null,
    endpointId: null,
    createdFrom: null,
    createdTo: null,
    start: null,
  };
  const { rows } = await db.query<{ endpointId: string }>(
    'select endpoint_id as "endpointId" from webhook_deliveries limit 1',
  );
  endpointId = rows[0]?.endpointId ?? '';
});
afterAll(async () => {
  await db.end();
  await database.drop();
});

it('a search ends with the last match that the page shows', async () => {
  const { db: explaining, explained } = explainQueries(db);
  const { deliveries, searchedTo } = await listDeliveryPage(explaining, { ...filter, endpointId }, 20);
  const { rows } = await db.query<{ id: string }>(
    'select id from webhook_deliveries where endpoint_id = $1 order by created_at desc, id desc limit 20',
    [endpointId],
  );
  expect(deliveries.map(({ id }) => id)).toEqual(rows.map(({ id }) => id));
  expect(searchedTo).toBeNull();
  expect(explained).toHaveLength(1);
  // 69, of which the events of the 20 rows are 60; 119 if it reads all of the 2,000.
  expect(explained[0]?.buffers).toBeLessThan(100);
});

it.each(['older', 'newer'] as const)(
  'a search for %s deliveries continues behind the 2,000 compared',
  async (direction) => {
    const { rows } = await db.query<{ id: string; createdAt: Date }>(
      `update webhook_deliveries set status = 'pending', finished_at = null, dead_reason = null
     where id = (select id from webhook_deliveries order by created_at offset 2249 limit 1)
     returning id, created_at as "createdAt"`,
    );
    const end = direction === 'older' ? '9999-12-31' : '1970-01-01';
    const pages = [];
    let than = { createdAt: new Date(end), id: rows[0]?.id ?? '' };
    for (;;) {
      const start = { direction, than };
      const { deliveries, searchedTo } = await listDeliveryPage(db, { ...filter, status: 'pending', start }, 20);
      pages.push(deliveries.map(({ id }) => id));
      if (searchedTo === null) break;
      than = searchedTo;
    }
    expect(pages).toEqual([[], [rows[0]?.id], []]);
  },
);

it('deliveries of one instant are listed by their ids, each once, page by page', async () => {
  const { rows } = await db.query<{ id: string }>(
    `update webhook_deliveries set created_at = (select max(created_at) from webhook_deliveries)
     where id in (select id from webhook_deliveries order by created_at desc limit 50) returning id`,
  );
  const listed: ListPosition[] = [];
  let page = await listDeliveryPage(db, filter, 20);
  for (; listed.length < 50; page = await listDeliveryPage(db, { ...filter, start: startBehind(listed) }, 20))
    listed.push(...page.deliveries.map(({ createdAt, id }) => ({ createdAt, id })));
  const descending = rows
    .map(({ id }) => id)
    .toSorted()
    .toReversed();
  expect(listed.slice(0, 50).map(({ id }) => id)).toEqual(descending);
});

function startBehind(listed: readonly ListPosition[]): PageStart | null {
  const than = listed.at(-1);
  return than ? { direction: 'older', than } : null;
}
