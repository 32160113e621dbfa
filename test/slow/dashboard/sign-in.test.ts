import { randomUUID } from 'node:crypto';
import { TOTP } from 'otpauth';
import type { Browser, Page } from 'playwright-core';
import { setRecorder } from '../../../src/observability/metrics';
import { PasswordHasher } from '../../../src/services/identity/password';
import { PROFILE_TEXTS } from '../../../src/web/dashboard/profile/profile-texts';
import { DASHBOARD_ROUTES } from '../../../src/web/dashboard/routes';
import { SIGN_IN_TEXTS } from '../../../src/web/dashboard/sign-in/sign-in-texts';
import { DASHBOARD_TEXTS } from '../../../src/web/dashboard/texts/texts';
import { openPage, startBrowser } from '../../support/browser';
import { startTestDashboard, type TestDashboard } from '../../support/dashboard';
import { hiddenField, HttpBrowser } from '../../support/http-browser';
import { createMember, createShop } from '../../support/people';
import { newNamespace, startTestService, type TestService } from '../../support/service';
import { inviteAt, removeAt, resetAt, withdrawAt } from '../../support/team';

const PASSWORD = 'kopi tubruk di teras';
const TEXTS = SIGN_IN_TEXTS.en;
const PROFILE = PROFILE_TEXTS.en;
const STEP_MS = 30_000;
const SECURITY = '/profile/security';

let service: TestService;
let dashboard: TestDashboard;
let production: TestDashboard;
let browser: Browser;
let passwordHash: string;
let people = 0;

beforeAll(async () => {
  service = await startTestService(await newNamespace());
  [dashboard, production, browser, passwordHash] = await Promise.all([
    startTestDashboard(service),
    startTestDashboard(service, 'production'),
    startBrowser(),
    new PasswordHasher().hash(PASSWORD),
  ]);
});
afterAll(async () => {
  await Promise.all([dashboard.close(), production.close(), browser.close()]);
  await service.close();
});
// Each test has the limits of its own.
beforeEach(() => service.db.query('delete from rate_limits'));

const query = (sql: string, values: readonly unknown[] = []) => service.db.query(sql, [...values]);

/** A member of a new merchant, with a password. */
async function createUser(): Promise<{ readonly email: string; readonly userId: string; readonly home: string }> {
  const email = `user${(people += 1)}@shop.test`;
  const shop = await createShop(service.db);
  const userId = await createMember(service.db, email, [[shop.id, 'owner']]);
  await query('update users set password_hash = $2 where id = $1', [userId, passwordHash]);
  return { email, userId, home: `/m/${shop.code}` };
}

const loginFields = (email: string, password = PASSWORD, then = '/') =>
  [
    ['email', email],
    ['password', password],
    ['then', then],
  ] as const;

/** A browser that is signed in by the password. */
async function signedIn(email: string): Promise<HttpBrowser> {
  const client = new HttpBrowser(dashboard.url);
  expect((await client.post('/login', loginFields(email))).location).toBe('/');
  return client;
}

async function invite(email: string): Promise<{ readonly path: string; readonly id: string; readonly shopId: string }> {
  const shop = await createShop(service.db, 'Toko Undangan');
  const request = { merchantId: shop.id, email, role: 'finance', createdBy: 'cli:test' } as const;
  const { token, id } = await inviteAt(service.db, request, new Date());
  return { path: `/invitations/${token}`, id, shopId: shop.id };
}

const codeAt = (secret: string, offsetMs = 0) => new TOTP({ secret }).generate({ timestamp: Date.now() + offsetMs });

/** Sets the authenticator app that the page shows. @returns its secret */
async function enrol(page: Page): Promise<string> {
  const secret = ((await page.locator('.totp-secret').textContent()) ?? '').replaceAll(' ', '');
  await page.locator('#code').fill(codeAt(secret));
  await page.getByRole('button', { name: TEXTS.enrol.button }).click();
  await page.getByRole('heading', { name: TEXTS.recovery.title }).waitFor();
  return secret;
}

