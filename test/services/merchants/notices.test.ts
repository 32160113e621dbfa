import { randomBytes, randomUUID } from 'node:crypto';
import { createSealer } from '../../../src/crypto/sealing';
import { createPool, type Pool } from '../../../src/db/connection/pool';
import type { OpenNotice } from '../../../src/db/merchants/merchant-notices';
import { joinMerchant } from '../../../src/services/identity/members';
import { PasswordHasher } from '../../../src/services/identity/password';
import { RejectedSignIns } from '../../../src/services/identity/rejected-sign-ins';
import { readSession } from '../../../src/services/identity/sessions';
import type { IdentityDependencies } from '../../../src/services/identity/sign-in';
import { SignInThrottle } from '../../../src/services/identity/throttle';
import { rotateKey } from '../../../src/services/merchants/keys/rotate-key';
import type { Merchant } from '../../../src/services/merchants/merchants';
import { closeNotices, listNotices } from '../../../src/services/merchants/notices';
import { memberOf } from '../../support/actors';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { issueKey } from '../../support/keys';
import { BROWSER, createMember, createShop, signIn } from '../../support/people';
import { inviteAt, removeAt, resetAt, setRoleAt } from '../../support/team';

const LATER = new Date(Date.now() + 3_600_000);

let database: TestDatabase;
let owner: Pool;
let db: Pool;
let shop: Merchant;
let first: string;
let second: string;

beforeEach(async () => {
  database = await createTestDatabase();
  owner = createPool(database.url, { max: 2 });
  db = createPool(database.urlOf('lunas_local_dashboard'), { max: 2 });
  shop = await createShop(owner);
  first = await createMember(owner, 'first@shop.test', [[shop.id, 'owner']]);
  second = await createMember(owner, 'second@shop.test', [[shop.id, 'owner']]);
  // An owner sees no notice of the millisecond of joining.
  await owner.query("update members set created_at = created_at - interval '1 minute'");
});
afterEach(async () => {
  await Promise.all([owner.end(), db.end()]);
  await database.drop();
});

function identityDependencies(): IdentityDependencies {
  const log = { error: jest.fn() };
  return {
    db,
    sealer: createSealer(randomBytes(32).toString('base64')),
    hasher: new PasswordHasher(),
    throttle: new SignInThrottle(db),
    rejections: new RejectedSignIns(db, log),
    environment: 'sandbox',
    log,
  };
}

/** As the page does: it sends what it shows. */
async function close(userId: string, notices: readonly OpenNotice[], merchantId = shop.id): Promise<void> {
  const { rows } = await owner.query<{ email: string }>('select email from users where id = $1', [userId]);
  const { token } = await signIn(owner, rows[0]?.email ?? '');
  await closeWith(token, notices, { userId, merchantId });
}
async function closeWith(
  sessionToken: string,
  seen: readonly OpenNotice[],
  { userId, merchantId }: { readonly userId: string; readonly merchantId: string },
): Promise<void> {
  const by = memberOf({ userId, merchantId, role: 'viewer' });
  const input = { seen: seen.map(({ id, count }) => ({ id, count })), sessionToken };
  await closeNotices.run({ db }, by, { path: { merchant: merchantId }, input, formId: randomUUID() });
}
const noticesOf = (userId: string) => listNotices(db, { merchantId: shop.id, userId });
/** What a user still has to close. */
const openOf = async (userId: string) =>
  (await noticesOf(userId)).flatMap(({ kind, times, shownUntil }) => (shownUntil === null ? [`${kind} ${times}`] : []));
/** A notice of money or access is shown for a day, even if it is closed. */
const passDay = () => owner.query("update merchant_notices set occurred_at = occurred_at - interval '25 hours'");
const ageMembers = () => owner.query("update members set created_at = created_at - interval '1 year'");

const kindsOf = async (userId: string, merchantId = shop.id) =>
  (await listNotices(db, { merchantId, userId })).map(({ kind, targetId }) => [kind, targetId]);
const change = (userId: string, role: 'owner' | 'finance' | 'support' | 'viewer', now = LATER) =>
  setRoleAt(db, { merchantId: shop.id, userId, role }, now);

