import { randomUUID } from 'node:crypto';
import * as fc from 'fast-check';
import { createPool, type Pool } from '../../../src/db/connection/pool';
import { listLinks } from '../../../src/db/links/list-links';
import { openLinkNumber } from '../../../src/db/links/open-link';
import { LINK_KINDS, LINK_LIMITS, LINK_STATUSES, linkStatusOf } from '../../../src/domain/payment-link';
import { insertMerchant } from '../../../src/services/merchants/merchants';
import { archiveRow } from '../../support/archive-row';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { eventually } from '../../support/eventually';
import { seedPayments } from '../../support/seed-payments';
import { bySize } from '../../support/size';

let database: TestDatabase;
let owner: Pool;
let api: Pool;
let merchantId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  owner = createPool(database.url, { max: 2 });
  api = createPool(database.urlOf('lunas_local_api'), { max: 10 });
  const shop = { name: 'Shop', feePayer: 'merchant', providers: ['gopay'], approve: true } as const;
  merchantId = (await insertMerchant(owner, shop)).id;
});
afterAll(async () => {
  await Promise.all([owner.end(), api.end()]);
  await database.drop();
});

const AT = new Date('2026-11-29T08:00:00Z');

/** A link of Rp50,000 that is paid once; `changes` has other columns. */
async function newLink(changes: object = {}): Promise<string> {
  const id = randomUUID();
  const link = {
    id,
    reference_id: `LK${id}`,
    merchant_id: merchantId,
    provider: 'gopay',
    kind: 'once',
    amount_rupiah: 50_000,
    title: 'Invoice',
    fingerprint: 'v1.test.0',
    created_at: AT,
    created_by: 'key:test',
    paid_count: 0,
    paid_rupiah: 0,
    ...changes,
  };
  await api.query('insert into payment_links select * from jsonb_populate_record(null::payment_links, $1)', [link]);
  return id;
}

describe('a stored link', () => {
  it.each([
    ["title = 'Other'"],
    ['amount_rupiah = 1'],
    ["expires_at = now() + interval '1 day'"],
    ["return_url = 'https://evil.test/'"],
    ["closed_at = now(), closed_by = 'x', title = 'Other'"],
  ])('a stored link never changes: %s', async (assignment) => {
    const id = await newLink();
    await expect(owner.query(`update payment_links set ${assignment} where id = $1`, [id])).rejects.toThrow(
      'append-only',
    );
  });

  it('a stored link is closed once, and not deleted', async () => {
    const id = await newLink();
    const close = "update payment_links set closed_at = now(), closed_by = 'key:test' where id = $1";
    await api.query(close, [id]);
    await expect(owner.query(close, [id])).rejects.toThrow('append-only');
    await expect(owner.query('delete from payment_links where id = $1', [id])).rejects.toThrow('append-only');
    await expect(owner.query('truncate payment_links cascade')).rejects.toThrow('append-only');
  });

  it.each([
    ['neither an amount nor bounds', { amount_rupiah: null }],
    ['an amount and bounds', { minimum_rupiah: 1, maximum_rupiah: 2 }],
    ['one bound', { amount_rupiah: null, minimum_rupiah: 1 }],
    ['bounds in the other order', { amount_rupiah: null, minimum_rupiah: 2, maximum_rupiah: 1 }],
    ['an amount of nothing', { amount_rupiah: 0 }],
    ['a title of 101 characters', { title: 'x'.repeat(101) }],
  ])('PostgreSQL rejects a link with %s', async (_name, changes) => {
    await expect(newLink(changes)).rejects.toThrow('payment_links');
  });
});

it('PostgreSQL and TypeScript know the same status', async () => {
  const time = fc.option(fc.integer({ min: -200, max: 200 }), { nil: null });
  const state = fc.record({ kind: fc.constantFrom(...LINK_KINDS), hasPaid: fc.boolean(), closed: time, expires: time });
  const at = (seconds: number | null) => (seconds === null ? null : new Date(AT.getTime() + seconds * 1_000));
  await fc.assert(
    fc.asyncProperty(state, async ({ kind, hasPaid, closed, expires }) => {
      const [closedAt, expiresAt] = [at(closed), at(expires)];
      const { rows } = await api.query<{ status: string }>('select payment_link_status($1, $2, $3, $4, $5) as status', [
        kind,
        hasPaid,
        closedAt,
        expiresAt,
        AT,
      ]);
      expect(rows[0]?.status).toBe(linkStatusOf({ kind, hasPaid, closedAt, expiresAt }, AT.getTime()));
    }),
    { numRuns: bySize({ small: 200, full: 2_000 }) },
  );
});

