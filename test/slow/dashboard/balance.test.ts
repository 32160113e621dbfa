import { dayInWib } from '../../../src/domain/wib';
import { insertMerchant } from '../../../src/services/merchants/merchants';
import { getStatement } from '../../../src/services/payouts/balance';
import { applyTransitions } from '../../services/ledger/transition-path';
import { startBrowser } from '../../support/browser';
import { closeDaysUntil } from '../../support/close-days';
import { startTestDashboard, type TestDashboard } from '../../support/dashboard';
import { eventually } from '../../support/eventually';
import { newTerms, type TestLedger } from '../../support/payments';
import { createMember, createShop } from '../../support/people';
import { insertCatalog } from '../../support/seed-payments';
import { newNamespace, startTestService, type TestService } from '../../support/service';

const SETTLED = ['issue', 'pay', 'settle'] as const;
const REFUNDED = ['issue', 'pay', 'request_refund', 'submit_refund', 'confirm_refund'] as const;
const EMAIL = 'finance@shop.test';
/** More than a page has. */
const SETTLEMENTS = 60;

let service: TestService;
let dashboard: TestDashboard;
let ledger: TestLedger;
let home: string;
let cookie: string;
/** The day on which the first lines are booked: it is closed. The open day has the others. */
let closedDay: string;
let openDay: string;

beforeAll(async () => {
  service = await startTestService(await newNamespace());
  dashboard = await startTestDashboard(service);
  const { db } = service;
  const merchant = await insertMerchant(db, {
    name: 'Toko',
    feePayer: 'merchant',
    providers: ['gopay'],
    approve: true,
  });
  await createMember(db, EMAIL, [[merchant.id, 'finance']]);
  cookie = await dashboard.cookie(EMAIL);
  home = `/m/${merchant.code}`;
  const [policyId, providerAccountId] = await insertCatalog(db);
  const terms = { merchantId: merchant.id, policyId, providerAccountId };
  ledger = {
    db,
    merchantId: merchant.id,
    context: { db, environment: 'sandbox', onDeliveries: () => undefined },
    newTerms: (changes = {}) => newTerms({ ...terms, ...changes }),
    close: () => Promise.resolve(),
  };
  for (let count = 0; count < SETTLEMENTS; count += 1) await settle(1_000 + count);
  closedDay = await scalar('select max(booked_on)::text from balance_transactions');
  await closeDaysUntil(db, `'${closedDay}'`);
  await applyTransitions(ledger, REFUNDED, amountsOf(49_650, 350));
  openDay = await scalar('select max(booked_on)::text from balance_transactions');
});
afterAll(async () => {
  await dashboard.close();
  await service.close();
});

const settle = (netRupiah: number) => applyTransitions(ledger, SETTLED, amountsOf(netRupiah, 7));

function amountsOf(netRupiah: number, feeRupiah: number) {
  const totalRupiah = netRupiah + feeRupiah;
  return { netRupiah, feeRupiah, totalRupiah, amountRupiah: totalRupiah };
}

async function scalar(query: string): Promise<string> {
  const { rows } = await service.db.query<Record<string, string>>(query);
  return Object.values(rows[0] ?? {})[0] ?? '';
}

async function open(path: string, as = cookie): Promise<{ status: number; text: string }> {
  const response = await fetch(`${dashboard.url}${path}`, { headers: { cookie: as }, redirect: 'manual' });
  const html = await response.text();
  const text = html
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll('\u00a0', ' ')
    .replaceAll(/\s+/g, ' ');
  return { status: response.status, text };
}

const rupiah = (amount: number) => {
  const digits = String(Math.abs(amount)).replace(/\B(?=(\d{3})+$)/g, '.');
  return `${amount < 0 ? '−' : ''}Rp ${digits}`;
};

/** All statement lines that the pages show, in their order: the amount, and the balance after it. */
async function shownLines(day: string): Promise<[amount: string, after: string][]> {
  const lines: [string, string][] = [];
  let next: string | undefined = `${home}/balance/days/${day}`;
  while (next !== undefined) {
    const response: Response = await fetch(`${dashboard.url}${next}`, { headers: { cookie } });
    const html = (await response.text()).replaceAll('\u00a0', ' ');
    const rows = html.split('<tr role="row">').slice(2);
    for (const row of rows) {
      const [amount = '', after = ''] = row.match(/[+−]?(?:<!-- -->)?Rp [\d.]+/g) ?? [];
      lines.push([amount, after]);
    }
    next = /href="([^"]*\?after=[^"]*)"/.exec(html)?.[1];
  }
  return lines;
}

