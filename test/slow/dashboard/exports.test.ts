import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { createInterface, type Interface } from 'node:readline';
import { dayInWib } from '../../../src/domain/wib';
import { collectGarbage } from '../../support/collect-garbage';
import { startTestDashboard, type TestDashboard } from '../../support/dashboard';
import { eventually } from '../../support/eventually';
import { createMember, createShop } from '../../support/people';
import { seedPayments } from '../../support/seed-payments';
import { newNamespace, startTestService, type TestService } from '../../support/service';

const ROWS = 200_000;
/** One statement with all rows would take too long. */
const BATCHES = 20;
const MAX_GROWTH_BYTES = 30_000_000;

let service: TestService;
let dashboard: TestDashboard;
let shop: string;
let home: string;
/** The path of the payments. */
let path: string;

beforeAll(async () => {
  service = await startTestService(await newNamespace());
  dashboard = await startTestDashboard(service);
  shop = (await createShop(service.db)).id;
  for (let batch = 0; batch < BATCHES; batch += 1) {
    const from = new Date(Date.parse('2026-11-01T00:00:00Z') + batch * 3 * 3_600_000).toISOString();
    await seedPayments(service.db, shop, { count: ROWS / BATCHES, from, rareOneIn: 1_000, sameReference: 3 });
  }
  await service.db.query(
    `update payments set merchant_reference_id = '=1+1'
     where id = (select id from payments where merchant_id = $1 limit 1)`,
    [shop],
  );
  const { rows } = await service.db.query<{ code: string }>('select code from merchants where id = $1', [shop]);
  home = `/m/${rows[0]?.code}`;
  path = `${home}/payments.csv`;
});
afterAll(async () => {
  await dashboard.close();
  await service.close();
});

async function cookieOf(email: string): Promise<string> {
  await createMember(service.db, email, [[shop, 'viewer']]);
  return dashboard.cookie(email);
}

const open = (query: string, cookie: string) => openFile(path + query, cookie);

async function openFile(file: string, cookie: string): Promise<IncomingMessage> {
  const sent = request(new URL(file, dashboard.url), { headers: { cookie } }).end();
  const [response] = await once(sent, 'response');
  return response;
}

/** By default `readline` makes two lines of CR and LF that arrive 100 ms apart. */
function linesIn(input: IncomingMessage): Interface {
  return createInterface({ input, crlfDelay: Infinity });
}

/** Reads a file as it arrives. @returns by how many bytes the memory grew meanwhile */
async function readInBoundedMemory(response: IncomingMessage, onLine: (line: string) => void): Promise<number> {
  let [count, most] = [0, 0];
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  for await (const line of linesIn(response)) {
    count += 1;
    onLine(line);
    if (count % 25_000 !== 0) continue;
    collectGarbage();
    most = Math.max(most, process.memoryUsage().heapUsed);
  }
  return most - before;
}

async function linesOf(response: IncomingMessage): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of linesIn(response)) lines.push(line);
  return lines;
}

it(`exports ${ROWS} payments, each once and in order, in bounded memory`, async () => {
  const response = await open('?delimiter=,', await cookieOf('all@shop.test'));
  const hash = createHash('sha256');
  let [count, escaped] = [0, 0];
  const growth = await readInBoundedMemory(response, (line) => {
    count += 1;
    if (line.includes(",'=1+1,")) escaped += 1;
    if (count > 1) hash.update(`${line.split(',')[1]}\n`);
  });
  expect([count, escaped]).toEqual([ROWS + 1, 1]);
  expect(growth).toBeLessThan(MAX_GROWTH_BYTES);
  const { rows } = await service.db.query<{ sha256: string }>(
    `select encode(sha256(convert_to(string_agg(id || E'\\n', '' order by created_at desc, id desc), 'UTF8')), 'hex')
       as sha256 from payments where merchant_id = $1`,
    [shop],
  );
  expect(hash.digest('hex')).toBe(rows[0]?.sha256);
});