describe.each([true, false])('in a browser that runs scripts: %s', (javaScriptEnabled) => {
  it('a new user comes from the invitation to home, signs out and in, and changes the password', async () => {
    const { path } = await invite(`new${(people += 1)}@shop.test`);
    const { page, problems, close } = await openPage(browser, `${production.url}${path}`, { javaScriptEnabled });
    const email = `new${people}@shop.test`;
    await page.getByText(TEXTS.invitation.invited(email, DASHBOARD_TEXTS.en.roles.finance)).waitFor();
    await page.locator('#name').fill('Budi');
    await page.locator('#password').fill(PASSWORD);
    await page.locator('#repeat').fill(PASSWORD);
    await page.getByRole('button', { name: TEXTS.invitation.create }).click();
    await page.waitForURL('**/login/enrol');
    await page.goto(production.url);
    expect(new URL(page.url()).pathname).toBe('/login/enrol');
    const secret = await enrol(page);
    const codes = await page.locator('.recovery-codes code').allTextContents();
    expect(codes).toHaveLength(10);
    await page.getByRole('link', { name: TEXTS.recovery.stored }).click();
    await page.waitForURL('**/m/*');
    await page.getByRole('button', { name: DASHBOARD_TEXTS.en.signOut }).locator('visible=true').click();
    await page.waitForURL('**/login');

    await page.goto(`${production.url}${SECURITY}/password`);
    await page.locator('#email').fill(email);
    await page.locator('#password').fill(PASSWORD);
    await page.getByRole('button', { name: TEXTS.login.button }).click();
    await page.locator('#code').fill(codeAt(secret, STEP_MS));
    await page.getByRole('button', { name: TEXTS.continue }).click();
    await page.waitForURL(`**${SECURITY}/password`);

    await query("update sessions set stepped_up_at = now() - interval '6 minutes' where ended_at is null");
    await page.reload();
    await page.getByRole('heading', { name: TEXTS.stepUp.title }).waitFor();
    await page.locator('#code').fill(codes[0] ?? '');
    await page.getByRole('button', { name: TEXTS.continue }).click();
    await page.waitForURL(`**${SECURITY}/password`);
    await page.locator('#password').fill('teh botol dingin 88');
    await page.locator('#repeat').fill('teh botol dingin 88');
    await page.getByRole('button', { name: PROFILE.password.change }).click();
    await page.getByText(PROFILE.done.password).waitFor();
    await page.getByText(PROFILE.codes.left(9)).waitFor();
    expect(problems).toEqual([]);
    await close();
  });
});

describe('a form', () => {
  it.each([
    ['from another site', { 'sec-fetch-site': 'cross-site' }],
    ['from another port', { 'sec-fetch-site': 'same-site' }],
    ['typed into the address bar', { 'sec-fetch-site': 'none' }],
    ['of a foreign origin', { origin: 'https://evil.test' }],
    ['of a hidden origin', { origin: 'null' }],
    ['without an origin', {}],
  ])('%s: no route accepts it, also without a session', async (_name, headers) => {
    const { email } = await createUser();
    for (const client of [await signedIn(email), new HttpBrowser(dashboard.url)]) {
      for (const { path } of DASHBOARD_ROUTES.filter(({ method }) => method === 'post')) {
        const { status } = await client.post(path.replaceAll(/:\w+/g, 'x'), loginFields(email), headers);
        expect([path, status]).toEqual([path, 403]);
      }
    }
  });
});

