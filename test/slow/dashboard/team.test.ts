import type { MemberRole } from '../../../src/domain/member-roles';
import { findKey } from '../../../src/services/merchants/keys/api-key';
import { NOTICE_TEXTS } from '../../../src/web/dashboard/notices/notice-texts';
import { TEAM_TEXTS } from '../../../src/web/dashboard/team/team-texts';
import { startTestDashboard, type TestDashboard } from '../../support/dashboard';
import { HttpBrowser, type PageResponse } from '../../support/http-browser';
import { issueKey } from '../../support/keys';
import { createMember, createShop, signInMany } from '../../support/people';
import { newNamespace, startTestService, type TestService } from '../../support/service';

const { en: texts } = TEAM_TEXTS;
const PASSWORD = 'kopi tubruk di teras';

let service: TestService;
let dashboard: TestDashboard;

beforeAll(async () => {
  service = await startTestService(await newNamespace());
  dashboard = await startTestDashboard(service);
});
afterAll(async () => {
  await dashboard.close();
  await service.close();
});

let shops = 0;

/** A merchant of its own, with an owner who is signed in. */
async function newShop() {
  shops += 1;
  const shop = await createShop(service.db, `Toko ${shops}`);
  const email = `owner-${shops}@shop.test`;
  const ownerId = await createMember(service.db, email, [[shop.id, 'owner']]);
  const member = (name: string, role: MemberRole) =>
    createMember(service.db, `${name}-${shops}@shop.test`, [[shop.id, role]]);
  return { shop, home: `/m/${shop.code}`, team: `/m/${shop.code}/team`, ownerId, owner: await signedIn(email), member };
}

async function signedIn(email: string): Promise<HttpBrowser> {
  const browser = new HttpBrowser(dashboard.url);
  const [name = '', value = ''] = (await dashboard.cookie(email)).split('=');
  browser.cookies.set(name, value);
  return browser;
}

const emailOf = async (userId: string) =>
  (await service.db.query<{ email: string }>('select email from users where id = $1', [userId])).rows[0]?.email ?? '';

async function rowsOf(merchantId: string) {
  const { rows } = await service.db.query<{ action: string; outcome: string | null }>(
    `select action, outcome from user_actions left join user_action_outcomes on action_id = id
     where merchant_id = $1 order by id`,
    [merchantId],
  );
  return rows.map(({ action, outcome }) => `${action} ${outcome}`);
}

const escaped = (text: string) => text.replaceAll("'", '&#x27;');
const linkIn = ({ body }: PageResponse, kind: string) =>
  new RegExp(`<code>${dashboard.url}(/${kind}/[^<]+)</code>`).exec(body)?.[1] ?? '';

it('shows a large team in pages of 50, each member once, and the invitations on the first page', async () => {
  const { shop, team, owner } = await newShop();
  await signInMany(service.db, shop.id, 104);
  await owner.post(`${team}/invite`, [
    ['email', 'sri@toko.test'],
    ['role', 'cashier'],
  ]);
  const pages = [await owner.get(team)];
  for (let next = nextIn(pages[0]); next !== undefined; next = nextIn(pages.at(-1))) pages.push(await owner.get(next));
  const shown = pages.map(({ body }) =>
    Array.from(body.matchAll(/class="row-link" href="([^"]*)"/g), ([, href]) => href),
  );
  expect(shown.map(({ length }) => length)).toEqual([50, 50, 5]);
  expect(new Set(shown.flat()).size).toBe(105);
  expect(pages.map(({ body }) => body.includes('sri@toko.test'))).toEqual([true, false, false]);
  expect(pages.map(({ body }) => body.includes(`href="${team}">‹ ${texts.pager.newer}</a>`))).toEqual([
    false,
    true,
    true,
  ]);
  expect((await owner.get(`${team}?after=nonsense`)).body).toContain('sri@toko.test');
});

/** The address of the next page. */
const nextIn = (page: PageResponse | undefined) => /href="([^"]*)">Next ›/.exec(page?.body ?? '')?.[1];

it('names the person who invited a member, also when that person has left', async () => {
  const { shop, team, owner, member } = await newShop();
  const userId = await member('kasir', 'cashier');
  const inviterId = await member('sri', 'owner');
  await service.db.query("update members set invited_by = 'user:' || $3 where merchant_id = $1 and user_id = $2", [
    shop.id,
    userId,
    inviterId,
  ]);
  const { rows } = await service.db.query<{ name: string }>('select name from users where id = $1', [inviterId]);
  await owner.post(`${team}/${inviterId}/remove`);
  expect((await owner.get(`${team}/${userId}`)).body).toContain(`<dd>${rows[0]?.name}</dd>`);
});