it('a change of the role makes a notice, and another one if it changes who approves or owns', async () => {
  const member = await createMember(owner, 'member@shop.test', [[shop.id, 'viewer']]);
  await change(member, 'viewer');
  expect(await kindsOf(first)).toEqual([]);
  await change(member, 'finance');
  expect(await kindsOf(first)).toEqual([['security.member_authorised', member]]);
  await change(member, 'owner');
  await change(member, 'viewer');
  expect(await openOf(first)).toEqual(['security.owner_changed 2', 'security.member_authorised 1']);
  await change(member, 'support');
  expect(await openOf(first)).toEqual([
    'security.member_changed 1',
    'security.owner_changed 2',
    'security.member_authorised 1',
  ]);
});

it('the removal of an owner makes a notice, and one that is rejected makes none', async () => {
  await removeAt(db, { merchantId: shop.id, userId: second }, LATER);
  expect(await kindsOf(first)).toEqual([['security.owner_changed', second]]);
  await expect(removeAt(db, { merchantId: shop.id, userId: first }, LATER)).rejects.toThrow('last_owner');
  expect(await kindsOf(first)).toHaveLength(1);
});

it('a user who joins with the right to approve makes a notice', async () => {
  const email = 'joined@shop.test';
  const joined = await createMember(owner, email);
  const { token } = await signIn(owner, email);
  const session = await readSession(db, { realm: 'merchant', token, merchantCode: null }, new Date());
  if (!session) throw new Error('The session has ended');
  const invitation = { merchantId: shop.id, email, role: 'finance', createdBy: `user:${first}` } as const;
  const link = await inviteAt(db, invitation, LATER);
  await joinMerchant(identityDependencies(), session, { token: link.token, address: BROWSER.address }, LATER);
  expect(await kindsOf(first)).toEqual([['security.member_authorised', joined]]);
  expect(await kindsOf(joined)).toEqual([]);
});

it('a reset and a new key make a notice, a rotation too, at this merchant only', async () => {
  const other = await createShop(owner, 'Toko Lain');
  const stranger = await createMember(owner, 'stranger@shop.test', [[other.id, 'owner']]);
  const member = await createMember(owner, 'member@shop.test', [[shop.id, 'viewer']]);
  await resetAt(db, { userId: member, createdBy: `user:${first}`, merchantId: shop.id }, LATER);
  const key = { merchantId: shop.id, environment: 'sandbox', name: 'Server' } as const;
  const { id: keyId } = await issueKey(db, key);
  const newKeyId = '0190d0f0-0000-7000-8000-000000000001';
  const needs = { db, environment: 'sandbox' } as const;
  const call = { path: { key: keyId }, input: { overlapHours: 1 }, formId: newKeyId } as const;
  await rotateKey.run(needs, memberOf({ userId: first, merchantId: shop.id, role: 'owner' }), call);
  expect(await listNotices(db, { merchantId: shop.id, userId: second })).toMatchObject([
    { kind: 'security.key_created', targetId: newKeyId, targetName: 'Server' },
    { kind: 'security.key_created', targetId: keyId, targetName: 'Server' },
    { kind: 'security.login_reset', targetId: member, targetName: 'Sri Rahayu' },
  ]);
  expect(await kindsOf(stranger, other.id)).toEqual([]);
});

it('a notice is shown to each owner until that owner closes it, and for a day', async () => {
  await ageMembers();
  const member = await createMember(owner, 'member@shop.test', [[shop.id, 'viewer']]);
  await change(member, 'finance');
  const notices = await noticesOf(first);
  await close(first, notices);
  await close(first, notices);
  expect(await openOf(first)).toEqual([]);
  const [{ shownUntil, occurredAt } = {}] = await noticesOf(first);
  expect(shownUntil?.getTime()).toBe((occurredAt?.getTime() ?? 0) + 86_400_000);
  await passDay();
  expect(await noticesOf(first)).toEqual([]);
  expect(await kindsOf(second)).toHaveLength(1);
  expect(await kindsOf(member)).toEqual([]);
  await expect(close(member, notices)).rejects.toThrow('There is no notice');
  const other = await createShop(owner, 'Toko Lain');
  const stranger = await createMember(owner, 'stranger@shop.test', [[other.id, 'owner']]);
  await expect(close(stranger, notices, other.id)).rejects.toThrow('There is no notice');
  await expect(close(stranger, notices)).rejects.toThrow('There is no notice');
  const unknown = closeWith('ses_unknown', notices, { userId: first, merchantId: shop.id });
  await expect(unknown).rejects.toThrow('There is no notice');
});

