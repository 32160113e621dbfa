import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { z } from 'zod';
import type { RunFile } from '../../../src/local-stack/run-file';
import { BALANCE_TEXTS } from '../../../src/web/dashboard/balance/balance-texts';
import { BANK_ACCOUNT_TEXTS } from '../../../src/web/dashboard/bank-account/bank-account-texts';
import { PAYOUT_FORM_TEXTS } from '../../../src/web/dashboard/payouts/payout-form-texts';
import { PAYOUT_TEXTS } from '../../../src/web/dashboard/payouts/payout-texts';
import { DASHBOARD_TEXTS } from '../../../src/web/dashboard/texts/texts';
import { openPage, startBrowser } from '../../support/browser';
import { eventually } from '../../support/eventually';
import { freePorts, LunasProcess, runBuiltLunas } from '../../support/lunas-process';

/**
 * From an empty `lunas up` to money in the bank account of the shop. The owner and the customers use a browser; `lunas`
 * does only what an operator does.
 */

const TIMEOUT_MS = 600_000;
/** Many times the 15 s after which an open page reads itself again. */
const FOLLOWED = { timeout: 120_000 };

const { create, menu, qr } = DASHBOARD_TEXTS.en;
const account = BANK_ACCOUNT_TEXTS.en;
const balance = BALANCE_TEXTS.en;
const payouts = PAYOUT_TEXTS.en;
const forms = PAYOUT_FORM_TEXTS.en;

let home: string;
let environment: NodeJS.ProcessEnv;
let lunas: LunasProcess;
let browser: Browser;

beforeAll(async () => {
  home = await mkdtemp(path.join(os.tmpdir(), 'lunas-payout-'));
  environment = { LUNAS_HOME: home, ...(await freePorts()) };
  browser = await startBrowser();
});
afterAll(async () => {
  await Promise.all([lunas.stop(), browser.close()]);
  await rm(home, { recursive: true });
}, TIMEOUT_MS);

/** What an operator types. @returns the document */
async function operate<T>(schema: z.ZodType<T>, ...args: readonly string[]): Promise<T> {
  const { exitCode, stdout, stderr } = await runBuiltLunas([...args, '--json'], environment);
  expect({ args, exitCode, stderr }).toEqual({ args, exitCode: 0, stderr: '' });
  return schema.parse(JSON.parse(stdout));
}

/** The owner shows a QR, a customer pays it, and an operator ends the time until its settlement. */
async function sell(owner: Page, { sandbox_url }: RunFile, amount: string): Promise<void> {
  await owner.getByRole('link', { name: menu.payments, exact: true }).click();
  await owner.getByRole('link', { name: create.title }).first().click();
  await owner.locator('#amount').fill(amount);
  await owner.getByRole('button', { name: create.button }).click();
  await owner.locator('.qr svg').waitFor(FOLLOWED);
  const [reference = ''] = /LN\w{18}/.exec(owner.url()) ?? [];
  const customer = await openPage(browser, sandbox_url);
  await customer.page.getByRole('link', { name: new RegExp(`^Scan this one: .*${reference}`) }).click();
  await customer.page.getByRole('button', { name: 'Pay' }).click();
  await customer.page.getByRole('heading', { name: 'Paid' }).waitFor();
  await customer.close();
  await owner.locator('.state', { hasText: qr.states.paid }).waitFor(FOLLOWED);
  await operate(z.unknown(), 'trigger', 'settle', reference);
}

/** The owner follows the link from the payouts to the form. */
async function addBankAccount(owner: Page): Promise<void> {
  await owner.getByRole('link', { name: menu.payouts }).click();
  await owner.getByRole('link', { name: forms.new.next.newBankAccount }).click();
  await owner.locator('#bank').selectOption('014');
  for (const field of ['#number', '#repeat']) await owner.locator(field).fill('1234567890');
  await owner.getByRole('button', { name: account.form.submit }).click();
  await owner.getByText(account.done.added).waitFor();
  await owner.locator('.chip', { hasText: account.statuses.pending_approval }).waitFor(FOLLOWED);
}

const accountsSchema = z.object({ bank_accounts: z.array(z.object({ id: z.string() })) });

/** The bank's name of the holder is that on the page. */
async function approveBankAccount(holderName: string): Promise<void> {
  const { bank_accounts: waiting } = await operate(accountsSchema, 'bank-accounts', 'list', '--waiting');
  expect(waiting).toHaveLength(1);
  const decision = ['--confirm-name', holderName, '--note', 'the owner is known'];
  await operate(z.unknown(), 'bank-accounts', 'approve', waiting[0]?.id ?? '', ...decision);
}

async function expectAvailable(owner: Page, amount: string): Promise<void> {
  await owner.getByRole('link', { name: menu.balance }).click();
  const available = owner.locator('.balances > div', { hasText: balance.available });
  await available.getByText(amount, { exact: true }).waitFor();
}

it(
  'leads from an empty `lunas up` to a payout that the bank has executed, and to the balance that is left',
  async () => {
    const startedAt = performance.now();
    lunas = new LunasProcess('up', home, environment);
    const run = await lunas.ready();
    const { page: owner, problems } = await openPage(browser, run.dashboard_link ?? '');
    await sell(owner, run, '250.000');
    await expectAvailable(owner, 'Rp 248.250');
    await addBankAccount(owner);
    await approveBankAccount('TOKO DEMO LUNAS');
    await owner.locator('.chip', { hasText: account.statuses.active }).waitFor(FOLLOWED);

    await owner.getByRole('link', { name: menu.payouts }).click();
    const link = owner.getByRole('link', { name: payouts.new });
    // Until the cool-down is over, the page has its end and no link.
    await eventually(
      async () => {
        await owner.reload();
        return link.count();
      },
      (count) => count === 1,
    );
    await link.click();
    await owner.getByRole('button', { name: forms.new.button('Rp 245.750') }).click();
    // The only owner needs no second person. The page follows the payout by itself.
    await owner.locator('.chip', { hasText: payouts.statuses.completed }).waitFor(FOLLOWED);
    await owner.getByText(payouts.detail.completed).waitFor();
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    process.stderr.write(`From lunas up to a completed payout: ${seconds} s.\n`);

    await expectAvailable(owner, 'Rp 0');
    await sell(owner, run, '100.000');
    await expectAvailable(owner, 'Rp 99.300');
    expect(problems).toEqual([]);
  },
  TIMEOUT_MS,
);
