import { randomUUID } from 'node:crypto';
import type { Browser } from 'playwright-core';
import { createSealer } from '../../../src/crypto/sealing';
import { createPool } from '../../../src/db/connection/pool';
import type { MemberRole } from '../../../src/domain/member-roles';
import { seedPayouts } from '../../../src/services/sandbox/seed-payouts';
import { NOTICE_TEXTS } from '../../../src/web/dashboard/notices/notice-texts';
import { ACTION_REJECTION_TEXTS } from '../../../src/web/dashboard/payouts/action-rejection-texts';
import { PAYOUT_FORM_TEXTS } from '../../../src/web/dashboard/payouts/payout-form-texts';
import { PAYOUT_TEXTS } from '../../../src/web/dashboard/payouts/payout-texts';
import { SCHEDULE_TEXTS } from '../../../src/web/dashboard/payouts/schedule-texts';
import { prepareBankAccount } from '../../support/bank-accounts';
import { openPage, startBrowser } from '../../support/browser';
import { startTestDashboard, type TestDashboard } from '../../support/dashboard';
import { eventually } from '../../support/eventually';
import { addLines, preparePayouts } from '../../support/payouts';
import { createMember, createShop } from '../../support/people';
import { newNamespace, startTestService, type TestService } from '../../support/service';

const { en } = PAYOUT_TEXTS;
const forms = PAYOUT_FORM_TEXTS.en;

let service: TestService;
let dashboard: TestDashboard;
let browser: Browser;
let payouts: Awaited<ReturnType<typeof preparePayouts>>;
/** The path of the merchant's payouts. */
let home: string;
/** The cookies of the member who requests, and of the one who approves. */
let requester: string;
let approver: string;

beforeAll(async () => {
  service = await startTestService(await newNamespace());
  [dashboard, browser] = await Promise.all([startTestDashboard(service), startBrowser()]);
  const db = createPool(service.operatorDatabaseUrl, { max: 2 });
  const { sandboxUrl, apiUrl, masterKey } = service;
  await seedPayouts({ db, sealer: createSealer(masterKey), sandboxUrl, apiUrl });
  await db.end();
});
beforeEach(() => openShop());
afterAll(async () => {
  await Promise.all([dashboard.close(), browser.close()]);
  await service.close();
});

/** A shop whose payouts go to this number, with a member who requests and one who approves. */
async function openShop(number?: string): Promise<void> {
  const shop = await createShop(service.db, 'Toko Demo Lunas');
  payouts = await preparePayouts(service, shop.id, number);
  home = `/m/${shop.code}/payouts`;
  requester = await memberAs('finance');
  approver = await memberAs('owner');
}

/** The cookie of a new member. */
async function memberAs(role: MemberRole, name = 'Sri Rahayu'): Promise<string> {
  const email = `${randomUUID()}@shop.test`;
  await createMember(service.db, email, [[payouts.merchantId, role]]);
  await service.db.query('update users set name = $2 where email = $1', [email, name]);
  return dashboard.cookie(email);
}

const textOf = (html: string) =>
  html
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll('\u00a0', ' ')
    .replaceAll(/\s+/g, ' ');

async function open(path: string, cookie: string) {
  const response = await fetch(dashboard.url + path, { headers: { cookie }, redirect: 'manual' });
  const html = await response.text();
  return { status: response.status, html, text: textOf(html) };
}

async function post(path: string, cookie: string, fields: Readonly<Record<string, string>>) {
  const response = await fetch(dashboard.url + path, {
    method: 'POST',
    headers: { cookie, 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(fields).toString(),
    redirect: 'manual',
  });
  const location = response.headers.get('location') ?? '';
  return { status: response.status, text: textOf(await response.text()), location };
}

/** The hidden fields of the form of a page. */
async function formOf(path: string, cookie: string): Promise<Record<string, string>> {
  const { html } = await open(path, cookie);
  const hidden = html.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g);
  const fields = [...hidden].map(([, name = '', value = '']) => [name, value] as const);
  return Object.fromEntries(fields.filter(([name]) => name !== 'language' && name !== 'then'));
}