it('a statement shows each line once over its pages, and the same sums as the ledger', async () => {
  const { merchantId, db } = ledger;
  const statement = await getStatement(db, merchantId, closedDay, { limit: 1_000 });
  expect(statement.lines).toHaveLength(SETTLEMENTS);
  expect(await shownLines(closedDay)).toEqual(
    statement.lines.map(({ amountRupiah, balanceAfterRupiah }) => [
      `+${rupiah(amountRupiah)}`,
      rupiah(balanceAfterRupiah),
    ]),
  );
  const { text } = await open(`${home}/balance/days/${closedDay}`);
  for (const amount of [statement.openingRupiah, statement.closingRupiah]) expect(text).toContain(rupiah(amount));
  expect(text).toContain(`${SETTLEMENTS} lines`);
  expect(text).not.toContain('Provisional');
});

it('a statement has a CSV with the same lines, which is recorded', async () => {
  const { merchantId, db } = ledger;
  const page = await fetch(`${dashboard.url}${home}/balance/days/${closedDay}`, { headers: { cookie } });
  const link = /href="([^"]*\.csv)"/.exec(await page.text())?.[1] ?? '';
  const response = await fetch(`${dashboard.url}${link}`, { headers: { cookie } });
  expect(response.headers.get('content-disposition')).toBe(`attachment; filename="balance-${closedDay}.csv"`);
  const [head, ...rows] = (await response.text()).trimEnd().split('\r\n');
  expect(head).toBe('booked_on,occurred_at,kind,reference,merchant_reference_id,amount,balance_after,state');
  const statement = await getStatement(db, merchantId, closedDay, { limit: 1_000 });
  const [, , , reference, , amount, after, state] = rows[0]?.split(',') ?? [];
  expect([reference, amount, after, state]).toEqual([statement.lines[0]?.referenceId, '1000', '1000', 'closed']);
  expect(rows.map((row) => Number(row.split(',').at(-2)))).toEqual(
    statement.lines.map(({ balanceAfterRupiah }) => balanceAfterRupiah),
  );
  expect(
    await scalar(
      `select action.target || ' ' || outcome.outcome from user_actions action
         join user_action_outcomes outcome on outcome.action_id = action.id
       where action.action = 'statement.export'`,
    ),
  ).toBe(`${closedDay} succeeded`);
  expect((await open(`${home}/balance/days/2026-02-30.csv`)).status).toBe(404);
});

it('the open day is provisional, and opens with the closing of the day before', async () => {
  const { merchantId, db } = ledger;
  const before = await getStatement(db, merchantId, closedDay, { limit: 1 });
  const { text } = await open(`${home}/balance/days/${openDay}`);
  expect(text).toContain('Provisional');
  expect(text).toContain(`Opening ${rupiah(before.closingRupiah)} In Rp 0 Out −Rp 350`);
  expect(text).toContain(`Closing ${rupiah(before.closingRupiah - 350)}`);
});

it('the worker counts the lines of the open day, and the page shows the same balance', async () => {
  const counted = await eventually(
    () => scalar(`select coalesce(sum(line_count), 0)::text from open_balance_days where day = '${openDay}'`),
    (count) => count !== '0',
  );
  expect(counted).toBe('1');
  const sum = Number(await scalar('select sum(amount_rupiah) from balance_transactions'));
  expect((await open(`${home}/balance`)).text).toContain(`Available ${rupiah(sum)}`);
});

it('the CSV of the open day shows in its name and in each line that it is not final', async () => {
  const response = await fetch(`${dashboard.url}${home}/balance/days/${openDay}.csv`, { headers: { cookie } });
  const name = `balance-${openDay}-provisional.csv`;
  expect(response.headers.get('content-disposition')).toBe(`attachment; filename="${name}"`);
  const [, ...rows] = (await response.text()).trimEnd().split('\r\n');
  expect(rows).toHaveLength(1);
  expect(rows[0]).toMatch(/,-350,\d+,provisional$/);
});

it('a statement of several days, as a page and as CSV, has the sums of its days, and marks the open one', async () => {
  const { merchantId, db } = ledger;
  const [closed, openOne] = await Promise.all(
    [closedDay, openDay].map((day) => getStatement(db, merchantId, day, { limit: 1_000 })),
  );
  if (!closed || !openOne) throw new Error('No statement');
  const path = `${home}/balance/statement`;
  const days = `from=${closedDay}&to=${openDay}`;
  const { text } = await open(`${path}?${days}`);
  const [credit, debit] = [closed.creditRupiah + openOne.creditRupiah, closed.debitRupiah + openOne.debitRupiah];
  const [opening, closing] = [rupiah(closed.openingRupiah), rupiah(openOne.closingRupiah)];
  expect(text).toContain(`Opening ${opening} In +${rupiah(credit)} Out −${rupiah(debit)} Closing ${closing}`);
  expect(text).toContain('Provisional');
  expect((await open(`${path}?from=${closedDay}&to=${closedDay}`)).text).toContain('Final');
  const response = await fetch(`${dashboard.url}${path}.csv?${days}`, { headers: { cookie } });
  const name = `balance-${closedDay}-${openDay}-provisional.csv`;
  expect(response.headers.get('content-disposition')).toBe(`attachment; filename="${name}"`);
  const [, first, ...rows] = (await response.text()).trimEnd().split('\r\n');
  const last = rows.pop();
  expect(first).toBe(`${closedDay},,opening,,,,${closed.openingRupiah},`);
  expect(last).toBe(`${openDay},,closing,,,,${openOne.closingRupiah},provisional`);
  expect(rows.map((row) => Number(row.split(',').at(-2)))).toEqual(
    [...closed.lines, ...openOne.lines].map(({ balanceAfterRupiah }) => balanceAfterRupiah),
  );
  expect(rows.map((row) => row.split(',').at(-1))).toEqual([...closed.lines.map(() => 'closed'), 'provisional']);
});