it('an invited person joins, gets another role at the next click, and is removed at the next click', async () => {
  const { shop, home, team, owner } = await newShop();
  const created = await owner.post(`${team}/invite`, [
    ['email', 'sri@toko.test'],
    ['role', 'cashier'],
  ]);
  expect(created.status).toBe(200);
  const link = linkIn(created, 'invitations');
  expect((await owner.get(team)).body).toContain('sri@toko.test');

  const sri = new HttpBrowser(dashboard.url);
  const accepted = await sri.post(link, [
    ['name', 'Sri Rahayu'],
    ['password', PASSWORD],
    ['repeat', PASSWORD],
  ]);
  expect([accepted.status, accepted.body.match(/field-error">([^<]*)/)?.[1]]).toEqual([303, undefined]);
  expect((await sri.get(`${home}/payments`)).status).toBe(200);
  expect((await sri.get(`${home}/balance`)).status).toBe(403);

  const { rows } = await service.db.query<{ id: string }>("select id from users where email = 'sri@toko.test'");
  const path = `${team}/${rows[0]?.id}`;
  expect((await owner.get(`${path}/role?role=finance`)).body).toContain(texts.role.payouts);
  expect((await owner.post(`${path}/role`, [['role', 'finance']])).location).toBe(`${team}?done=role`);
  expect((await sri.get(`${home}/balance`)).status).toBe(200);

  expect((await owner.post(`${path}/remove`)).location).toBe(`${team}?done=removed`);
  expect((await sri.get(`${home}/balance`)).status).toBe(404);
  expect((await owner.get(path)).status).toBe(404);
  expect(await rowsOf(shop.id)).toEqual([
    'member.invite succeeded',
    'member.set_role succeeded',
    'member.remove succeeded',
  ]);
});

it('a second link replaces the first one, a withdrawn one does not work, and a member is not invited', async () => {
  const { team, owner, ownerId } = await newShop();
  const invite = (email: string, role = 'viewer') =>
    owner.post(`${team}/invite`, [
      ['email', email],
      ['role', role],
    ]);
  const [first, second] = [await invite('adi@toko.test'), await invite('adi@toko.test')];
  const visitor = new HttpBrowser(dashboard.url);
  expect((await visitor.get(linkIn(first, 'invitations'))).status).toBe(404);
  expect((await visitor.get(linkIn(second, 'invitations'))).status).toBe(200);
  const withdraw = /href="([^"]+\/withdraw)"/.exec((await owner.get(team)).body)?.[1] ?? '';
  expect((await owner.get(withdraw)).body).toContain('adi@toko.test');
  expect((await owner.post(withdraw)).location).toBe(`${team}?done=withdrawn`);
  expect((await owner.post(withdraw)).status).toBe(404);
  expect((await visitor.get(linkIn(second, 'invitations'))).status).toBe(404);

  for (const [email, role, error] of [
    [await emailOf(ownerId), 'viewer', texts.invite.errors.member],
    ['no address', 'viewer', texts.invite.errors.email],
    ['adi@toko.test', 'admin', texts.invite.errors.role],
  ] as const) {
    const { status, body } = await invite(email, role);
    expect([email, role, status]).toEqual([email, role, 422]);
    expect(body).toContain(escaped(error));
  }
});

it('the last owner is neither demoted nor removed', async () => {
  const { shop, team, owner, ownerId } = await newShop();
  const demoted = await owner.post(`${team}/${ownerId}/role`, [['role', 'viewer']]);
  const removed = await owner.post(`${team}/${ownerId}/remove`);
  expect([demoted.status, removed.status]).toEqual([409, 409]);
  for (const { body } of [demoted, removed]) expect(body).toContain(texts.role.lastOwner);
  expect((await owner.get(team)).status).toBe(200);
  expect(await rowsOf(shop.id)).toEqual(['member.set_role rejected', 'member.remove rejected']);
});

it('a reset link is given for another member of this merchant only', async () => {
  const { team, owner, ownerId, member } = await newShop();
  const cashier = await member('cashier', 'cashier');
  const { shop: other, team: otherTeam } = await newShop();
  const shared = await createMember(service.db, 'shared@shop.test', [[other.id, 'viewer']]);
  const own = await owner.post(`${team}/${ownerId}/reset`);
  expect([own.status, own.body.includes(texts.reset.own)]).toEqual([409, true]);
  const created = await owner.post(`${team}/${cashier}/reset`);
  expect((await new HttpBrowser(dashboard.url).get(linkIn(created, 'reset'))).status).toBe(200);
  for (const path of [`${team}/${shared}`, `${otherTeam}/${shared}`, `${team}/${shared}/reset`]) {
    expect([path, (await owner.get(path)).status]).toEqual([path, 404]);
  }
  expect((await owner.post(`${team}/${shared}/reset`)).status).toBe(404);
});

it('each owner closes a notice on their own', async () => {
  const { home, team, owner, member } = await newShop();
  const secondOwner = await signedIn(await emailOf(await member('second', 'owner')));
  const viewer = await member('viewer', 'viewer');
  await owner.post(`${team}/${viewer}/role`, [['role', 'finance']]);
  const text = NOTICE_TEXTS.en.kinds['security.member_authorised']('Sri Rahayu');
  const shown = (await owner.get(home)).body;
  const [, close = '', seen = ''] =
    /action="([^"]+\/close)" method="post"><input type="hidden" name="seen" value="([\d.]+)"/.exec(shown) ?? [];
  const form = [['seen', seen]] as const;
  expect((await owner.post(close, form)).location).toBe(home);
  const closed = (await owner.get(home)).body;
  expect([closed.includes(text), closed.includes(NOTICE_TEXTS.en.shownUntil)]).toEqual([true, true]);
  await service.db.query("update merchant_notices set occurred_at = occurred_at - interval '1 day'");
  await service.db.query("update members set created_at = created_at - interval '2 days'");
  expect((await owner.get(home)).body).not.toContain(text);
  expect((await secondOwner.get(home)).body).toContain(text);
  const finance = await signedIn(await emailOf(viewer));
  expect((await finance.get(home)).body).not.toContain(text);
  expect((await finance.post(close, form)).status).toBe(404);
  const { owner: stranger, home: otherHome } = await newShop();
  expect((await stranger.post(close.replace(home, otherHome), form)).status).toBe(404);
});