/** Requests the balance. @returns the path of the payout */
async function request(): Promise<string> {
  const { status, location } = await post(`${home}/new`, requester, await formOf(`${home}/new`, requester));
  expect(status).toBe(303);
  return location.replace('?done=requested', '');
}

async function signedIn(cookie: string) {
  const opened = await openPage(browser, 'about:blank');
  const [name = '', value = ''] = cookie.split('=');
  await opened.page.context().addCookies([{ name, value, url: dashboard.url }]);
  return opened;
}

it('a member requests a payout, another one approves it, and the bank pays it out', async () => {
  await addLines(payouts, [1_250_000, 49_650]);
  const first = await signedIn(requester);
  await first.page.goto(`${dashboard.url}${home}`);
  await first.page.getByRole('link', { name: en.new }).click();
  await first.page.getByText('2 settlements').waitFor();
  await first.page.getByRole('button', { name: forms.new.button('Rp 1.297.150') }).click();
  await first.page.getByText(en.detail.done.requested).waitFor();
  await first.page.getByText(ACTION_REJECTION_TEXTS.en.own_request).waitFor();
  await first.page.getByText(en.detail.waitsFor('Sri Rahayu')).waitFor();
  const second = await signedIn(approver);
  await second.page.goto(first.page.url().replace('?done=requested', ''));
  await second.page.getByText(en.detail.waitsForYou).waitFor();
  await second.page.getByRole('link', { name: en.detail.approve, exact: true }).click();
  await second.page.getByText('TOKO DEMO LUNAS', { exact: true }).waitFor();
  await second.page.getByRole('button', { name: forms.approve.button('Rp 1.297.150') }).click();
  await second.page.getByText(en.detail.done.approved).waitFor();
  // The open page of the requester follows the payout by itself.
  await first.page.locator('.chip', { hasText: en.statuses.completed }).waitFor({ timeout: 40_000 });
  await first.page.getByText(en.detail.completed).waitFor();
  await first.page.getByText('+Rp 1.250.000').waitFor();
  expect(await first.page.getByText(en.detail.done.requested).count()).toBe(0);
  expect([...first.problems, ...second.problems]).toEqual([]);
  await Promise.all([first.close(), second.close()]);
}, 90_000);

it('a form that is sent twice requests one payout, and a form of another balance none', async () => {
  await addLines(payouts, [100_000]);
  const [fields, other] = [await formOf(`${home}/new`, requester), await formOf(`${home}/new`, approver)];
  const sent = await Promise.all([1, 2].map(() => post(`${home}/new`, requester, fields)));
  expect(sent.map(({ status }) => status)).toEqual([303, 303]);
  expect(sent[0]?.location).toBe(sent[1]?.location);
  await addLines(payouts, [50_000]);
  const rejected = await post(`${home}/new`, approver, other);
  expect([rejected.status, rejected.text]).toEqual([409, expect.stringContaining('The balance has changed.')]);
  // The page shows what can be paid now.
  expect(rejected.text).toContain(forms.new.button('Rp 47.500'));
  const { rows } = await service.db.query('select from payouts where merchant_id = $1', [payouts.merchantId]);
  expect(rows).toHaveLength(1);
});

it('a payment that settles between the page and the click stays for the next payout', async () => {
  await addLines(payouts, [100_000]);
  const fields = await formOf(`${home}/new`, requester);
  await addLines(payouts, [50_000]);
  const { status, location } = await post(`${home}/new`, requester, fields);
  expect(status).toBe(303);
  expect((await open(location.replace('?done=requested', ''), requester)).text).toContain('Rp 97.500');
  expect((await open(`${home}/new`, requester)).text).toContain(forms.new.button('Rp 47.500'));
});

