import * as fc from 'fast-check';
import {
  listMerchantPayments,
  listStatement,
  type MerchantPaymentFilter,
} from '../../../../src/db/payments/list-payments';
import { PAYMENT_STATUSES } from '../../../../src/domain/payment-transitions';
import { PROVIDERS } from '../../../../src/domain/provider-capabilities';
import { startTestApis, type TestApis, type TestKey } from '../../../support/api';
import { expectContract } from '../../../support/contract';
import { seedPayments } from '../../../support/seed-payments';

const PUBLIC_BASE_URL = 'https://pay.example.com/lunas';
const BEGIN = '2026-11-01T00:00:00.000Z';
const COUNT = 300;
/** Three payments in each second from `BEGIN` on. */
const at = (seconds: number) => new Date(Date.parse(BEGIN) + seconds * 1_000).toISOString();

let apis: TestApis;
let key: TestKey;
let otherKey: TestKey;
beforeAll(async () => {
  apis = await startTestApis([{ publicBaseUrl: PUBLIC_BASE_URL }]);
  [key, otherKey] = [await apis.newKey(), await apis.newKey()];
  for (const { merchantId } of [key, otherKey]) {
    await seedPayments(apis.db, merchantId, { count: COUNT, from: BEGIN, rareOneIn: 3, sameReference: 6 });
  }
});
afterAll(() => apis.close());

interface Page {
  readonly status: number;
  readonly ids: readonly string[];
  /** The query of the next page. */
  readonly next: string | undefined;
  readonly body: { transactions: Record<string, unknown>[]; error?: { code: string; message: string } };
}

async function list(query: string, { secret } = key): Promise<Page> {
  const path = `/transactions${query}`;
  const response = await fetch(apis.urls[0] + path, { headers: { authorization: `Bearer ${secret}` } });
  const body: Page['body'] = JSON.parse(await response.text());
  expectContract('GET', path, { status: response.status, headers: response.headers, body });
  const link = response.headers.get('link');
  const [, next] = /^<https:\/\/pay\.example\.com\/lunas\/transactions(\?[^>]*)>; rel="next"$/.exec(link ?? '') ?? [];
  expect(next === undefined).toBe(link === null);
  return { status: response.status, ids: (body.transactions ?? []).map(({ id }) => String(id)), next, body };
}

/** Follows the links to the end. */
async function listAll(query: string, between: () => Promise<unknown> = () => Promise.resolve()): Promise<string[]> {
  const ids: string[] = [];
  for (let next: string | undefined = query; next !== undefined;) {
    const page: Page = await list(next);
    ids.push(...page.ids);
    next = page.next;
    await between();
  }
  return ids;
}

interface ModelRow {
  readonly id: string;
  readonly created: string;
  readonly status: string;
  readonly provider: string;
  readonly merchant_reference_id: string | null;
}

/** All payments of the merchant, unordered. */
async function everyPayment(): Promise<ModelRow[]> {
  const { rows } = await apis.db.query<ModelRow>(
    `select id, iso_utc(created_at) as created, status, provider, merchant_reference_id from payments
     where merchant_id = $1`,
    [key.merchantId],
  );
  return rows;
}

const newestFirst = (a: ModelRow, b: ModelRow) =>
  a.created === b.created ? (a.id < b.id ? 1 : -1) : a.created < b.created ? 1 : -1;