it('one notice is open, and a line has the number of the others; what an owner did is no alarm', async () => {
  const { shop, home, owner, ownerId, member } = await newShop();
  const secondOwner = await signedIn(await emailOf(await member('second', 'owner')));
  for (let number = 1; number <= 5; number += 1) {
    const createdBy = { kind: 'merchant_user', id: ownerId } as const;
    await issueKey(service.db, { merchantId: shop.id, environment: 'sandbox', name: `Key ${number}`, createdBy });
  }
  const foldedIn = (body: string) =>
    [...(/<details class="more-rows">.*?<\/details>/s.exec(body)?.[0].matchAll(/Key \d/g) ?? [])].map(([name]) => name);
  const own = (await owner.get(home)).body;
  expect(foldedIn(own)).toEqual(['Key 4', 'Key 3', 'Key 2', 'Key 1']);
  expect(own).not.toContain('#icon-alert');
  const { body } = await secondOwner.get(home);
  expect(foldedIn(body)).toEqual(['Key 4', 'Key 3', 'Key 2', 'Key 1']);
  expect(body).toContain(NOTICE_TEXTS.en.more(4));
  expect(body.match(/#icon-alert/g)).toHaveLength(5);
});

describe('the removal of a member who created keys', () => {
  async function keysOf(shopId: string, userId: string) {
    const key = { merchantId: shopId, environment: 'sandbox' } as const;
    const createdBy = { kind: 'merchant_user', id: userId } as const;
    const theirs = await issueKey(service.db, { ...key, name: 'Shop server', createdBy });
    const ours = await issueKey(service.db, { ...key, name: 'Office' });
    const isRevoked = async ({ id }: { id: string }) =>
      (await findKey(service.db, { merchantId: shopId }, id)).revokedAt !== null;
    return { theirs, revoked: () => Promise.all([theirs, ours].map(isRevoked)) };
  }

  it('lists the keys, and revokes them unless the owner keeps them', async () => {
    const { shop, team, owner, member } = await newShop();
    const userId = await member('dev', 'developer');
    const { theirs, revoked } = await keysOf(shop.id, userId);
    const { body } = await owner.get(`${team}/${userId}/remove`);
    expect(body).toContain('Shop server');
    expect(body).not.toContain('Office');
    expect(/<input[^>]*name="revoke_keys"[^>]*>/.exec(body)?.[0]).toMatch(/type="checkbox".*checked/);
    const removed = await owner.post(`${team}/${userId}/remove`, [['revoke_keys', 'on']]);
    expect(removed.location).toBe(`${team}?done=removed`);
    expect(await revoked()).toEqual([true, false]);
    const { rows } = await service.db.query<{ detail: string }>(
      "select detail from user_actions where merchant_id = $1 and action = 'member.remove'",
      [shop.id],
    );
    expect(rows.map(({ detail }) => JSON.parse(detail))).toEqual([{ revoke_keys: true, keys: [theirs.id] }]);
  });

  it('keeps the keys if the box is not checked', async () => {
    const { shop, team, owner, member } = await newShop();
    const userId = await member('dev', 'developer');
    const { revoked } = await keysOf(shop.id, userId);
    expect((await owner.post(`${team}/${userId}/remove`)).location).toBe(`${team}?done=removed`);
    expect(await revoked()).toEqual([false, false]);
  });

  it('revokes no key of the last owner, who stays, and none of another merchant', async () => {
    const { shop, team, owner, ownerId } = await newShop();
    const { revoked } = await keysOf(shop.id, ownerId);
    expect((await owner.post(`${team}/${ownerId}/remove`, [['revoke_keys', 'on']])).status).toBe(409);
    expect(await revoked()).toEqual([false, false]);

    const other = await newShop();
    const { revoked: revokedThere } = await keysOf(shop.id, await other.member('both', 'developer'));
    const { rows } = await service.db.query<{ id: string }>(
      "select user_id as id from members where merchant_id = $1 and role = 'developer'",
      [other.shop.id],
    );
    await other.owner.post(`${other.team}/${rows[0]?.id}/remove`, [['revoke_keys', 'on']]);
    expect(await revokedThere()).toEqual([false, false]);
  });
});