it('one of two members who approve at the same time does, and the other reads who', async () => {
  await addLines(payouts, [100_000]);
  const payout = await request();
  const rivals = { Rina: await memberAs('owner', 'Rina'), Wati: await memberAs('owner', 'Wati') };
  const fields = await formOf(`${payout}/approve`, rivals.Rina);
  const sent = Object.entries(rivals).map(async ([name, cookie]) =>
    Object.assign(await post(`${payout}/approve`, cookie, fields), { name }),
  );
  const [winner, loser] = (await Promise.all(sent)).toSorted((one, other) => one.status - other.status);
  expect([winner?.status, loser?.status]).toEqual([303, 409]);
  expect(loser?.text).toContain(`${en.columns.approvedBy} ${winner?.name}`);
});

it('a payout that the bank returns: its page has the reason, and the balance has the money', async () => {
  await openShop('9900000030');
  await addLines(payouts, [100_000]);
  const payout = await request();
  const approved = await post(`${payout}/approve`, approver, await formOf(`${payout}/approve`, approver));
  expect(approved.status).toBe(303);
  const page = await eventually(
    () => open(payout, requester),
    // The timeline is read after the status, so it may be newer.
    ({ text }) => text.includes(en.detail.returned),
  );
  expect(page.text).toContain(en.statuses.returned);
  expect((await open(`${home}/new`, requester)).text).toContain('Rp 95.000');
}, 90_000);

it('a cancelled payout gives its money back, and an approval of it reads the new state', async () => {
  await addLines(payouts, [100_000]);
  const payout = await request();
  const approval = await formOf(`${payout}/approve`, approver);
  const balance = home.replace(/payouts$/, 'balance');
  expect((await open(balance, requester)).text).toContain('In transit Rp 97.500');
  expect((await open(`${payout}/cancel`, requester)).text).toContain(`${forms.facts.balanceAfter} Rp 100.000`);
  const cancelled = await post(`${payout}/cancel`, requester, await formOf(`${payout}/cancel`, requester));
  expect(cancelled).toMatchObject({ status: 303, location: `${payout}?done=cancelled` });
  const { text } = await open(payout, requester);
  expect([text.includes(en.detail.available), text.includes(en.detail.amount)]).toEqual([true, false]);
  expect((await open(balance, requester)).text).toContain('In transit Rp 0');
  const late = await post(`${payout}/approve`, approver, approval);
  expect(late.status).toBe(409);
  for (const shown of [forms.stale, en.statuses.cancelled, ACTION_REJECTION_TEXTS.en.ended]) {
    expect(late.text).toContain(shown);
  }
  expect(late.text).not.toContain(en.detail.amount);
  expect((await open(`${home}/new`, requester)).text).toContain('1 cancelled payout');
  const { rows } = await service.db.query<{ action: string; outcome: string }>(
    `select action, outcome from user_actions join user_action_outcomes on action_id = id
     where merchant_id = $1 order by id`,
    [payouts.merchantId],
  );
  expect(rows.map(({ action, outcome }) => `${action} ${outcome}`)).toEqual([
    'payout.request succeeded',
    'payout.cancel succeeded',
  ]);
});

it('an approved payout of a merchant on hold waits: its page names the reason, and it can be cancelled', async () => {
  await addLines(payouts, [100_000]);
  const payout = await request();
  await service.db.query('update merchants set held_at = now() where id = $1', [payouts.merchantId]);
  expect(await post(`${payout}/approve`, approver, await formOf(`${payout}/approve`, approver))).toMatchObject({
    status: 303,
  });
  expect((await open(payout, requester)).text).toContain(`${en.detail.keptBack} The shop is on hold.`);
  expect((await open(`${home}/new`, requester)).text).toContain('The shop is on hold.');
  const cancelled = await post(`${payout}/cancel`, requester, await formOf(`${payout}/cancel`, requester));
  expect(cancelled.status).toBe(303);
});

