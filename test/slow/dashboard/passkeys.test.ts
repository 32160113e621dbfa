import type { Browser, Page } from 'playwright-core';
import { DEMO_OWNER_EMAIL } from '../../../src/services/sandbox/seed-demo';
import { findAccessibilityViolations, openPage, startBrowser, type WatchedPage } from '../../support/browser';
import { startTestDashboard, type TestDashboard } from '../../support/dashboard';
import { createMember, createOperatorUser } from '../../support/people';
import { newNamespace, startTestService, type TestService } from '../../support/service';

let service: TestService;
let dashboard: TestDashboard;
let browser: Browser;
let watched: WatchedPage;
let page: Page;

beforeAll(async () => {
  [service, browser] = await Promise.all([
    newNamespace().then((namespace) => startTestService(namespace)),
    startBrowser(),
  ]);
  dashboard = await startTestDashboard(service);
});
afterAll(async () => {
  await dashboard.close();
  await browser.close();
  await service.close();
});

/** A browser with an authenticator of its own, which verifies its user. */
async function openWithAuthenticator(email: string): Promise<void> {
  watched = await openPage(browser, 'about:blank');
  ({ page } = watched);
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  await dashboard.signIn(page.context(), email);
}

const open = (path: string) => page.goto(dashboard.url + path, { waitUntil: 'load' });

/** Adds a passkey on the page of the user's security, and stores the recovery codes. */
async function register(name: string): Promise<void> {
  await open('/profile/security');
  await page.getByRole('link', { name: 'Add a passkey' }).click();
  await page.getByLabel('Name').fill(name);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('link', { name: 'I have stored the codes' }).click();
  await page.getByText(name, { exact: true }).waitFor();
}

async function useOnLoginPage(): Promise<void> {
  await page.context().clearCookies();
  await open('/login?then=/profile');
  await page.getByRole('button', { name: 'Use a passkey' }).click();
}

async function expectRejection(): Promise<void> {
  await page.getByRole('alert').getByText('The passkey was not accepted').waitFor();
  expect(new URL(page.url()).pathname).toBe('/login/passkey/finish');
}

let count = 0;
beforeEach(async () => {
  count += 1;
  await createMember(service.db, `sri-${count}@shop.test`, [[service.merchantId, 'owner']]);
  await openWithAuthenticator(`sri-${count}@shop.test`);
});
afterEach(() => watched.close());

const userId = `(select id from users where email = $1)`;

it('a passkey is added, signs in alone, proves the identity again, gets a name and is removed', async () => {
  await register('Ponsel Sri');
  await useOnLoginPage();
  await page.waitForURL('**/profile');
  const { rows } = await service.db.query<{ method: string; stage: string }>(
    `select method, stage from sessions where user_id = ${userId} and ended_at is null order by id desc limit 1`,
    [`sri-${count}@shop.test`],
  );
  expect(rows).toEqual([{ method: 'passkey', stage: 'full' }]);

  await service.db.query(`update sessions set stepped_up_at = now() - interval '6 minutes' where user_id = ${userId}`, [
    `sri-${count}@shop.test`,
  ]);
  await open('/profile/security');
  await page.getByRole('link', { name: 'Change: Ponsel Sri' }).click();
  await page.waitForURL('**/step-up?**');
  const [before] = await page.context().cookies();
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.waitForURL('**/profile/security/passkeys/*');
  const [after] = await page.context().cookies();
  expect(after?.value).not.toBe(before?.value);

  await page.getByLabel('Name').fill('Ponsel lama');
  await page.getByRole('button', { name: 'Save the name' }).click();
  await page.getByRole('link', { name: 'Change: Ponsel lama' }).click();
  await page.getByRole('link', { name: 'Remove' }).click();
  await page.getByRole('button', { name: 'Remove' }).click();
  await page.getByText('The passkey is removed.').waitFor();
  expect(watched.problems).toEqual([]);
  await useOnLoginPage();
  await expectRejection();
});

