import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { createPool, type Pool } from '../../../src/db/connection/pool';
import type { Merchant } from '../../../src/services/merchants/merchants';
import { startTestDashboard, type TestDashboard } from '../../support/dashboard';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { destroyAll, openStream, openStreams, statusesOf } from '../../support/event-streams';
import { eventually } from '../../support/eventually';
import { createMember, createShop } from '../../support/people';
import { seedPayments } from '../../support/seed-payments';

/* The event streams of the dashboard: how many a user has, and when they end. */

let database: TestDatabase;
let db: Pool;
let shop: Merchant;
let dashboard: TestDashboard;
/** The addresses of the streams of two payments. */
let addresses: string[];

beforeAll(async () => {
  database = await createTestDatabase();
  db = createPool(database.url, { max: 4 });
  shop = await createShop(db);
  await seedPayments(db, shop.id, { count: 2, from: '2026-11-01T00:00:00Z', rareOneIn: 100, sameReference: 3 });
  dashboard = await startTestDashboard({
    apiUrl: 'http://127.0.0.1:1',
    dashboardDatabaseUrl: database.urlOf('lunas_local_dashboard'),
    db,
    masterKey: randomBytes(32).toString('base64'),
    temporal: { address: '127.0.0.1:1', namespace: 'none', security: {} },
  });
  const { rows } = await db.query<{ reference: string; code: string }>(
    `select payment.reference_id as reference, merchant.code from payments payment
     join merchants merchant on merchant.id = payment.merchant_id`,
  );
  addresses = rows.map(({ reference, code }) => `${dashboard.url}/m/${code}/payments/${reference}/events?seen=2`);
});
afterAll(async () => {
  await dashboard.close();
  await db.end();
  await database.drop();
});

/** @param index of the payment */
function openAs(cookie: string, index = 0): Promise<IncomingMessage> {
  return openStream(addresses[index % addresses.length] ?? '', { cookie, accept: 'text/event-stream' });
}

async function signInNew(email: string): Promise<string> {
  await createMember(db, email, [[shop.id, 'cashier']]);
  return dashboard.cookie(email);
}

it('a user has four streams in all sessions; a fifth gets 429 until one has ended, and others theirs', async () => {
  const first = await signInNew('first@shop.test');
  const again = await dashboard.cookie('first@shop.test');
  const streams = await openStreams(4, (index) => openAs(index < 2 ? first : again, index));
  expect(statusesOf(streams)).toEqual([200]);
  const fifth = await openAs(again, 1);
  expect([fifth.statusCode, fifth.headers['retry-after']]).toEqual([429, '10']);
  expect(fifth.headers['content-type']).toContain('text/html');
  const other = await openAs(await signInNew('other@shop.test'));
  expect(other.statusCode).toBe(200);

  streams.pop()?.destroy();
  const next = await eventually(
    () => openAs(first),
    ({ statusCode }) => statusCode === 200,
  );
  destroyAll([...streams, other, next, fifth]);
});

describe('a stream ends within the time of a check', () => {
  let colleague: IncomingMessage;
  let isColleagueOut = false;
  beforeAll(async () => {
    colleague = await openAs(await signInNew('colleague@shop.test'));
    colleague.on('end', () => (isColleagueOut = true)).resume();
  });
  afterAll(() => colleague.destroy());

  const ofUser = 'user_id = (select id from users where email = $1)';
  it.each([
    ['the member was removed', `update members set removed_at = now() where ${ofUser}`],
    ['the session has ended', `update sessions set ended_at = now() where ${ofUser}`],
    ['the user was disabled', 'update users set disabled_at = now() where email = $1'],
  ])('a stream ends after %s, and that of a colleague goes on', async (reason, change) => {
    const email = `${reason.replaceAll(' ', '-')}@shop.test`;
    const stream = await openAs(await signInNew(email));
    expect(stream.statusCode).toBe(200);
    const ended = text(stream);
    const { rowCount } = await db.query(change, [email]);
    expect([rowCount, await ended]).toEqual([1, 'retry: 2000\n\n']);
    expect(isColleagueOut).toBe(false);
  });
});