it('what can be paid out is a link, and else the reason stands beside a button that does nothing', async () => {
  const shown = async (path: string, cookie = requester) => {
    const { html, text } = await open(path, cookie);
    const hasButton = /<button[^>]*disabled[^>]*>Pay out</.test(html);
    return { hasLink: html.includes(`href="${home}/new"`), hasButton, text };
  };
  const pages = [home, home.replace(/payouts$/, 'balance')];
  for (const page of pages) {
    expect(await shown(page)).toMatchObject({ hasLink: false, hasButton: true });
    expect((await shown(page)).text).toContain('The balance is empty.');
  }
  await addLines(payouts, [100_000]);
  for (const page of pages) expect(await shown(page)).toMatchObject({ hasLink: true, hasButton: false });
  await service.db.query('update merchants set held_at = now() where id = $1', [payouts.merchantId]);
  for (const page of pages) {
    expect(await shown(page)).toMatchObject({ hasLink: false, hasButton: true });
    expect((await shown(page)).text).toContain('The shop is on hold.');
  }
});

it('a member cannot approve the own request, also not by a form', async () => {
  await addLines(payouts, [100_000]);
  const payout = await request();
  const fields = await formOf(`${payout}/approve`, requester);
  const { status, text } = await post(`${payout}/approve`, requester, fields);
  expect([status, text]).toEqual([409, expect.stringContaining(ACTION_REJECTION_TEXTS.en.own_request)]);
  expect((await open(payout, requester)).text).toContain(en.statuses.requested);
});

it('the files have the payouts of the list, and the lines of a payout', async () => {
  await addLines(payouts, [100_000, 20_000]);
  const payout = await request();
  const csv = async (path: string) => (await open(path, requester)).html.replace('\ufeff', '').trimEnd().split('\r\n');
  const [head, row, ...others] = await csv(`${home}.csv`);
  expect(head).toMatch(/^reference_id,status,gross_amount,fee_amount,amount,rail,bank_code,account_last_four,/);
  expect(row).toContain(`${payout.split('/').at(-1)},requested,120000,2500,117500,bi_fast,014,7890,Sri Rahayu,,`);
  expect(others).toEqual([]);
  expect(await csv(`${home}.csv?status=completed`)).toEqual([head]);
  const lines = await csv(`${payout}/lines.csv`);
  expect(lines.map((line) => line.split(',').at(-1))).toEqual(['amount', '100000', '20000']);
});

it.each([
  ['without a balance', 'The balance is empty.', forms.new.next.balance],
  ['with too small a balance', 'A payout needs at least Rp 12.500.', forms.new.next.balance],
  ['while an account is proposed', 'A new bank account is proposed.', forms.new.next.bankAccount],
  ['while the first account is proposed', 'A new bank account is proposed.', forms.new.next.bankAccount],
  ['without an account', 'There is no approved bank account.', forms.new.next.newBankAccount],
])('no payout is possible %s: the page names the reason, and the next step is a link', async (state, reason, next) => {
  if (state !== 'without a balance') await addLines(payouts, [5_000]);
  const { merchantId } = payouts;
  if (state === 'without an account') await prepareBankAccount(service, merchantId, 'rejected');
  if (state === 'while the first account is proposed')
    await prepareBankAccount(service, merchantId, 'pending_approval');
  if (state === 'while an account is proposed') {
    await service.db.query(
      `insert into bank_accounts (id, merchant_id, bank_code, sealed_number, number_hmac, last_four, status, version,
         proposed_by, created_at, updated_at)
       values (gen_random_uuid(), $1, '014', 'x', 'x', '1234', 'pending_inquiry', 1, 'cli:test', now(), now())`,
      [merchantId],
    );
  }
  const { status, html, text } = await open(`${home}/new`, requester);
  expect([status, text]).toEqual([200, expect.stringContaining(reason)]);
  expect(html).toMatch(new RegExp(`<a class="button primary wide-button" href="[^"]+">${next}</a>`));
  expect(html).not.toContain('name="up_to"');
});