it('accepts what a passkey has signed once', async () => {
  await register('Laptop');
  const sent = page.waitForRequest('**/login/passkey/finish');
  await useOnLoginPage();
  const request = await sent;
  await page.waitForURL('**/profile');
  const repeated = await fetch(request.url(), {
    method: 'POST',
    redirect: 'manual',
    headers: {
      'Content-Type': 'application/x-www-form-urlencoded',
      'Sec-Fetch-Site': 'same-origin',
      Cookie: (await request.allHeaders()).cookie ?? '',
    },
    body: request.postData(),
  });
  expect(repeated.status).toBe(422);
  expect(repeated.headers.get('set-cookie')).toBeNull();
});

it.each([
  ['of another host', "update passkeys set rp_id = 'old.lunas.example' where user_id = $1"],
  ['of a disabled user', 'update users set disabled_at = now() where id = $1'],
])('rejects a passkey %s', async (_, statement) => {
  await register('Laptop');
  const { rows } = await service.db.query<{ id: string }>(`select ${userId} as id`, [`sri-${count}@shop.test`]);
  await service.db.query(statement, [rows[0]?.id]);
  await useOnLoginPage();
  await expectRejection();
});

it('rejects a passkey of an operator', async () => {
  await register('Laptop');
  const { rows } = await service.db.query<{ id: string }>(
    `insert into operators (id, name, secret_sha256, prefix, last_four)
     values (gen_random_uuid(), 'dewi', sha256('x'), 'op', 'abcd') returning id`,
  );
  const operatorId = rows[0]?.id ?? '';
  await createOperatorUser(service.db, operatorId, `sri-${count}@shop.test`);
  await service.db.query(
    `update passkeys set user_id = $2, realm = 'operator'
     where user_id = (select id from users where email = $1 and realm = 'merchant')`,
    [`sri-${count}@shop.test`, operatorId],
  );
  await useOnLoginPage();
  await expectRejection();
});

it('completes a sign-in in which a second factor has to be set', async () => {
  await service.db.query(`update sessions set stage = 'enrol', method = 'password' where user_id = ${userId}`, [
    `sri-${count}@shop.test`,
  ]);
  await open('/profile');
  await page.waitForURL('**/login/enrol?**');
  await page.getByRole('button', { name: 'Use a passkey instead' }).click();
  await page.locator('.recovery-codes').waitFor();
  expect(await page.locator('.recovery-codes li').count()).toBe(10);
  await page.getByRole('link', { name: 'I have stored the codes' }).click();
  await page.waitForURL('**/profile');
});

it('offers another try if the user cancels', async () => {
  const { page: other, close } = await openPage(browser, `${dashboard.url}/login`);
  const devtools = await other.context().newCDPSession(other);
  await devtools.send('WebAuthn.enable');
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true },
  });
  await other.getByRole('button', { name: 'Use a passkey' }).click();
  await other.getByText('The browser has not used a passkey.').waitFor();
  await other.getByRole('button', { name: 'Ask again' }).waitFor();
  expect(await findAccessibilityViolations(other)).toEqual([]);
  await other.getByRole('link', { name: 'Back' }).click();
  await other.waitForURL('**/login');
  await close();
});

it('the button for a passkey is hidden without a script', async () => {
  const plain = await openPage(browser, `${dashboard.url}/login`, { javaScriptEnabled: false });
  expect(await plain.page.getByRole('button', { name: 'Use a passkey' }).count()).toBe(0);
  expect(await plain.page.getByRole('button', { name: 'Sign in' }).count()).toBe(1);
  await dashboard.signIn(plain.page.context(), DEMO_OWNER_EMAIL);
  await plain.page.goto(`${dashboard.url}/profile/security/passkeys/new`);
  await plain.page.getByText('A passkey needs JavaScript').or(plain.page.getByText('memerlukan JavaScript')).waitFor();
  await plain.close();
});
