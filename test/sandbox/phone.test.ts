import type { Browser } from 'playwright-core';
import { findAccessibilityViolations, findUnreachableControls, openPage, startBrowser } from '../support/browser';
import { openSandbox, startNotificationReceiver, type SandboxUnderTest } from './sandbox-under-test';

const PHONE = 'section.phone';

let sandbox: SandboxUnderTest;
let browser: Browser;
beforeAll(async () => {
  [sandbox, browser] = await Promise.all([openSandbox(), startBrowser()]);
});
afterAll(async () => {
  await Promise.all([sandbox.close(), browser.close()]);
});

const scanned = (text: string) => `${sandbox.url}/?qris_payload=${encodeURIComponent(text)}`;

async function statusOf(orderId: string): Promise<string> {
  const { payments } = await sandbox.call('GET', '/simulator/payments');
  return payments.find((payment: { order_id: string }) => payment.order_id === orderId)?.status;
}

it('a customer scans a code of the list, sees shop, NMID and amount, and pays; without script', async () => {
  const receiver = await startNotificationReceiver();
  const { order_id, transaction_id } = await sandbox.charge(
    { grossAmount: 48_000 },
    { 'x-override-notification': receiver.url },
  );
  await sandbox.charge({ grossAmount: 99_000 });
  const { page, problems, close } = await openPage(browser, sandbox.url, {
    javaScriptEnabled: false,
    viewport: { width: 320, height: 640 },
  });
  const phone = page.locator(PHONE);
  // The newest code is before the camera.
  expect(await phone.textContent()).toContain('Rp 99.000');
  await page.getByRole('link', { name: `Scan this one: Rp 48.000, ${order_id}` }).click();
  for (const text of ['Toko Sandbox Lunas', 'NMID ID0000000000001', 'Rp 48.000']) {
    expect(await phone.textContent()).toContain(text);
  }
  // What the acquirer knows: its own numbers, not the shop's order number.
  const behind = page.locator('.behind');
  expect(await behind.textContent()).toContain(transaction_id);
  const checkout = `${new URL(receiver.url).origin}/sandbox/checkout/${order_id}/${transaction_id}`;
  expect(await behind.getByRole('link', { name: 'the checkout page' }).getAttribute('href')).toBe(checkout);
  await phone.getByRole('button', { name: 'Pay Rp 48.000' }).click();
  await phone.getByRole('heading', { name: 'Paid' }).waitFor();
  expect(await page.title()).toBe('Paid · Lunas sandbox');
  expect(await statusOf(order_id)).toBe('settlement');
  await receiver.waitFor(1);
  await phone.getByRole('link', { name: 'Scan another code' }).click();
  expect(await page.locator('#codes').textContent()).not.toContain(order_id);
  expect(problems).toEqual([]);
  await close();
  await receiver.close();
});

it('pays the code of a pasted text by keyboard; the phone shows by itself that a code has ended', async () => {
  const { order_id, qr_string } = await sandbox.charge({ grossAmount: 51_000 });
  const { page, problems, close } = await openPage(browser, sandbox.url);
  const phone = page.locator(PHONE);
  await page.getByText('Paste the text of a QR').press('Enter');
  await page.getByLabel('Text of a QR').fill(` ${qr_string}\n`);
  await page.getByLabel('Text of a QR').press('Enter');
  await phone.getByRole('button', { name: 'Pay Rp 51.000' }).waitFor();
  await sandbox.call('POST', `/v2/${order_id}/cancel`);
  await phone.getByRole('heading', { name: 'The shop has cancelled this code' }).waitFor();
  await phone.getByRole('link', { name: 'Pay it late' }).click();
  await page.getByRole('button', { name: 'Pay late' }).waitFor();
  expect(problems).toEqual([]);
  await close();
});

it('a code that ends between scanning and paying is not paid, and the phone shows why', async () => {
  const { order_id, qr_string } = await sandbox.charge();
  const { page, close } = await openPage(browser, scanned(qr_string), { javaScriptEnabled: false });
  await sandbox.call('POST', `/v2/${order_id}/expire`);
  await page.getByRole('button', { name: 'Pay Rp 50.000' }).click();
  await page.getByRole('heading', { name: 'This code has expired' }).waitFor();
  expect(await statusOf(order_id)).toBe('expire');
  await close();
});

it('the phone rejects a text that is no QRIS, and one of another acquirer, and shows which', async () => {
  const other = await openSandbox();
  const { qr_string } = await other.charge({ grossAmount: 61_000 });
  await other.close();
  const { page, close } = await openPage(browser, scanned('<b>no QRIS'), { javaScriptEnabled: false });
  await page.getByRole('heading', { name: 'This is not a QRIS' }).waitFor();
  await page.goto(scanned(qr_string));
  await page.getByRole('heading', { name: 'Cannot be paid here' }).waitFor();
  expect(await page.locator(PHONE).textContent()).toContain('NMID ID0000000000001');
  expect(await page.getByRole('button', { name: /^Pay / }).count()).toBe(0);
  await close();
});

it('the phone is accessible in each state, by keyboard too, and fits on a narrow screen', async () => {
  const paid = await sandbox.charge({ grossAmount: 71_000 });
  await sandbox.call('POST', '/simulator/scan', { qris_payload: paid.qr_string });
  const pending = await sandbox.charge({ grossAmount: 72_000 });
  const narrow = await openPage(browser, sandbox.url, { viewport: { width: 320, height: 640 }, colorScheme: 'dark' });
  for (const address of [sandbox.url, scanned(pending.qr_string), scanned(paid.qr_string), scanned('nothing')]) {
    await narrow.page.goto(address);
    expect([address, await findAccessibilityViolations(narrow.page)]).toEqual([address, []]);
    expect([address, await narrow.page.evaluate('document.documentElement.scrollWidth')]).toEqual([address, 320]);
  }
  await narrow.close();
  const wide = await openPage(browser, sandbox.url);
  expect(await findAccessibilityViolations(wide.page)).toEqual([]);
  expect(await findUnreachableControls(wide.page)).toEqual([]);
  expect(wide.problems).toEqual([]);
  await wide.close();
});
