import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import type { MerchantScope } from '../../../src/domain/key-access';
import { findKey } from '../../../src/services/merchants/keys/api-key';
import { DEMO_OWNER_EMAIL } from '../../../src/services/sandbox/seed-demo';
import { KEY_TEXTS } from '../../../src/web/dashboard/keys/key-texts';
import { DASHBOARD_TEXTS } from '../../../src/web/dashboard/texts/texts';
import { openPage, startBrowser } from '../../support/browser';
import { collectLog } from '../../support/collect-log';
import { startTestDashboard, type TestDashboard } from '../../support/dashboard';
import { eventually } from '../../support/eventually';
import { issueKey } from '../../support/keys';
import { createMember } from '../../support/people';
import { createSecondMerchant } from '../../support/second-merchant';
import { newNamespace, startTestService, type TestService } from '../../support/service';

const TEXTS = KEY_TEXTS.en;
const log = collectLog();

let service: TestService;
let dashboard: TestDashboard;
let browser: Browser;
let home: string;
let owner: string;

beforeAll(async () => {
  [service, browser] = await Promise.all([
    newNamespace().then((namespace) => startTestService(namespace)),
    startBrowser(),
  ]);
  dashboard = await startTestDashboard(service, 'sandbox', log.log);
  await service.db.query("update users set language = 'en' where email = $1", [DEMO_OWNER_EMAIL]);
  const { rows } = await service.db.query<{ code: string }>('select code from merchants where id = $1', [
    service.merchantId,
  ]);
  home = `/m/${rows[0]?.code}/developers/keys`;
  owner = await dashboard.cookie(DEMO_OWNER_EMAIL);
});
afterAll(async () => {
  await dashboard.close();
  await browser.close();
  await service.close();
});

/** The status of the API for a key, to a caller with the address. */
async function statusOf(secret: string, localAddress = '127.0.0.1'): Promise<number> {
  const headers = { authorization: `Bearer ${secret}` };
  const sent = httpRequest(`${service.apiUrl}/transactions`, { headers, localAddress, agent: false });
  sent.end();
  const [response] = await once(sent, 'response');
  await text(response);
  return response.statusCode;
}

/** The API reads a key at most half a second late. */
const eventuallyStatus = (secret: string, status: number, localAddress?: string) =>
  eventually(
    () => statusOf(secret, localAddress),
    (found) => found === status,
  );

interface Sent {
  readonly path: string;
  readonly form?: Readonly<Record<string, string>>;
  readonly cookie?: string;
}

async function send({ path, form, cookie = owner }: Sent) {
  const response = await fetch(dashboard.url + path, {
    method: form ? 'POST' : 'GET',
    headers: { cookie, ...(form && { 'sec-fetch-site': 'same-origin' }) },
    redirect: 'manual',
    ...(form && { body: new URLSearchParams(form) }),
  });
  return { status: response.status, headers: response.headers, body: await response.text() };
}

const newForm = (changes: Readonly<Record<string, string>> = {}) => ({
  form_id: randomUUID(),
  name: 'Shop server',
  scope_read: 'on',
  expiry: 'none',
  ...changes,
});

const secretIn = (page: string) => /sk_test_[0-9A-Za-z]{41}/.exec(page)?.[0] ?? '';

const ownKey = () => issueKey(service.db, { merchantId: service.merchantId, environment: 'sandbox' });

async function countOf(sql: string, values: readonly unknown[]): Promise<number> {
  const { rows } = await service.db.query<{ count: number }>(`select count(*)::int as count from ${sql}`, [...values]);
  return rows[0]?.count ?? 0;
}

/** The text of every row of every table. */
async function databaseText(): Promise<string> {
  const { rows: tables } = await service.db.query<{ name: string }>(
    `select quote_ident(table_name) as name from information_schema.tables
     where table_schema = 'public' and table_type = 'BASE TABLE'`,
  );
  const texts: string[] = [];
  for (const { name } of tables) {
    const { rows } = await service.db.query<{ text: string | null }>(
      `select string_agg(stored::text, E'\\n') as text from ${name} stored`,
    );
    texts.push(rows[0]?.text ?? '');
  }
  return texts.join('\n');
}

