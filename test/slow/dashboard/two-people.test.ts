import type { Environment } from '../../../src/config';
import { createSealer } from '../../../src/crypto/sealing';
import { createPool } from '../../../src/db/connection/pool';
import type { MemberRole } from '../../../src/domain/member-roles';
import { seedPayouts } from '../../../src/services/sandbox/seed-payouts';
import { HOME_TEXTS } from '../../../src/web/dashboard/home/home-texts';
import { ACTION_REJECTION_TEXTS } from '../../../src/web/dashboard/payouts/action-rejection-texts';
import { SECOND_MEMBER_TEXTS } from '../../../src/web/dashboard/texts/second-member-texts';
import { asSuperuser } from '../../support/backdate';
import { startTestDashboard, type TestDashboard } from '../../support/dashboard';
import { HttpBrowser, type PageResponse } from '../../support/http-browser';
import { addLines, preparePayouts } from '../../support/payouts';
import { ageMembers, createMember, createShop } from '../../support/people';
import { newNamespace, startTestService, type TestService } from '../../support/service';

/*
 * docs/payouts.md: a link that one person sees never makes the other voice of a payout. Each path begins with the pages
 * of one owner, who opens the link of the other login and is both people then.
 */

const PASSWORD = 'kopi tubruk di teras';
const texts = ACTION_REJECTION_TEXTS.en;
const samePerson = SECOND_MEMBER_TEXTS.en.same_person();

let service: TestService;
let dashboard: TestDashboard;
let shops = 0;

beforeAll(async () => {
  service = await startTestService(await newNamespace());
  const db = createPool(service.operatorDatabaseUrl, { max: 2 });
  const { sandboxUrl, apiUrl, masterKey } = service;
  await seedPayouts({ db, sealer: createSealer(masterKey), sandboxUrl, apiUrl });
  await db.end();
  dashboard = await startTestDashboard(service, 'production');
});
afterAll(async () => {
  await dashboard.close();
  await service.close();
});

/** Only a sandbox has the bank accounts and limits of tests. */
const changeEnvironment = (environment: Environment) =>
  asSuperuser(service.db, `update installation set environment = '${environment}'`);

/** A shop with an owner and a second member, both of long ago, and money to pay out. */
async function newShop() {
  shops += 1;
  const shop = await createShop(service.db, `Toko ${shops}`);
  await changeEnvironment('sandbox');
  const payouts = await preparePayouts(service, shop.id);
  await changeEnvironment('production');
  const member = (name: string, role: MemberRole) =>
    createMember(service.db, `${name}-${shops}@shop.test`, [[shop.id, role]]);
  await member('rina', 'owner');
  const sitiId = await member('siti', 'finance');
  await ageMembers(service.db);
  await addLines(payouts, [100_000]);
  const home = `/m/${shop.code}`;
  return { home, team: `${home}/team`, sitiId, rina: await signedIn('rina'), email: `siti-${shops}@shop.test` };
}

async function signedIn(name: string): Promise<HttpBrowser> {
  return withSession(`${name}-${shops}@shop.test`);
}

async function withSession(email: string): Promise<HttpBrowser> {
  const browser = new HttpBrowser(dashboard.url);
  await changeEnvironment('sandbox');
  const [name = '', value = ''] = (await dashboard.cookie(email)).split('=');
  await asSuperuser(
    service.db,
    "update sessions set method = 'passkey', stepped_up_at = now() where method = 'development_link'",
  );
  await changeEnvironment('production');
  browser.cookies.set(name, value);
  return browser;
}

const linkIn = ({ body }: PageResponse, kind: string) =>
  new RegExp(`<code>${dashboard.url}(/${kind}/[^<]+)</code>`).exec(body)?.[1] ?? '';

/** Sends the form of a page as it is. */
async function send(browser: HttpBrowser, path: string): Promise<PageResponse> {
  const { body } = await browser.get(path);
  const hidden = body.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g);
  const fields = [...hidden].map(([, name = '', value = '']) => [name, value] as const);
  return browser.post(
    path,
    fields.filter(([name]) => name !== 'language' && name !== 'then'),
  );
}