it('the list of a status has the links with this status', async () => {
  const merchant = (
    await insertMerchant(owner, { name: 'Lists', feePayer: 'merchant', providers: ['gopay'], approve: true })
  ).id;
  const states = LINK_KINDS.flatMap((kind) =>
    [0, 2].flatMap((paid) =>
      [null, -60].flatMap((closed) => [null, -1, 59, 60].map((end) => ({ kind, paid, closed, end }))),
    ),
  );
  const at = (seconds: number | null) => (seconds === null ? null : new Date(AT.getTime() + seconds * 1_000));
  const ids = new Map<string, string>();
  for (const { kind, paid, closed, end } of states) {
    const [closedAt, expiresAt] = [at(closed), at(end)];
    const times = { closed_at: closedAt, closed_by: closedAt && 'key:test', expires_at: expiresAt };
    const id = await newLink({ merchant_id: merchant, kind, paid_count: paid, ...times });
    ids.set(id, linkStatusOf({ kind, hasPaid: paid > 0, closedAt, expiresAt }, AT.getTime()));
  }
  for (const status of LINK_STATUSES) {
    const listed = await listLinks(api, { merchantId: merchant, status, at: AT }, 100);
    const expected = [...ids].flatMap(([id, own]) => (own === status ? [id] : []));
    expect([status, listed.map(({ id }) => id).toSorted()]).toEqual([status, expected.toSorted()]);
  }
});