it.each([
  ['from=2026-02-30&to=2026-03-01', 'Write the day as 2026-11-25.'],
  ['from=2026-03-02&to=2026-03-01', 'The first day is after the last one.'],
  ['from=2024-01-01&to=2025-01-01', 'A statement has at most 366 days.'],
  ['from=2099-01-01&to=2099-01-31', 'This day has not begun yet.'],
  ['from=2026-03-02', 'Write the day as 2026-11-25.'],
])('days that are not possible are named, and have no statement: %s', async (days, message) => {
  const { status, text } = await open(`${home}/balance/statement?${days}`);
  expect([status, text]).toEqual([422, expect.stringContaining(message)]);
  expect(text).not.toContain('Closing');
});

it('a statement of a year has 366 days, and without days it is that of this month', async () => {
  expect((await open(`${home}/balance/statement?from=2024-01-01&to=2024-12-31`)).status).toBe(200);
  const response = await fetch(`${dashboard.url}${home}/balance/statement`, {
    headers: { cookie },
    redirect: 'manual',
  });
  expect([response.status, response.headers.get('location')]).toEqual([
    303,
    expect.stringMatching(/\/balance\/statement\?from=\d{4}-\d\d-01&to=\d{4}-\d\d-\d\d$/),
  ]);
});

it('a statement of two days is one sheet of A4, on which each amount is inside its table', async () => {
  const browser = await startBrowser();
  try {
    const page = await browser.newPage({ viewport: { width: 703, height: 1_032 } });
    await dashboard.signIn(page.context(), EMAIL);
    await page.goto(`${dashboard.url}${home}/balance/statement?from=${closedDay}&to=${openDay}`);
    const sheets = (await page.pdf({ format: 'A4', preferCSSPageSize: true })).toString('latin1');
    expect(sheets.match(/\/Type \/Page\b/g)).toHaveLength(1);
    await page.emulateMedia({ media: 'print' });
    const right = (box: { x: number; width: number } | null) => (box ? box.x + box.width : Number.NaN);
    expect(right(await page.locator('table').boundingBox())).toBeLessThanOrEqual(703);
  } finally {
    await browser.close();
  }
});

it('the page of the balance shows the sum of all lines and its newest changes first', async () => {
  const sum = Number(await scalar(`select sum(amount_rupiah) from balance_transactions`));
  const { status, text } = await open(`${home}/balance?month=${openDay.slice(0, 7)}`);
  expect(status).toBe(200);
  expect(text).toContain(`Available ${rupiah(sum)}`);
  expect(text.indexOf('−Rp 350')).toBeLessThan(text.indexOf(`+${rupiah(1_000 + SETTLEMENTS - 1)}`));
});

it.each(['2026-02-30', 'yesterday', '2099-01-01', '1999-12-31', '9'.repeat(400)])(
  'the day %s has no statement',
  async (day) => {
    expect((await open(`${home}/balance/days/${day}`)).status).toBe(404);
  },
);

it('the first day has no day before, and the days before it have no statement', async () => {
  const { id, code } = await createShop(service.db);
  await createMember(service.db, 'first-day@shop.test', [[id, 'owner']]);
  const as = await dashboard.cookie('first-day@shop.test');
  const read = async (day: string) => {
    const response = await fetch(`${dashboard.url}/m/${code}/balance/days/${day}`, { headers: { cookie: as } });
    return { status: response.status, hasEarlier: /Day before|Hari sebelumnya/.test(await response.text()) };
  };
  const today = dayInWib(new Date());
  expect(await read(today)).toEqual({ status: 200, hasEarlier: false });
  expect(await read('2020-01-01')).toMatchObject({ status: 404 });
});

it.each(['not-a-cursor', 'OTk5', '%00', ''])('a cursor that is none (%s) shows the first lines', async (after) => {
  const { status, text } = await open(`${home}/balance/days/${closedDay}?after=${after}`);
  expect([status, text.includes(`+${rupiah(1_000)} `)]).toEqual([200, true]);
});

it.each(['2026-13', '1', 'x', '2099-01'])('the month %s shows the current one', async (month) => {
  expect((await open(`${home}/balance?month=${month}`)).status).toBe(200);
});