/** Requests the balance. @returns the path of the payout */
async function request(browser: HttpBrowser, home: string): Promise<string> {
  const { status, location = '' } = await send(browser, `${home}/payouts/new`);
  expect(status).toBe(303);
  return location.replace('?done=requested', '');
}

it('two members with logins of their own are two people', async () => {
  const { home, rina } = await newShop();
  const payout = await request(rina, home);
  expect((await send(await signedIn('siti'), `${payout}/approve`)).status).toBe(303);
});

it('attack: an owner resets the login of the other member, and Lunas has to approve', async () => {
  const { home, team, sitiId, rina, email } = await newShop();
  const link = linkIn(await rina.post(`${team}/${sitiId}/reset`), 'reset');
  const fields = ['password', 'repeat'].map((name) => [name, PASSWORD] as const);
  expect((await new HttpBrowser(dashboard.url).post(link, fields)).location).toBe('/login/enrol');
  const payout = await request(rina, home);
  const other = await withSession(email);
  const rejected = await send(other, `${payout}/approve`);
  expect([rejected.status, rejected.body]).toEqual([409, expect.stringContaining(texts.by_operator)]);
  await ageMembers(service.db);
  expect((await send(other, `${payout}/approve`)).status).toBe(409);
});

it('attack: an owner accepts the own invitation, and the login is no second person', async () => {
  const { home, team, rina } = await newShop();
  const email = `budi-${shops}@shop.test`;
  const invited = await rina.post(`${team}/invite`, [
    ['email', email],
    ['role', 'owner'],
  ]);
  const accepted = await new HttpBrowser(dashboard.url).post(linkIn(invited, 'invitations'), [
    ['name', 'Budi'],
    ['password', PASSWORD],
    ['repeat', PASSWORD],
  ]);
  expect(accepted.status).toBe(303);
  await ageMembers(service.db);
  const payout = await request(rina, home);
  const rejected = await send(await withSession(email), `${payout}/approve`);
  expect([rejected.status, rejected.body]).toEqual([409, expect.stringContaining(samePerson)]);
  expect((await send(await signedIn('siti'), `${payout}/approve`)).status).toBe(303);
});

it('attack: an owner invites the own login of another shop, and it is no second person', async () => {
  const { home, team, rina } = await newShop();
  const other = await createShop(service.db, 'Toko Lain');
  const email = `budi-${shops}@shop.test`;
  await createMember(service.db, email, [[other.id, 'owner']]);
  const invited = await rina.post(`${team}/invite`, [
    ['email', email],
    ['role', 'owner'],
  ]);
  const budi = await withSession(email);
  expect((await budi.post(`${linkIn(invited, 'invitations')}/join`)).status).toBe(303);
  await ageMembers(service.db);
  const payout = await request(rina, home);
  const rejected = await send(budi, `${payout}/approve`);
  expect([rejected.status, rejected.body]).toEqual([409, expect.stringContaining(samePerson)]);
  const siti = await signedIn('siti');
  const waits = HOME_TEXTS.en.attention.payoutWaits(payout.split('/').at(-1) ?? '');
  const homes = [await budi.get(home), await siti.get(home)];
  expect(homes.map(({ body }) => body.includes(waits))).toEqual([false, true]);
  expect((await send(siti, `${payout}/approve`)).status).toBe(303);
});

it('attack: an owner removes the other member, and Lunas has to approve', async () => {
  const { home, team, sitiId, rina } = await newShop();
  expect((await rina.post(`${team}/${sitiId}/remove`)).location).toBe(`${team}?done=removed`);
  const payout = await request(rina, home);
  const { rows } = await service.db.query('select approval_kind from payouts where reference_id = $1', [
    payout.split('/').at(-1),
  ]);
  expect(rows).toEqual([{ approval_kind: 'operator' }]);
});