describe('a sign-in', () => {
  it('a sign-in of an unknown e-mail and one of a wrong password have the same page', async () => {
    const { email } = await createUser();
    const failed: unknown[] = [];
    setRecorder({ increment: (_, { reason }) => failed.push(reason), observe: () => undefined });
    const pages = [];
    for (const [sent, password] of [
      [email, 'wrong password'],
      ['unknown@shop.test', PASSWORD],
    ] as const) {
      const { status, body } = await new HttpBrowser(dashboard.url).post('/login', loginFields(sent, password));
      expect(body).not.toContain(password);
      pages.push([status, body.replaceAll(sent, '')]);
    }
    expect(pages[0]?.[0]).toBe(422);
    expect(pages[0]).toEqual(pages[1]);
    expect(failed.filter((reason) => reason === 'credentials')).toHaveLength(2);
  });

  it('a sign-in of an unknown e-mail and one of a known e-mail take equally long', async () => {
    const { email } = await createUser();
    const times = { known: [] as number[], unknown: [] as number[] };
    for (let count = 0; count < 15; count += 1) {
      for (const kind of ['known', 'unknown'] as const) {
        await query('delete from rate_limits');
        const sent = kind === 'known' ? email : `unknown${count}@shop.test`;
        const startMs = performance.now();
        await new HttpBrowser(dashboard.url).post('/login', loginFields(sent, 'wrong password'));
        times[kind].push(performance.now() - startMs);
      }
    }
    const median = (values: number[]) => values.toSorted((one, other) => one - other)[7] ?? 0;
    const ratio = median(times.known) / median(times.unknown);
    // Without a hash for an unknown e-mail it is about ten.
    expect(ratio).toBeGreaterThan(0.5);
    expect(ratio).toBeLessThan(2);
  });

  it('waits after five wrong passwords; a browser of the user does not wait for those of a stranger', async () => {
    const { email } = await createUser();
    const own = await signedIn(email);
    await own.post('/logout');
    const stranger = new HttpBrowser(dashboard.url);
    for (let count = 0; count < 5; count += 1) await stranger.post('/login', loginFields(email, 'wrong password'));
    const { status, headers, body } = await stranger.post('/login', loginFields(email));
    expect(status).toBe(429);
    const seconds = Number(headers['retry-after']);
    expect(seconds).toBeGreaterThan(0);
    expect(body).toContain(TEXTS.problems.throttled(seconds));
    expect((await own.post('/login', loginFields(email))).location).toBe('/');
    // The cookie of one user is of no use for another one.
    const other = await createUser();
    for (let count = 0; count < 5; count += 1)
      await stranger.post('/login', loginFields(other.email, 'wrong password'));
    expect((await own.post('/login', loginFields(other.email))).status).toBe(429);
  });

  it('a sign-in is closed if the store of the limits is away', async () => {
    const { email } = await createUser();
    await query('alter table rate_limits rename to rate_limits_away');
    try {
      const { status, headers, body } = await new HttpBrowser(dashboard.url).post('/login', loginFields(email));
      expect([status, headers['retry-after']]).toEqual([503, '5']);
      expect(body).toContain(TEXTS.problems.unavailable);
    } finally {
      await query('alter table rate_limits_away rename to rate_limits');
    }
  });

  it('a sign-in has a new token, and ends the session that the browser had', async () => {
    const [one, other] = [await createUser(), await createUser()];
    const client = await signedIn(one.email);
    const before = new HttpBrowser(dashboard.url);
    for (const pair of client.cookies) before.cookies.set(...pair);
    expect((await client.post('/login', loginFields(other.email))).location).toBe('/');
    expect(client.cookies.get(dashboard.cookieName)).not.toBe(before.cookies.get(dashboard.cookieName));
    expect((await before.get(one.home)).location).toBe(`/login?then=${encodeURIComponent(one.home)}`);
    expect((await client.get(one.home)).status).toBe(404);
  });

  it.each(['//evil.test', '/\\evil.test', 'https://evil.test', '/unknown', '/start/lnk_x', 'javascript:alert(1)'])(
    'returns home instead of to %j',
    async (then) => {
      const { email } = await createUser();
      const client = new HttpBrowser(dashboard.url);
      const address = `/login?${new URLSearchParams([['then', then]]).toString()}`;
      expect(hiddenField(await client.get(address), 'then')).toBe('/');
      expect((await client.post('/login', loginFields(email, PASSWORD, then))).location).toBe('/');
      expect((await client.get(address)).location).toBe('/');
      await query('update sessions set stepped_up_at = null');
      const stepUp = [
        ['password', PASSWORD],
        ['then', then],
      ] as const;
      expect((await client.post('/step-up', stepUp)).location).toBe('/');
    },
  );

  it('a sign-in in production opens no page before the code, and the code works once', async () => {
    const { email, home } = await createUser();
    const client = new HttpBrowser(production.url);
    expect((await client.post('/login', loginFields(email, PASSWORD, home))).location).toContain('/login/enrol?then=');
    expect((await client.get(home)).location).toContain('/login/enrol?then=');
    const page = await client.get('/login/enrol');
    const secret = /totp-secret">([^<]+)</.exec(page.body)?.[1]?.replaceAll(' ', '') ?? '';
    const enrolment = hiddenField(page, 'enrolment');
    const wrong = await client.post('/login/enrol', [
      ['enrolment', enrolment],
      ['code', '000000'],
    ]);
    expect(wrong.status).toBe(422);
    expect(wrong.body).toContain(/totp-secret">[^<]+</.exec(page.body)?.[0]);
    const code = codeAt(secret);
    const token = client.cookies.get(production.cookieName);
    const enrolled = await client.post('/login/enrol', [
      ['enrolment', enrolment],
      ['code', code],
    ]);
    expect(enrolled.status).toBe(200);
    expect(client.cookies.get(production.cookieName)).not.toBe(token);
    expect((await client.get(home)).status).toBe(200);

    const second = new HttpBrowser(production.url);
    await second.post('/login', loginFields(email, PASSWORD, home));
    expect((await second.get(home)).location).toContain('/login/code?then=');
    const used = await second.post('/login/code', [
      ['code', code],
      ['then', home],
    ]);
    expect([used.status, used.body.includes(TEXTS.problems.code)]).toEqual([422, true]);
    expect(
      (
        await second.post('/login/code', [
          ['code', codeAt(secret, STEP_MS)],
          ['then', home],
        ])
      ).location,
    ).toBe(home);
  });
});

describe('a session', () => {
  it.each([
    ['after 12 hours without a request', "last_seen_at = now() - interval '12 hours'"],
    ['after 7 days', 'expires_at = now()'],
  ])('ends %s', async (_name, change) => {
    const { email, home, userId } = await createUser();
    const client = await signedIn(email);
    expect((await client.get(home)).status).toBe(200);
    await query(`update sessions set ${change} where user_id = $1`, [userId]);
    expect((await client.get(home)).location).toContain('/login?then=');
    expect((await client.get(home, { 'x-poll': '1' })).status).toBe(401);
  });

  it('a session is extended by a click, and not by a poll', async () => {
    const { email, home, userId } = await createUser();
    const client = await signedIn(email);
    await query("update sessions set last_seen_at = now() - interval '1 hour' where user_id = $1", [userId]);
    const isRecent = async () =>
      (await query("select from sessions where user_id = $1 and last_seen_at > now() - interval '1 minute'", [userId]))
        .rowCount === 1;
    expect((await client.get(home, { 'x-poll': '1' })).status).toBe(200);
    expect(await isRecent()).toBe(false);
    expect((await client.get(home)).status).toBe(200);
    expect(await isRecent()).toBe(true);
  });

  it('a session is ended from the list: one, all others, and by a new password', async () => {
    const { email } = await createUser();
    const isSignedIn = async (client: HttpBrowser) => (await client.get('/profile')).status === 200;
    const [own, one, two] = [await signedIn(email), await signedIn(email), await signedIn(email)];
    const list = await own.get(SECURITY);
    expect(list.body.match(/name="session"/g)).toHaveLength(2);
    expect((await own.post(`${SECURITY}/sessions/end`, [['session', hiddenField(list, 'session')]])).status).toBe(303);
    expect((await Promise.all([own, one, two].map(isSignedIn))).filter(Boolean)).toHaveLength(2);
    await own.post(`${SECURITY}/sessions/end-others`);
    expect(await Promise.all([own, one, two].map(isSignedIn))).toEqual([true, false, false]);
    const third = await signedIn(email);
    const changed = [
      ['password', 'teh botol dingin 88'],
      ['repeat', 'teh botol dingin 88'],
    ] as const;
    expect((await own.post(`${SECURITY}/password`, changed)).location).toBe(`${SECURITY}?done=password`);
    expect(await Promise.all([own, third].map(isSignedIn))).toEqual([true, false]);
  });

  it('attack: a user does not end the session of another one', async () => {
    const [victim, attacker] = [await createUser(), await createUser()];
    const client = await signedIn(victim.email);
    const { rows } = await query('select id from sessions where user_id = $1', [victim.userId]);
    await (await signedIn(attacker.email)).post(`${SECURITY}/sessions/end`, [['session', String(rows[0]?.id)]]);
    expect((await client.get('/profile')).status).toBe(200);
  });

  it('a session of a removed member opens no page of the merchant any more', async () => {
    const { email, home, userId } = await createUser();
    const client = await signedIn(email);
    expect((await client.get(home)).status).toBe(200);
    const { rows } = await query('select merchant_id from members where user_id = $1', [userId]);
    const merchantId = String(rows[0]?.merchant_id);
    await createMember(service.db, `second${people}@shop.test`, [[merchantId, 'owner']]);
    await removeAt(service.db, { merchantId, userId }, new Date());
    expect((await client.get(home)).status).toBe(404);
  });

  it('a session has sixty forms a minute: the next one waits, and its page shows how long', async () => {
    const { email } = await createUser();
    const client = await signedIn(email);
    const statuses = [];
    for (let count = 0; count < 60; count += 1) statuses.push((await client.post('/profile')).status);
    expect(new Set(statuses)).toEqual(new Set([422]));
    const { status, headers, body } = await client.post('/profile');
    expect(status).toBe(429);
    expect(body).toContain(DASHBOARD_TEXTS.en.waitFor(Number(headers['retry-after'])));
  });
});

describe('a step-up', () => {
  const steppedUp = (email: string, minutes: number) =>
    query(
      `update sessions set stepped_up_at = now() - make_interval(mins => $2)
       where user_id = (select id from users where email = $1)`,
      [email, minutes],
    );

  it.each([
    ['get', 4, false],
    ['get', 6, true],
    ['post', 14, false],
    ['post', 16, true],
  ] as const)('a step-up of %s, %s minutes ago: asked again is %s', async (method, minutes, isAsked) => {
    const { email } = await createUser();
    const client = await signedIn(email);
    await steppedUp(email, minutes);
    for (const { path } of DASHBOARD_ROUTES.filter((route) => route.method === method && route.stepUp)) {
      if (path.startsWith('/m/')) continue;
      const { location = '' } = await client[method](path.replace(':id', randomUUID()));
      expect([path, location.startsWith('/step-up?then=')]).toEqual([path, isAsked]);
      // A new set of codes would replace the token.
      await steppedUp(email, minutes);
    }
  });

  it('returns to the page with a new token; the old one is of no use', async () => {
    const { email } = await createUser();
    const client = await signedIn(email);
    await steppedUp(email, 6);
    const old = new HttpBrowser(dashboard.url);
    for (const pair of client.cookies) old.cookies.set(...pair);
    const { location = '' } = await client.get(`${SECURITY}/totp`);
    const page = await client.get(location);
    const then = hiddenField(page, 'then');
    const wrong = await client.post('/step-up', [
      ['password', 'wrong password'],
      ['then', then],
    ]);
    expect([wrong.status, wrong.body.includes(TEXTS.problems.password)]).toEqual([422, true]);
    expect(
      (
        await client.post('/step-up', [
          ['password', PASSWORD],
          ['then', then],
        ])
      ).location,
    ).toBe(`${SECURITY}/totp`);
    expect((await client.get(`${SECURITY}/totp`)).status).toBe(200);
    expect((await old.get('/profile')).location).toContain('/login');
  });
});

describe('an invitation', () => {
  const FORM = [
    ['name', 'Budi'],
    ['password', PASSWORD],
    ['repeat', PASSWORD],
  ] as const;

  it.each(['used', 'expired', 'withdrawn', 'unknown'])('an invitation that is %s shows what to do', async (state) => {
    const email = `invited${(people += 1)}@shop.test`;
    const { path, id, shopId } = await invite(email);
    if (state === 'used') await new HttpBrowser(dashboard.url).post(path, FORM);
    if (state === 'expired') await query('update sign_in_links set expires_at = now() where id = $1', [id]);
    if (state === 'withdrawn') await withdrawAt(service.db, { merchantId: shopId, id }, new Date());
    const address = state === 'unknown' ? '/invitations/lnk_unknown' : path;
    const client = new HttpBrowser(dashboard.url);
    for (const { status, body } of [
      await client.get(`${address}?lang=en`),
      await client.post(`${address}?lang=en`, FORM),
    ]) {
      expect([status, body.includes(TEXTS.invitation.invalidNext)]).toEqual([404, true]);
    }
  });

  it('an invitation is shown however often it is opened, and keeps the name after a wrong password', async () => {
    const { path } = await invite(`invited${(people += 1)}@shop.test`);
    const client = new HttpBrowser(dashboard.url);
    for (let count = 0; count < 3; count += 1) expect((await client.get(path)).status).toBe(200);
    const short = [
      ['name', 'Budi'],
      ['password', 'kopi'],
      ['repeat', 'kopi'],
    ] as const;
    const { status, body } = await client.post(`${path}?lang=en`, short);
    expect(status).toBe(422);
    expect(body).toContain(TEXTS.violations.too_short);
    expect(body).toContain('value="Budi"');
    expect(body).not.toContain('value="kopi"');
    expect((await client.post(path, [...FORM.slice(0, 2), ['repeat', 'other']])).status).toBe(422);
    expect((await client.post(path, FORM)).location).toBe('/');
  });

  it('leads a known user by the sign-in to the button, and joins; another user cannot', async () => {
    const { email } = await createUser();
    const { path } = await invite(email);
    const client = new HttpBrowser(dashboard.url);
    const { body } = await client.get(path);
    const login = `/login?then=${encodeURIComponent(path)}`;
    expect(body).toContain(`href="${login}"`);
    expect((await client.post(path, FORM)).status).toBe(404);
    const other = await signedIn((await createUser()).email);
    expect((await other.get(path)).body).toContain('action="/logout"');
    expect((await other.post(`${path}/join`)).status).toBe(404);
    expect((await client.post(`${path}/join`)).location).toBe(login);
    expect((await client.post('/login', loginFields(email, PASSWORD, path))).location).toBe(path);
    expect((await client.get(path)).body).toContain(`action="${path}/join"`);
    expect((await client.post(`${path}/join`)).location).toBe('/');
    expect((await client.get('/')).body).toContain('Toko Undangan');
    expect((await client.post(`${path}/join`)).status).toBe(404);
  });
});

describe('a reset', () => {
  it('sets a password once; in production the second factor has to be set again', async () => {
    const { email, userId } = await createUser();
    const client = await signedIn(email);
    const request = { userId, createdBy: 'cli:test', merchantId: null };
    const { token } = await resetAt(service.db, request, new Date());
    const visitor = new HttpBrowser(production.url);
    expect((await visitor.get(`/reset/${token}`)).body).toContain(email);
    const form = [
      ['password', 'teh botol dingin 88'],
      ['repeat', 'teh botol dingin 88'],
    ] as const;
    expect((await visitor.post(`/reset/${token}`, form)).location).toBe('/login/enrol');
    expect((await client.get('/profile')).location).toContain('/login');
    const again = await visitor.post(`/reset/${token}?lang=en`, form);
    expect([again.status, again.body.includes(TEXTS.reset.invalidTitle)]).toEqual([404, true]);
    expect((await new HttpBrowser(dashboard.url).post('/login', loginFields(email))).status).toBe(422);
  });
});

it('the address of a link is in no referrer to another origin, and is not stored by a cache', async () => {
  const { path } = await invite(`invited${(people += 1)}@shop.test`);
  const { headers } = await new HttpBrowser(dashboard.url).get(path);
  expect(headers).toMatchObject({ 'referrer-policy': 'same-origin', 'cache-control': 'no-store' });
});
