import { randomUUID } from 'node:crypto';
import type { Browser } from 'playwright-core';
import { createSealer } from '../../../src/crypto/sealing';
import { createPool, type Pool } from '../../../src/db/connection/pool';
import { approveBankAccount } from '../../../src/services/payouts/approve-bank-account';
import { seedPayouts } from '../../../src/services/sandbox/seed-payouts';
import { BANK_ACCOUNT_TEXTS } from '../../../src/web/dashboard/bank-account/bank-account-texts';
import { osUser } from '../../support/actors';
import { prepareBankAccount } from '../../support/bank-accounts';
import { openPage, startBrowser } from '../../support/browser';
import { startTestDashboard, type TestDashboard } from '../../support/dashboard';
import { eventually } from '../../support/eventually';
import { createMember, createShop } from '../../support/people';
import { newNamespace, startTestService, type TestService } from '../../support/service';

const EMAIL = 'finance@shop.test';
const NUMBER = '1234567890';
const { en } = BANK_ACCOUNT_TEXTS;

let service: TestService;
let dashboard: TestDashboard;
let browser: Browser;
let operators: Pool;
let merchantId: string;
let home: string;
let cookie: string;

beforeAll(async () => {
  service = await startTestService(await newNamespace());
  [dashboard, browser] = await Promise.all([startTestDashboard(service), startBrowser()]);
  operators = createPool(service.operatorDatabaseUrl, { max: 2 });
  const sealer = createSealer(service.masterKey);
  await seedPayouts({ db: operators, sealer, sandboxUrl: service.sandboxUrl, apiUrl: service.apiUrl });
});
beforeEach(async () => {
  const shop = await createShop(service.db, 'Toko Demo Lunas');
  const email = `${randomUUID()}-${EMAIL}`;
  merchantId = shop.id;
  await createMember(service.db, email, [[merchantId, 'finance']]);
  cookie = await dashboard.cookie(email);
  home = `${dashboard.url}/m/${shop.code}/bank-account`;
});
afterAll(async () => {
  await Promise.all([operators.end(), dashboard.close(), browser.close()]);
  await service.close();
});

const form = (changes: Readonly<Record<string, string>> = {}) => ({
  form_id: randomUUID(),
  bank: '014',
  number: NUMBER,
  repeat: NUMBER,
  ...changes,
});

async function post(path: string, fields: Readonly<Record<string, string>> = {}) {
  const response = await fetch(`${home}${path}`, {
    method: 'POST',
    headers: { cookie, 'sec-fetch-site': 'same-origin', 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(fields).toString(),
    redirect: 'manual',
  });
  return { status: response.status, text: await response.text(), location: response.headers.get('location') };
}

async function statuses(): Promise<string[]> {
  const { rows } = await service.db.query<{ status: string }>(
    'select status from bank_accounts where merchant_id = $1 order by created_at',
    [merchantId],
  );
  return rows.map(({ status }) => status);
}

it('a member adds an account in a browser, Lunas approves it, and the page shows each step', async () => {
  const { page, problems, close } = await openPage(browser, dashboard.url);
  const [name = '', value = ''] = cookie.split('=');
  await page.context().addCookies([{ name, value, url: dashboard.url }]);
  await page.goto(home);
  await page.getByText(en.nothing).waitFor();
  await page.getByRole('link', { name: en.add }).click();
  await page.getByText(en.form.warning).waitFor();
  await page.locator('#bank').selectOption('014');
  await page.locator('#number').fill('1234 5678 90');
  await page.locator('#repeat').fill(NUMBER);
  await page.getByRole('button', { name: en.form.submit }).click();
  await page.getByText(en.done.added).waitFor();
  const { rows } = await eventually(
    () =>
      service.db.query<{ id: string }>(
        "select id from bank_accounts where merchant_id = $1 and status = 'pending_approval'",
        [merchantId],
      ),
    ({ rowCount }) => rowCount === 1,
  );
  await page.reload();
  await page.getByText(en.statuses.pending_approval).waitFor();
  await page.getByText('TOKO DEMO LUNAS', { exact: true }).waitFor();
  const call = { path: { bankAccountId: rows[0]?.id ?? '' }, input: {}, formId: randomUUID(), note: 'contract 12' };
  expect(await approveBankAccount.run({ db: operators }, osUser('sari'), call)).toMatchObject({ outcome: 'done' });
  await page.reload();
  await page.locator('.chip', { hasText: en.statuses.active }).waitFor();
  await page.getByText('BCA •••• 7890').waitFor();
  expect(await page.content()).not.toContain(NUMBER);
  await page.getByRole('link', { name: en.disable.button }).click();
  await page.getByRole('button', { name: en.disable.button }).click();
  await page.getByText(en.done.disabled).waitFor();
  expect(await statuses()).toEqual(['disabled']);
  expect(problems).toEqual([]);
  await close();
});

it.each([
  [{ bank: '' }, en.form.errors.bank],
  [{ bank: '999' }, en.form.errors.bank],
  [{ number: '12', repeat: '12' }, en.form.errors.number],
  [{ repeat: '1234567891' }, en.form.errors.repeat],
])('a form with %j is not accepted, and the number is not sent back', async (changes, error) => {
  const { status, text } = await post('/new', form(changes));
  expect(status).toBe(422);
  expect(text).toContain(error);
  expect(text).not.toContain(NUMBER);
  expect(await statuses()).toEqual([]);
});

it('a form that is sent twice adds one account, and a second form is rejected', async () => {
  const fields = form();
  expect(await post('/new', fields)).toMatchObject({ status: 303 });
  expect(await post('/new', fields)).toMatchObject({ status: 303 });
  const second = await post('/new', form());
  expect(second.status).toBe(409);
  expect(second.text).toContain(en.proposalOpen);
  expect(await statuses()).toHaveLength(1);
  const { rows } = await service.db.query<{ action: string; outcome: string; detail: string }>(
    `select action, outcome, user_actions.detail from user_actions join user_action_outcomes on action_id = id
     where merchant_id = $1 order by id`,
    [merchantId],
  );
  expect(rows.map(({ action, outcome }) => [action, outcome])).toEqual([['bank_account.add', 'succeeded']]);
  expect(JSON.stringify(rows)).not.toContain(NUMBER);
});

it('an account that Lunas has rejected meanwhile is not withdrawn: 409 with the reason', async () => {
  const id = await prepareBankAccount(service, merchantId, 'rejected');
  const { status, text } = await post(`/${id}/withdraw`);
  expect(status).toBe(409);
  expect(text).toContain(en.withdraw.rejection);
  expect(await statuses()).toEqual(['rejected']);
});

it('an account of another merchant is not found', async () => {
  const { id: other } = await createShop(service.db);
  const id = await prepareBankAccount(service, other, 'active');
  expect(await post(`/${id}/disable`)).toMatchObject({ status: 404 });
  const { rows } = await service.db.query('select status from bank_accounts where id = $1', [id]);
  expect(rows).toEqual([{ status: 'active' }]);
});