it('closes what was shown, and nothing that came since', async () => {
  const member = await createMember(owner, 'member@shop.test', [[shop.id, 'viewer']]);
  await change(member, 'finance');
  await change(member, 'owner');
  const shown = await noticesOf(first);
  await change(member, 'viewer');
  await expect(close(first, [])).rejects.toThrow('There is no notice');
  await close(first, shown);
  expect(await openOf(first)).toEqual(['security.owner_changed 1']);
  expect(await openOf(second)).toEqual(['security.owner_changed 2', 'security.member_authorised 1']);
});

it('begins again when it occurs after every owner has closed it, and does not before', async () => {
  await ageMembers();
  const set = (assignment: string) => db.query(`update users set ${assignment} where id = $1`, [second]);
  const shown = async (userId: string) =>
    (await noticesOf(userId)).map(({ times, changed, shownUntil }) => [times, changed, shownUntil === null]);
  await set("password_hash = 'x'");
  await close(first, await noticesOf(first));
  await passDay();
  await set("sealed_totp = 'x', totp_hmac = 'x'");
  expect(await shown(first)).toEqual([[1, ['password', 'authenticator_app'], true]]);
  expect(await shown(second)).toEqual([[2, ['password', 'authenticator_app'], true]]);
  for (const user of [first, second]) await close(user, await noticesOf(user));
  await passDay();
  expect([await shown(first), await shown(second)]).toEqual([[], []]);
  await set("sealed_totp = 'y', totp_hmac = 'y'");
  for (const user of [first, second]) expect(await shown(user)).toEqual([[1, ['authenticator_app'], true]]);
});

it('attack: no number of other notices hides one of money or access', async () => {
  await db.query(
    "insert into webhook_endpoints (id, merchant_id, url) values (gen_random_uuid(), $1, 'https://evil.example/hook')",
    [shop.id],
  );
  for (let n = 0; n < 52; n += 1) {
    await db.query('update merchants set accent = $2 where id = $1', [shop.id, `#0000${10 + n}`]);
  }
  await owner.query(
    `insert into merchant_notices (merchant_id, kind, target_id)
     select $1, 'bank_account.withdrawn', gen_random_uuid() from generate_series(1, 60)`,
    [shop.id],
  );
  const [endpoint, ...others] = await noticesOf(first);
  expect(endpoint).toMatchObject({ kind: 'security.webhook_changed', targetName: 'https://evil.example', times: 1 });
  expect(others).toHaveLength(50);
  await owner.query("delete from merchant_notices where kind = 'bank_account.withdrawn'");
  expect(await openOf(first)).toEqual(['security.webhook_changed 1', 'security.accent_changed 52']);
});

it('a notice is own only for the member who did the act', async () => {
  const key = { merchantId: shop.id, environment: 'sandbox', name: 'Server' } as const;
  await issueKey(db, { ...key, createdBy: { kind: 'merchant_user', id: first } });
  await resetAt(db, { userId: second, createdBy: `user:${first}`, merchantId: shop.id }, LATER);
  await db.query('update users set password_hash = $2 where id = $1', [second, 'x']);
  const ownOf = async (userId: string) =>
    (await listNotices(db, { merchantId: shop.id, userId })).filter(({ isOwn }) => isOwn).map(({ kind }) => kind);
  expect(await ownOf(first)).toEqual(['security.key_created']);
  expect(await ownOf(second)).toEqual(['security.factor_changed']);
});

it('a member who is no owner sees and closes those of the own login, and no others', async () => {
  const member = await createMember(owner, 'member@shop.test', [[shop.id, 'viewer']]);
  await change(member, 'finance');
  await resetAt(db, { userId: member, createdBy: `user:${first}`, merchantId: shop.id }, LATER);
  expect(await kindsOf(member)).toEqual([['security.login_reset', member]]);
  const notices = await noticesOf(first);
  const ofRole = notices.filter(({ kind }) => kind === 'security.member_authorised');
  await expect(close(member, ofRole)).rejects.toThrow('There is no notice');
  await close(member, notices);
  expect(await openOf(member)).toEqual([]);
  expect(await openOf(first)).toHaveLength(2);
});

it('a new owner sees nothing of the time before', async () => {
  const member = await createMember(owner, 'member@shop.test', [[shop.id, 'viewer']]);
  await change(member, 'finance');
  const joined = await createMember(owner, 'joined@shop.test', [[shop.id, 'owner']]);
  expect(await kindsOf(joined)).toEqual([]);
});