async function createInBrowser(page: Page): Promise<{ secret: string; address: string; command: string }> {
  await page.goto(dashboard.url + home);
  await page.getByRole('link', { name: TEXTS.form.newTitle }).click();
  await page.getByLabel(TEXTS.form.name, { exact: true }).fill('Browser key');
  const isDayShown: boolean[] = [];
  for (const expiry of ['none', 'date', '30'] as const) {
    await page.getByLabel(TEXTS.form.expiries[expiry], { exact: true }).check();
    isDayShown.push(await page.getByLabel(TEXTS.form.expiryDay).isVisible());
  }
  expect(isDayShown).toEqual([false, true, false]);
  await page.getByLabel(TEXTS.form.expiries.none, { exact: true }).check();
  await page.getByRole('button', { name: TEXTS.form.create }).click();
  await page.getByText(TEXTS.issued.once).waitFor();
  const [secret = '', address = '', command = ''] = await page.locator('.copied-text code').allTextContents();
  return { secret, address, command };
}

it('a key is created, used, restricted, rotated and revoked in the browser', async () => {
  const { page, problems, close } = await openPage(browser, 'about:blank');
  await dashboard.signIn(page.context(), DEMO_OWNER_EMAIL);
  const addresses: string[] = [];
  page.on('framenavigated', (frame) => addresses.push(frame.url()));

  const { secret, address, command } = await createInBrowser(page);
  expect(address).toBe(service.apiUrl);
  const { stdout } = await promisify(execFile)('sh', ['-c', command]);
  expect(JSON.parse(stdout)).toMatchObject({ transactions: [] });
  expect(await page.evaluate('JSON.stringify(history.state)')).not.toContain('sk_test');

  page.once('dialog', (dialog) => void dialog.accept());
  await page.reload();
  await page.getByText(TEXTS.issued.exists.text).waitFor();
  expect(await page.content()).not.toContain(secret);

  await page.getByRole('link', { name: TEXTS.issued.exists.show }).click();
  await page.getByRole('link', { name: TEXTS.detail.edit }).click();
  await page.getByLabel(TEXTS.form.networks).fill('127.0.0.1\n203.0.113.0/24');
  await page.getByRole('button', { name: TEXTS.form.save }).click();
  await page.getByText(TEXTS.detail.done.saved).waitFor();
  await eventuallyStatus(secret, 403, '127.0.0.2');
  expect(await statusOf(secret)).toBe(200);

  await page.getByRole('link', { name: TEXTS.detail.rotate }).click();
  await page.getByLabel(TEXTS.rotate.overlaps[1]).check();
  await page.getByRole('button', { name: TEXTS.rotate.button }).click();
  await page.getByText(TEXTS.issued.once).waitFor();
  const newSecret = (await page.locator('.copied-text code').first().textContent()) ?? '';
  expect(newSecret).not.toBe(secret);
  expect([await statusOf(secret), await statusOf(newSecret)]).toEqual([200, 200]);
  expect(await statusOf(newSecret, '127.0.0.2')).toBe(403);

  await page.getByRole('link', { name: TEXTS.issued.done }).click();
  await page.getByRole('link', { name: TEXTS.detail.revoke, exact: true }).click();
  await page.getByText(TEXTS.detail.lastUsedFrom('127.0.0.1')).waitFor();
  await page.getByRole('button', { name: TEXTS.revoke.button }).click();
  await page.getByText(TEXTS.detail.done.revoked).waitFor();
  await eventuallyStatus(newSecret, 401);

  expect(problems).toEqual([]);
  expect(addresses.join()).not.toContain('sk_test');
  const stored = await databaseText();
  expect(stored).toContain('Browser key');
  for (const shown of [secret, newSecret]) {
    const random = shown.slice('sk_test_'.length, -4);
    expect(stored).not.toContain(random);
    expect(log.text()).not.toContain(random);
  }
  await close();
});