it('a member of another merchant finds no payout, and a role has its pages only', async () => {
  await addLines(payouts, [100_000]);
  const payout = await request();
  const [cashier, viewer] = [await memberAs('cashier'), await memberAs('viewer')];
  const pages = [home, payout, `${home}/new`, `${payout}/approve`, `${payout}/cancel`, `${home}/schedule`];
  const statuses = (cookie: string) => Promise.all(pages.map(async (page) => (await open(page, cookie)).status));
  expect(await statuses(cashier)).toEqual([403, 403, 403, 403, 403, 403]);
  expect(await statuses(viewer)).toEqual([200, 200, 403, 403, 403, 403]);
  expect(await statuses(approver)).toEqual([200, 200, 200, 200, 200, 200]);
  expect((await open(home, cashier)).html).not.toContain(`href="${home}"`);
  const other = await createShop(service.db);
  await createMember(service.db, `${other.id}@shop.test`, [[other.id, 'owner']]);
  const stranger = await dashboard.cookie(`${other.id}@shop.test`);
  const own = payout.replace(/^\/m\/\w+/, `/m/${other.code}`);
  for (const path of [payout, own, `${own}/approve`, `${own}/lines.csv`]) {
    expect([path, (await open(path, stranger)).status]).toEqual([path, 404]);
  }
});

it('the schedule is saved by two members, and the list names the next automatic payout', async () => {
  const texts = SCHEDULE_TEXTS.en;
  expect((await open(home, requester)).text).toContain(`${texts.next} ${texts.none}`);
  const weekly = { schedule: 'weekly', weekday: '1', minimum: 'Rp 75.000' };
  const wrong = await post(`${home}/schedule`, requester, { ...weekly, weekday: '' });
  expect([wrong.status, wrong.text]).toEqual([422, expect.stringContaining(texts.errors.weekday)]);
  expect((await post(`${home}/schedule`, requester, { ...weekly, minimum: '0' })).text).toContain(texts.errors.amount);
  const proposal = `${home}/schedule/proposal`;
  expect(await post(`${home}/schedule`, requester, weekly)).toMatchObject({ status: 303, location: proposal });
  expect((await open(home, approver)).text).toContain(`${texts.next} ${texts.none} ${texts.proposal.title}`);
  const approval = await formOf(proposal, approver);
  const own = await post(proposal, requester, { ...approval, decision: 'approve' });
  expect([own.status, own.text]).toEqual([409, expect.stringContaining(texts.rejections.own_proposal)]);
  expect(await post(proposal, approver, { ...approval, decision: 'approve' })).toMatchObject({ status: 303 });
  const { text } = await open(`${home}?done=saved`, requester);
  expect(text).toContain(texts.saved);
  expect(text).toMatch(/Monday,? \d+ \w+ \d{4}, 07:00 WIB, if at least Rp 75\.000/);
});

it('home names the payout that waits for the approval of this member', async () => {
  await addLines(payouts, [100_000]);
  const payout = await request();
  const reference = payout.split('/').at(-1) ?? '';
  const shop = home.replace('/payouts', '');
  const waits = `The payout ${reference} waits for your approval.`;
  const notice = NOTICE_TEXTS.en.kinds['payout.waiting_for_approval'](reference);
  const ofApprover = await open(shop, approver);
  expect([ofApprover.text.includes(waits), ofApprover.text.includes(notice)]).toEqual([true, true]);
  expect((await open(shop, requester)).text).not.toContain(waits);
  await post(`${payout}/cancel`, requester, await formOf(`${payout}/cancel`, requester));
  const afterwards = await open(shop, approver);
  expect([afterwards.text.includes(waits), afterwards.text.includes(notice)]).toEqual([false, false]);
});