describe('GET /transactions', () => {
  it('200: returns exactly the fields of the contract, newest first', async () => {
    const { body, ids } = await list('');
    expect(Object.keys(body)).toEqual(['transactions']);
    expect(Object.keys(body.transactions[0] ?? {})).toEqual([
      'id',
      'reference_id',
      'merchant_reference_id',
      'payment_method_code',
      'currency',
      'amount',
      'fee_amount',
      'net_amount',
      'total_amount',
      'status',
      'paid_at',
      'created_at',
      'updated_at',
    ]);
    const newest = (await everyPayment()).sort(newestFirst).slice(0, 50);
    expect(ids).toEqual(newest.map(({ id }) => id));
  });

  it('200: an empty list without a link for a merchant without transactions', async () => {
    expect(await list('', await apis.newKey())).toEqual({
      status: 200,
      ids: [],
      next: undefined,
      body: { transactions: [] },
    });
  });

  it.each([
    ['', 50],
    ['?limit=1', 1],
    ['?limit=100', 100],
    ['?limit=101', 100],
    [`?limit=${'9'.repeat(400)}`, 100],
    ['?limit=0', 1],
    ['?limit=-7', 1],
    ['?limit=7.9', 7],
    ['?limit=', 50],
    ['?limit=ten', 50],
    ['?limit=0x10', 50],
    ['?limit=1e1', 50],
    ['?limit=NaN', 50],
    ['?limit=Infinity', 50],
    ['?limit=3&limit=4', 50],
    ['?limit[]=3', 50],
    ['?Limit=3&unknown=x', 50],
  ])('200: %s has %i of them', async (query, count) => {
    const { status, ids } = await list(query);
    expect([status, ids.length]).toEqual([200, count]);
  });

  it('200: has a link exactly if there are more transactions', async () => {
    expect((await list(`?limit=100&created_from=${at(67)}`)).next).toBeUndefined();
    const page = await list(`?limit=98&created_from=${at(67)}`);
    expect(page.ids).toHaveLength(98);
    expect((await list(page.next ?? '')).ids).toHaveLength(1);
    const exact = await list(`?limit=99&created_from=${at(67)}`);
    expect([exact.ids.length, exact.next]).toEqual([99, undefined]);
  });

  it('200: accepts a whole day, UTC, and a timestamp in any zone, with its plus sign encoded or not', async () => {
    await seedPayments(apis.db, key.merchantId, {
      count: 6,
      from: '2026-10-09T23:59:59Z',
      rareOneIn: 3,
      sameReference: 6,
    });
    for (const [query, count] of [
      ['created_from=2026-10-09&created_to=2026-10-09', 3],
      ['created_from=2026-10-10&created_to=2026-10-10', 3],
      ['created_from=2026-10-09&created_to=2026-10-10', 6],
      ['created_from=2026-10-10T06:59:59%2B07:00&created_to=2026-10-10T06:59:59.999%2B07:00', 3],
      ['created_from=2026-10-10T07:00:00+07:00&created_to=2026-10-10T07:00:00+07:00', 3],
      ['created_from=2026-10-10T07:00:00+0700&created_to=2026-10-10T07:00%2B07:00', 3],
      ['created_from=2026-10-10%2000:00:00Z&created_to=2026-10-10t00:00:00z', 3],
      ['created_from=2026-10-10T00:00:00.001Z&created_to=2026-10-11', 0],
      ['created_from=0001-01-01&created_to=9999-12-31T23:59:59-23:59&limit=6', 6],
      ['created_from=0000-01-01T00:00:00%2B23:59&created_to=2026-10-31', 6],
    ]) {
      expect([query, (await list(`?${query}`)).ids.length]).toEqual([query, count]);
    }
    await apis.db.query("delete from payments where created_at < '2026-10-31'");
  });

  it('200: lists every transaction once, while others are created before, after and among them', async () => {
    const before = (await everyPayment()).sort(newestFirst).map(({ id }) => id);
    const pages = { count: 0 };
    const seen = await listAll('?limit=20', async () => {
      pages.count += 1;
      const newer = { count: 6, from: at(1_000 + pages.count), rareOneIn: 3, sameReference: 6 };
      await seedPayments(apis.db, key.merchantId, newer);
      await seedPayments(apis.db, key.merchantId, { ...newer, count: 3, from: at(50) });
    });
    expect(pages.count).toBeGreaterThan(15);
    expect(new Set(seen).size).toBe(seen.length);
    const added = new Set(seen.filter((id) => !before.includes(id)));
    expect(seen.filter((id) => !added.has(id))).toEqual(before);
    expect(added.size).toBeGreaterThan(0);
  });

  it('200: any filters, in pages of any size, list the same as an unpaged search, and nothing of others', async () => {
    const rows = await everyPayment();
    const timestamp = fc.integer({ min: -10, max: 110 }).map(at);
    const filters = fc.record(
      {
        status: fc.constantFrom(...PAYMENT_STATUSES),
        provider: fc.constantFrom(...PROVIDERS),
        merchant_reference_id: fc.constantFrom('ORDER-0', 'ORDER-7', 'ORDER-49', 'ORDER-1000', ''),
        created_from: timestamp,
        created_to: timestamp,
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(filters, fc.integer({ min: 5, max: 100 }), async (filter, limit) => {
        const { created_from = '', created_to = '9', ...equal } = filter;
        const expected = rows
          .filter((row) => row.created >= created_from && row.created <= created_to)
          .filter((row) =>
            Object.entries(equal).every(([name, value]) =>
              Object.entries(row).some(([field, held]) => field === name && held === value),
            ),
          )
          .sort(newestFirst);
        const query = new URLSearchParams({ ...filter, limit: String(limit) });
        expect(await listAll(`?${query.toString()}`)).toEqual(expected.map(({ id }) => id));
      }),
      { numRuns: 60 },
    );
  });

  it('200: a search finds beginnings in any case and amounts, and first the order itself', async () => {
    const own = await apis.newKey();
    await seedPayments(apis.db, own.merchantId, { count: 6, from: BEGIN, rareOneIn: 3, sameReference: 1 });
    // The oldest payment has number 0.
    await apis.db.query(
      `update payments set (merchant_reference_id, reference_id, amount_rupiah, total_rupiah, net_rupiah) =
         (wanted.order_id, wanted.reference_id, wanted.total, wanted.total, wanted.total - fee_rupiah)
       from (select id, row_number() over (order by created_at, id) - 1 as number
           from payments where merchant_id = $1) own
         join (values (0, 'MEJA-7', 'LN07AAAAAAAAAAAAAAAA', 75000), (1, 'meja-70', 'LN07AAAAAAAAAAAAAAAB', 50000),
           (2, '75000', 'LN07BAAAAAAAAAAAAAAA', 50000), (3, '75000-1', 'LN07BBAAAAAAAAAAAAAA', 50000),
           (4, null, 'LN07BBBAAAAAAAAAAAAA', 75000), (5, 'M%', 'LN07CAAAAAAAAAAAAAAA', 20000))
           wanted (number, order_id, reference_id, total) on wanted.number = own.number
       where payments.id = own.id`,
      [own.merchantId],
    );
    const found = async (search: string) =>
      (await list(`?search=${encodeURIComponent(search)}`, own)).body.transactions.map(({ reference_id }) =>
        String(reference_id).slice(4, 8),
      );
    for (const [search, expected] of [
      ['meja-7', ['AAAA', 'AAAA']],
      ['MEJA', ['AAAA', 'AAAA']],
      ['meja-70', ['AAAA']],
      ['eja', []],
      ['m%', ['CAAA']],
      ['M_', []],
      ['75000', ['BAAA', 'BBBA', 'BBAA', 'AAAA']],
      ['Rp 75.000', ['BBBA', 'AAAA']],
      ['75.001', []],
      [' ln07bbaa ', ['BBAA']],
      ['LN07AAAA', ['AAAA', 'AAAA']],
      ['LN07CAAAAAAAAAAAAAAA', ['CAAA']],
      ['LN07C', []],
    ] as const) {
      expect([search, await found(search)]).toEqual([search, expected]);
    }
    const page = await list('?search=meja&limit=1', own);
    expect([page.ids.length, page.next]).toEqual([1, undefined]);
    const expanded = await list('?search=meja-70&expand=settlement', own);
    expect(expanded.body.transactions[0]).toMatchObject({ settlement: { kind: 'automatic' } });
  });

  it('200: of more payments than a search shows, it shows the newest, and each of the order itself', async () => {
    const many = await apis.newKey();
    await seedPayments(apis.db, many.merchantId, { count: 600, from: BEGIN, rareOneIn: 3, sameReference: 60 });
    const { rows } = await apis.db.query<{ id: string; order: string }>(
      `select id, merchant_reference_id as "order" from payments
       where merchant_id = $1 and merchant_reference_id is not null order by created_at desc, id desc`,
      [many.merchantId],
    );
    const newest = (await list('?search=order-&limit=20', many)).ids;
    expect(newest).toEqual(rows.slice(0, 20).map(({ id }) => id));
    const one = rows.filter(({ order }) => order === 'ORDER-1').map(({ id }) => id);
    expect((await list('?search=order-1', many)).ids).toEqual(one.slice(0, 50));
    expect((await list('?search=order-1', key)).ids.filter((id) => one.includes(id))).toEqual([]);
  });

  it.each([
    ['status=canceled', 'status must be one of created, pending, paid'],
    ['status=', 'status must be one of'],
    ['status=paid&status=pending', 'status must be given once.'],
    ['provider=dana', 'provider must be one of gopay, shopeepay.'],
    [`merchant_reference_id=${'x'.repeat(65)}`, 'merchant_reference_id must be a string of at most 64 characters.'],
    ['merchant_reference_id=%00', 'merchant_reference_id must not have a NUL.'],
    ['merchant_reference_id=a&merchant_reference_id=b', 'merchant_reference_id must be given once.'],
    ['created_from=2026-11-21&created_from=2026-11-22', 'created_from must be given once.'],
    ['created_from=yesterday', 'created_from must be an ISO 8601 timestamp'],
    ['created_from=2026-11-21T08:00:00', 'created_from must be an ISO 8601 timestamp with its zone'],
    ['created_from=2026-13-01', 'created_from must be an ISO 8601 timestamp'],
    ['created_to=1795248059', 'created_to must be an ISO 8601 timestamp'],
    ['created_to=', 'created_to must be an ISO 8601 timestamp'],
    ['cursor=', 'cursor is not from a Link header; start again without it.'],
    ['cursor=nonsense', 'cursor is not from a Link header'],
    ['cursor=MQ&cursor=MQ', 'cursor must be given once.'],
  ])('400 invalid_parameter: %s names its rule, so that no unfiltered list is returned', async (query, message) => {
    const { status, body } = await list(`?${query}`);
    expect([status, body.error]).toEqual([
      400,
      { code: 'invalid_parameter', message: expect.stringContaining(message) },
    ]);
  });

  it('a changed cursor never fails and never lists payments of other merchants', async () => {
    const cursor = new URLSearchParams((await list('?limit=3')).next).get('cursor') ?? '';
    const own = new Set((await everyPayment()).map(({ id }) => id));
    const character = fc.constantFrom('A', 'Q', 'x', '0', '9', '-', '_', '=', '+', '/', ' ', '\0', 'é');
    await fc.assert(
      fc.asyncProperty(
        fc.nat(cursor.length),
        fc.nat(3),
        fc.array(character, { maxLength: 4 }),
        async (start, cut, put) => {
          const text = cursor.slice(0, start) + put.join('') + cursor.slice(start + cut);
          const { status, ids } = await list(`?cursor=${encodeURIComponent(text)}`);
          expect([200, 400]).toContain(status);
          expect(ids.filter((id) => !own.has(id))).toEqual([]);
        },
      ),
      { numRuns: 150 },
    );
  });

  it('401 invalid_api_key: without a key, for any query', async () => {
    const { status, body } = await list('?status=canceled', { ...key, secret: 'none' });
    expect([status, body.error?.code]).toEqual([401, 'invalid_api_key']);
  });
});

describe('a list among 100,000 transactions', () => {
  const many = { from: '2026-01-01T00:00:00.000Z', rareOneIn: 500, sameReference: 2 };
  let merchantId: string;
  beforeAll(async () => {
    merchantId = (await apis.newKey()).merchantId;
    await seedPayments(apis.db, merchantId, { ...many, count: 90_000 });
    await seedPayments(apis.db, (await apis.newKey()).merchantId, { ...many, count: 10_000 });
    await apis.db.query('analyze payments');
  });

  interface PlanNode {
    readonly 'Node Type': string;
    readonly 'Actual Rows': number;
    readonly 'Rows Removed by Filter'?: number;
    readonly Plans?: readonly PlanNode[];
  }

  async function planOf(filter: MerchantPaymentFilter, limit: number): Promise<PlanNode[]> {
    const { text, values } = listStatement(filter, limit);
    const { rows } = await apis.db.query(`explain (analyze, format json) ${text}`, values);
    const flatten = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(flatten)];
    return flatten(rows[0]['QUERY PLAN'][0].Plan);
  }

  const FILTERS: Omit<MerchantPaymentFilter, 'merchantId' | 'after'> = {
    status: 'refund_failed',
    provider: 'shopeepay',
    merchantReferenceId: 'ORDER-10001',
    createdFrom: new Date('2026-01-01T01:00:00Z'),
    createdTo: new Date('2026-01-01T07:00:00Z'),
  };
  const NAMES = Object.keys(FILTERS);
  const combinations = Array.from({ length: 2 ** NAMES.length }, (_, bits) => {
    const names = NAMES.filter((_name, index) => bits & (2 ** index));
    return [
      names.join(', ') || 'none',
      Object.fromEntries(Object.entries(FILTERS).filter(([name]) => names.includes(name))),
    ] as const;
  });

  it.each(combinations)(
    'reads the first, a middle and the last page from an index; filters: %s',
    async (_names, filter) => {
      for (const createdAt of [undefined, '2026-01-01T04:10:00Z', '2026-01-01T00:00:01Z']) {
        const after = createdAt === undefined ? undefined : { createdAt: new Date(createdAt), id: merchantId };
        const [limit, ...scans] = await planOf({ merchantId, ...filter, after }, 51);
        expect([limit?.['Node Type'], ...scans.map((node) => node['Node Type'])]).toEqual(['Limit', 'Index Scan']);
        const read = scans.reduce((sum, node) => sum + node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0), 0);
        expect(read).toBeLessThanOrEqual(51);
      }
    },
  );

  it('reads a page from an index for frequent values too', async () => {
    for (const filter of [
      { status: 'settled' },
      { provider: 'gopay' },
      { status: 'settled', provider: 'gopay' },
    ] as const) {
      const plan = await planOf({ merchantId, ...filter }, 101);
      expect(plan.map((node) => node['Node Type'])).toEqual(['Limit', 'Index Scan']);
    }
  });

  it('lists each of 90,000 once, page by page, and none of the others', async () => {
    const { rows } = await apis.db.query<{ id: string }>('select id from payments where merchant_id = $1', [
      merchantId,
    ]);
    const left = new Set(rows.map(({ id }) => id));
    expect(left.size).toBe(90_000);
    let after: MerchantPaymentFilter['after'];
    for (;;) {
      const page = await listMerchantPayments(apis.db, { merchantId, after }, 1_000);
      expect(page.filter(({ id }) => !left.delete(id))).toEqual([]);
      after = page.at(-1);
      if (!after) break;
    }
    expect(left.size).toBe(0);
  });
});