it(`exports a day of the balance with ${ROWS} lines, each once, in bounded memory`, async () => {
  const day = dayInWib(new Date());
  await service.db.query(
    `insert into balance_transactions (posting_id, merchant_id, kind, amount_rupiah, payment_id, occurred_at, booked_on)
     select 1000000000 + row_number() over (), merchant_id, 'settlement', 1, id, now(), $2
     from payments where merchant_id = $1`,
    [shop, day],
  );
  // A file of an open day has the counted lines.
  await eventually(
    () => service.db.query('select from totals_progress where line_posting_id >= 1000000000 + $1', [ROWS]),
    ({ rowCount }) => rowCount === 1,
  );
  const response = await openFile(`${home}/balance/days/${day}.csv?delimiter=,`, await cookieOf('day@shop.test'));
  let [balance, others] = [0, 0];
  const growth = await readInBoundedMemory(response, (line) => {
    // Each line adds one rupiah to the balance after it.
    if (line.endsWith(`,${balance + 1},provisional`)) balance += 1;
    else others += 1;
  });
  expect([response.statusCode, balance, others]).toEqual([200, ROWS, 1]);
  expect(growth).toBeLessThan(MAX_GROWTH_BYTES);
});

it('exports what the list shows, with amounts as integers and times of the zone', async () => {
  const cookie = await cookieOf('filter@shop.test');
  const lines = await linesOf(await open('?status=refunded&delimiter=%3B', cookie));
  const { rows } = await service.db.query<{ count: number }>(
    "select count(*)::int as count from payments where merchant_id = $1 and status = 'refunded'",
    [shop],
  );
  expect(lines).toHaveLength(1 + (rows[0]?.count ?? 0));
  expect(lines[0]).toMatch(/^\uFEFFreference_id;id;merchant_reference_id;status;/);
  expect(lines[1]).toMatch(/;refunded;gopay;IDR;50000;350;50000;49650;2026-11-\d\dT[\d:]{8}\+07:00;/);
});

it('finds a rare payment behind more than 2,000 others', async () => {
  const lines = await linesOf(await open('?group=paid&provider=shopeepay', await cookieOf('rare@shop.test')));
  const { rows } = await service.db.query<{ count: number }>(
    `select count(*)::int as count from payments where merchant_id = $1 and provider = 'shopeepay'
       and status in ('paid', 'settled', 'refund_processing', 'refund_failed', 'refunded')`,
    [shop],
  );
  expect(lines).toHaveLength(1 + (rows[0]?.count ?? 0));
});

it('ends its statements when the client leaves, records that, and lets the user export again', async () => {
  const cookie = await cookieOf('leaves@shop.test');
  const response = await open('', cookie);
  await once(response, 'readable');
  expect((await open('', cookie)).statusCode).toBe(429);
  response.destroy();
  const readOutcomes = async () => {
    const { rows } = await service.db.query(
      `select from user_actions action join user_action_outcomes outcome on outcome.action_id = action.id
       join users on users.id = action.user_id
       where users.email = 'leaves@shop.test' and action.action = 'payments.export' and outcome.outcome = 'rejected'`,
    );
    return rows.length;
  };
  await eventually(readOutcomes, (count) => count === 1);
  const { rows } = await service.db.query(
    "select from pg_stat_activity where usename like '%dashboard%' and state = 'active' and query like '%payments%'",
  );
  expect(rows).toHaveLength(0);
  expect((await open('?status=failed', cookie)).statusCode).toBe(200);
});

it('lets a user export 30 small files an hour, of which each with more than 10,000 rows counts as five', async () => {
  const cookie = await cookieOf('often@shop.test');
  const statuses: (number | undefined)[] = [];
  for (const query of ['', ...Array.from({ length: 26 }, () => '?q=none')]) {
    const response = await open(query, cookie);
    await linesOf(response);
    statuses.push(response.statusCode);
  }
  expect(statuses).toEqual([...Array.from({ length: 26 }, () => 200), 429]);
});

it('leads to the list if a filter is not possible', async () => {
  const response = await open('?from=yesterday', await cookieOf('wrong@shop.test'));
  expect([response.statusCode, response.headers.location]).toEqual([303, `${path.replace('.csv', '')}?from=yesterday`]);
});