it('a revoked key is rejected within a second', async () => {
  const { id, secret } = await ownKey();
  expect(await statusOf(secret)).toBe(200);
  await send({ path: `${home}/${id}/revoke`, form: {} });
  const revokedAtMs = performance.now();
  let acceptedAtMs = revokedAtMs;
  await eventually(
    async () => {
      const sentAtMs = performance.now();
      const status = await statusOf(secret);
      if (status === 200) acceptedAtMs = sentAtMs;
      return status;
    },
    (status) => status === 401,
  );
  expect(acceptedAtMs - revokedAtMs).toBeLessThan(1_000);
});

it('a form that is sent again makes one key and shows no secret', async () => {
  const form = newForm();
  const sent = await Promise.all([0, 1, 2].map(() => send({ path: `${home}/new`, form })));
  expect(sent.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(sent.filter(({ body }) => secretIn(body) !== '')).toHaveLength(1);
  expect(sent.filter(({ body }) => body.includes(TEXTS.issued.exists.text))).toHaveLength(2);
  expect(await countOf('api_keys where id = $1', [form.form_id])).toBe(1);
  const page = sent.find(({ body }) => secretIn(body) !== '');
  expect(page?.headers.get('cache-control')).toBe('no-store');
  expect(page?.body).not.toContain('data-poll');
});

it('a key has exactly the rights of its form, and who created it', async () => {
  const form = newForm({ networks: '203.0.113.7, 2001:db8::1/32', scope_refund: 'on', expiry: '90' });
  const { body } = await send({ path: `${home}/new`, form });
  expect(body).toContain(TEXTS.form.outside('127.0.0.1'));
  const key = await findKey(service.db, service, form.form_id);
  expect(key).toMatchObject({ name: 'Shop server', scopes: ['read', 'refund'], creatorName: 'Demo owner' });
  expect(key.allowedNetworks.toSorted()).toEqual(['2001:db8::/32', '203.0.113.7/32']);
  const days = ((key.expiresAt?.getTime() ?? 0) - key.createdAt.getTime()) / 86_400_000;
  expect(Math.round(days)).toBe(90);
  const actions = await service.db.query<{ detail: string }>(
    `select user_actions.detail from user_actions join user_action_outcomes on action_id = id
     where action = 'key.create' and target = $1 and outcome = 'succeeded'`,
    [form.form_id],
  );
  expect(actions.rows).toHaveLength(1);
  expect(actions.rows[0]?.detail).toContain('203.0.113.7');
});

it.each([
  ['without a name', { name: '' }, TEXTS.form.errors.name],
  ['with a long name', { name: 'x'.repeat(65) }, TEXTS.form.errors.name],
  ['without a scope', { scope_read: '' }, TEXTS.form.errors.scopes],
  ['with a host name', { networks: 'shop.example' }, TEXTS.form.errors.networks],
  ['with a mask of 33 bits', { networks: '203.0.113.7/33' }, TEXTS.form.errors.networks],
  ['with an unknown expiry', { expiry: '7' }, TEXTS.form.errors.expiry],
  ['without its day', { expiry: 'date' }, TEXTS.form.errors.day],
  ['with a day before today', { expiry: 'date', expires_on: '2020-01-01' }, TEXTS.form.errors.day],
  ['with a day in a thousand years', { expiry: 'date', expires_on: '3026-01-01' }, TEXTS.form.errors.day],
])('a form %s is not accepted, and keeps what was typed', async (_name, changes, message) => {
  const form = newForm({ networks: '203.0.113.7', name: '"><i>x', ...changes });
  const { status, body } = await send({ path: `${home}/new`, form });
  expect([status, body.split(message).length]).toEqual([422, 3]);
  expect(body).toContain(form.form_id);
  expect(body).not.toContain('"><i>x');
  expect(await countOf('api_keys where id = $1', [form.form_id])).toBe(0);
});

describe('a rotation', () => {
  const rotate = (keyId: string, form: Readonly<Record<string, string>>) =>
    send({ path: `${home}/${keyId}/rotate`, form });

  it('a rotation that is sent three times makes one key', async () => {
    const { id } = await ownKey();
    const form = { form_id: randomUUID(), overlap: '24' };
    const sent = await Promise.all([0, 1, 2].map(() => rotate(id, form)));
    expect(sent.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(sent.filter(({ body }) => secretIn(body) !== '')).toHaveLength(1);
    expect(await countOf('api_keys where id = $1', [form.form_id])).toBe(1);
  });

  it('a rotation without an overlap ends the old key, and its repeat shows that the new one exists', async () => {
    const { id, secret } = await ownKey();
    const form = { form_id: randomUUID(), overlap: '0' };
    const { body } = await rotate(id, form);
    await eventuallyStatus(secret, 401);
    expect(await statusOf(secretIn(body))).toBe(200);
    expect((await rotate(id, form)).body).toContain(TEXTS.issued.exists.text);
  });

  it('a rotation of a key that has ended is rejected with the reason', async () => {
    const { id } = await ownKey();
    await send({ path: `${home}/${id}/revoke`, form: {} });
    const { status, body } = await rotate(id, { form_id: randomUUID(), overlap: '1' });
    expect([status, body.includes(TEXTS.detail.ended)]).toEqual([409, true]);
    const again = await send({ path: `${home}/${id}/revoke`, form: {} });
    expect([again.status, again.body.includes(TEXTS.revoke.revoked)]).toEqual([409, true]);
  });
});

it('the key of another merchant is 404 on each page and stays as it is', async () => {
  const second = await createSecondMerchant(service.db);
  const { id, secret } = await issueKey(service.db, { merchantId: second.id, environment: 'sandbox', name: 'Theirs' });
  const changes = { name: 'Ours', networks: '203.0.113.7', form_id: randomUUID(), overlap: '0' };
  for (const page of ['', '/edit', '/rotate', '/revoke']) {
    expect([page, (await send({ path: `${home}/${id}${page}` })).status]).toEqual([page, 404]);
    if (page === '') continue;
    expect([page, (await send({ path: `${home}/${id}${page}`, form: changes })).status]).toEqual([page, 404]);
  }
  expect((await send({ path: home })).body).not.toContain('Theirs');
  expect(await statusOf(secret)).toBe(200);
  // The id of a form that is that of their key.
  const { body } = await send({ path: `${home}/new`, form: newForm({ form_id: id }) });
  expect([secretIn(body), body.includes('Theirs')]).toEqual(['', false]);
});

it('a member who may only look sees the keys and no way to change them', async () => {
  const { id } = await ownKey();
  await createMember(service.db, 'support@keys.test', [[service.merchantId, 'support']]);
  const cookie = await dashboard.cookie('support@keys.test');
  expect((await send({ path: home, cookie })).body).not.toContain(`${home}/new`);
  expect((await send({ path: `${home}/${id}`, cookie })).body).not.toContain('/rotate');
  for (const path of [`${home}/new`, `${home}/${id}/edit`, `${home}/${id}/rotate`, `${home}/${id}/revoke`]) {
    expect((await send({ path, form: newForm(), cookie })).status).toBe(403);
  }
});

it('a suspended merchant creates and rotates no key, and revokes one', async () => {
  const { id, secret } = await ownKey();
  await service.db.query("update merchants set status = 'suspended' where id = $1", [service.merchantId]);
  try {
    const form = newForm({ overlap: '0' });
    expect((await send({ path: `${home}/new`, form })).status).toBe(409);
    expect((await send({ path: `${home}/${id}/rotate`, form })).status).toBe(409);
    expect((await send({ path: `${home}/${id}/edit`, form })).status).toBe(409);
    expect((await send({ path: `${home}/${id}/revoke`, form: {} })).status).toBe(303);
  } finally {
    await service.db.query("update merchants set status = 'approved' where id = $1", [service.merchantId]);
  }
  await eventuallyStatus(secret, 401);
});

describe('a developer', () => {
  const ONLY_OWNER = DASHBOARD_TEXTS.en.onlyRoles([DASHBOARD_TEXTS.en.roles.owner]);
  const developer = async () => {
    const email = `${randomUUID()}@keys.test`;
    await createMember(service.db, email, [[service.merchantId, 'developer']]);
    return dashboard.cookie(email);
  };
  const keyWith = (scopes?: readonly MerchantScope[]) =>
    issueKey(service.db, { merchantId: service.merchantId, environment: 'sandbox', name: 'Granted', scopes });

  it('gives the rights that a server needs to take payments, and no other', async () => {
    const cookie = await developer();
    const allowed = newForm({ scope_create: 'on', scope_cancel: 'on' });
    const created = await send({ path: `${home}/new`, form: allowed, cookie });
    expect([created.status, secretIn(created.body).length]).toEqual([200, 49]);
    const { body } = await send({ path: `${home}/new`, cookie });
    expect(/<input[^>]*name="scope_refund"[^>]*>/.exec(body)?.[0]).toContain('disabled');
    expect(/<input[^>]*name="scope_cancel"[^>]*>/.exec(body)?.[0]).not.toContain('disabled');
    expect(body).toContain(ONLY_OWNER);
    const form = newForm({ scope_refund: 'on' });
    const rejected = await send({ path: `${home}/new`, form, cookie });
    expect([rejected.status, secretIn(rejected.body)]).toEqual([422, '']);
    expect(rejected.body).toContain('id="scopes-error"');
    expect(await countOf('api_keys where id = $1', [form.form_id])).toBe(0);
  });

  it.each([
    ['with every right', undefined],
    ['that may refund', ['read', 'refund'] as const],
  ])('a developer neither rotates nor edits a key %s, and may revoke it', async (_name, scopes) => {
    const cookie = await developer();
    const { id, secret } = await keyWith(scopes);
    expect((await send({ path: `${home}/${id}`, cookie })).body).toContain(ONLY_OWNER);
    const form = { form_id: randomUUID(), overlap: '0', name: 'Taken', networks: '' };
    for (const page of ['rotate', 'edit']) {
      const { body } = await send({ path: `${home}/${id}/${page}`, cookie });
      expect([page, body.includes(ONLY_OWNER)]).toEqual([page, true]);
      const sent = await send({ path: `${home}/${id}/${page}`, form, cookie });
      expect([page, sent.status, secretIn(sent.body), sent.body.includes(ONLY_OWNER)]).toEqual([page, 409, '', true]);
    }
    expect(await findKey(service.db, service, id)).toMatchObject({
      name: 'Granted',
      expiresAt: null,
    });
    expect(await countOf('api_keys where id = $1', [form.form_id])).toBe(0);
    expect(await statusOf(secret)).toBe(200);
    expect((await send({ path: `${home}/${id}/revoke`, form: {}, cookie })).status).toBe(303);
  });

  it('rotates and edits a key with the rights that it may give', async () => {
    const cookie = await developer();
    const { id } = await keyWith(['read', 'create']);
    const edited = await send({ path: `${home}/${id}/edit`, form: { name: 'Renamed', networks: '' }, cookie });
    expect(edited.status).toBe(303);
    const form = { form_id: randomUUID(), overlap: '0' };
    const rotated = await send({ path: `${home}/${id}/rotate`, form, cookie });
    expect([rotated.status, secretIn(rotated.body).length]).toEqual([200, 49]);
  });
});