describe('the number of a visitor', () => {
  const open = (linkId: string, paymentId: string, number: number | null, at = AT) =>
    openLinkNumber(api, { linkId, paymentId, number, at });

  async function countWaiting(): Promise<number> {
    const { rowCount } = await owner.query(
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
    );
    return rowCount ?? 0;
  }

  it('visitors of a once-link at the same time get one number', async () => {
    const linkId = await newLink();
    const paymentId = randomUUID();
    const first = await api.connect();
    await first.query('begin');
    const taken = await openLinkNumber(first, { linkId, paymentId, number: 1, at: AT });
    const visitors = Array.from({ length: bySize({ small: 10, full: 200 }) }, () => open(linkId, paymentId, 1));
    const others = Promise.all(visitors).then((opened) => opened.map(({ outcome }) => outcome));
    // The pool opens its connections one after another: without this wait the first visitor would be alone.
    await eventually(countWaiting, (count) => count >= 5);
    await first.query('commit');
    first.release();
    expect([taken.outcome, new Set(await others)]).toEqual(['new', new Set(['found'])]);
    const { rows } = await owner.query('select number, payment_id from payment_link_payments where link_id = $1', [
      linkId,
    ]);
    expect(rows).toEqual([{ number: 1, payment_id: paymentId }]);
  });

  it('a caller that has read an older number learns the newest one', async () => {
    const linkId = await newLink();
    expect(await open(linkId, randomUUID(), 2)).toEqual({ outcome: 'moved', paymentId: null, number: null });
  });

  it('a payment of a once-link that is in the archive is followed by the next one', async () => {
    const linkId = await newLink();
    const { paymentId } = await archiveRow(owner, merchantId, '2026-01-01');
    expect((await open(linkId, paymentId, 1)).outcome).toBe('new');
    const next = randomUUID();
    expect(await open(linkId, next, 2)).toEqual({ outcome: 'new', paymentId: next, number: 2 });
  });

  it('a reusable link has a number for each attempt, and one for a repeat', async () => {
    const linkId = await newLink({ kind: 'reusable' });
    const [first, second] = [randomUUID(), randomUUID()];
    const opened = await Promise.all([first, second, first].map((id) => open(linkId, id, null)));
    expect(new Set(opened.map(({ paymentId }) => paymentId))).toEqual(new Set([first, second]));
    expect(new Set(opened.map(({ number }) => number))).toEqual(new Set([1, 2]));
  });

  it('a link that is closed, or ends within a minute, gives none', async () => {
    const closed = await newLink();
    await api.query("update payment_links set closed_at = $2, closed_by = 'key:test' where id = $1", [closed, AT]);
    expect((await open(closed, randomUUID(), 1)).outcome).toBe('closed');
    const ending = await newLink({ expires_at: new Date(AT.getTime() + 59_000) });
    expect((await open(ending, randomUUID(), 1)).outcome).toBe('expired');
  });

  it('at most 20 within a minute', async () => {
    const linkId = await newLink({ kind: 'reusable' });
    for (let count = 0; count < LINK_LIMITS.perMinute; count += 1) {
      expect((await open(linkId, randomUUID(), null)).outcome).toBe('new');
    }
    expect((await open(linkId, randomUUID(), null)).outcome).toBe('too_many_new');
    const before = new Date(AT.getTime() + 59_999);
    expect((await open(linkId, randomUUID(), null, before)).outcome).toBe('too_many_new');
    const later = new Date(AT.getTime() + 60_000);
    expect((await open(linkId, randomUUID(), null, later)).outcome).toBe('new');
  });

  it('at most 200 that can be paid at the same time', async () => {
    const linkId = await newLink({ kind: 'reusable' });
    const shop = { name: 'Busy', feePayer: 'merchant', providers: ['gopay'], approve: true } as const;
    const { id } = await insertMerchant(owner, shop);
    const seeded = { count: LINK_LIMITS.open, from: AT.toISOString(), rareOneIn: 5, sameReference: 1 };
    await seedPayments(owner, id, seeded);
    await owner.query("update payments set status = 'pending' where merchant_id = $1", [id]);
    await owner.query(
      `insert into payment_link_payments (link_id, number, payment_id, created_at)
       select $1, row_number() over (), id, $3 from payments where merchant_id = $2`,
      [linkId, id, new Date(AT.getTime() - 120_000)],
    );
    expect((await open(linkId, randomUUID(), null)).outcome).toBe('too_many_open');
    await owner.query(
      `update payments set status = 'expired'
       where id = (select id from payments where merchant_id = $1 limit 1)`,
      [id],
    );
    expect((await open(linkId, randomUUID(), null)).outcome).toBe('new');
  });

  it('at most 10,000 in all', async () => {
    const linkId = await newLink({ kind: 'reusable' });
    await owner.query(
      `insert into payment_link_payments (link_id, number, payment_id, created_at)
       values ($1, $2, gen_random_uuid(), $3)`,
      [linkId, LINK_LIMITS.payments - 1, new Date(AT.getTime() - 86_400_000)],
    );
    expect((await open(linkId, randomUUID(), null)).outcome).toBe('new');
    expect((await open(linkId, randomUUID(), null)).outcome).toBe('used_up');
  });

  it.each(['dashboard', 'operator', 'reader', 'worker', 'payouts', 'verifier'] as const)(
    'the role of the %s cannot give one',
    async (role) => {
      const pool = createPool(database.urlOf(`lunas_local_${role}`), { max: 1 });
      const wanted = { linkId: randomUUID(), paymentId: randomUUID(), number: 1, at: AT };
      await expect(openLinkNumber(pool, wanted)).rejects.toThrow('permission denied');
      await pool.end();
    },
  );
});

/** What each role may do with the two tables, in the order of both. */
const RIGHTS = [
  ['lunas_api', ['select', 'insert', 'update'], ['select', 'insert']],
  ['lunas_dashboard', ['select', 'insert', 'update'], ['select']],
  ['lunas_operator', ['select'], ['select']],
  ['lunas_reader', ['select'], ['select']],
  ['lunas_worker', [], []],
  ['lunas_payouts', [], []],
  ['lunas_verifier', [], []],
] as const;

it.each(RIGHTS)('%s has these rights to payment links, and no other', async (role, links, numbers) => {
  const rightsTo = async (table: string) => {
    const { rows } = await owner.query<{ name: string }>(
      `select name from unnest(array['select', 'insert', 'update']) with ordinality as rights (name, position)
       where has_any_column_privilege($1, $2, name)
       union all
       select name from unnest(array['delete', 'truncate']) rights (name) where has_table_privilege($1, $2, name)`,
      [role, table],
    );
    return rows.map(({ name }) => name);
  };
  expect([await rightsTo('payment_links'), await rightsTo('payment_link_payments')]).toEqual([links, numbers]);
});

it('only the close of a link can be written by the roles that write links', async () => {
  const { rows } = await owner.query<{ name: string }>(
    `select attname as name from pg_attribute
     where attrelid = 'payment_links'::regclass and attnum > 0
       and has_column_privilege('lunas_api', attrelid, attnum, 'update')`,
  );
  expect(rows.map(({ name }) => name)).toEqual(['closed_at', 'closed_by']);
});
