import { randomBytes } from 'node:crypto';
import { createSealer } from '../../../src/crypto/sealing';
import { createPool, type Pool } from '../../../src/db/connection/pool';
import {
  createResetLink,
  inviteMember,
  joinMerchant,
  removeMember,
  setMemberRole,
} from '../../../src/services/identity/members';
import { PasswordHasher } from '../../../src/services/identity/password';
import { RejectedSignIns } from '../../../src/services/identity/rejected-sign-ins';
import { readSession } from '../../../src/services/identity/sessions';
import type { IdentityDependencies } from '../../../src/services/identity/sign-in';
import { SignInThrottle } from '../../../src/services/identity/throttle';
import { createKey } from '../../../src/services/merchants/keys';
import { rotateKey } from '../../../src/services/merchants/merchant-keys';
import type { Merchant } from '../../../src/services/merchants/merchants';
import { closeNotice, listNotices } from '../../../src/services/merchants/notices';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { BROWSER, createMember, createShop, signIn } from '../../support/people';

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

const kindsOf = async (userId: string, merchantId = shop.id) =>
  (await listNotices(db, { merchantId, userId })).map(({ kind, targetId }) => [kind, targetId]);
const change = (userId: string, role: 'owner' | 'finance' | 'viewer', now = LATER) =>
  setMemberRole(db, { merchantId: shop.id, userId, role }, now);

it('a change of the role makes a notice only if it changes who approves or owns', async () => {
  const member = await createMember(owner, 'member@shop.test', [[shop.id, 'viewer']]);
  await change(member, 'viewer');
  expect(await kindsOf(first)).toEqual([]);
  await change(member, 'finance');
  expect(await kindsOf(first)).toEqual([['security.member_authorised', member]]);
  await change(member, 'owner');
  await change(member, 'viewer');
  expect((await kindsOf(first)).map(([kind]) => kind)).toEqual([
    'security.owner_changed',
    'security.owner_changed',
    'security.member_authorised',
  ]);
});

it('the removal of an owner makes a notice, and one that is rejected makes none', async () => {
  await removeMember(db, { merchantId: shop.id, userId: second }, LATER);
  expect(await kindsOf(first)).toEqual([['security.owner_changed', second]]);
  await expect(removeMember(db, { merchantId: shop.id, userId: first }, LATER)).rejects.toThrow('last owner');
  expect(await kindsOf(first)).toHaveLength(1);
});

it('a user who joins with the right to approve makes a notice', async () => {
  const email = 'joined@shop.test';
  const joined = await createMember(owner, email);
  const { token } = await signIn(owner, email);
  const session = await readSession(db, { realm: 'merchant', token, merchantCode: null }, new Date());
  if (!session) throw new Error('The session has ended');
  const invitation = { merchantId: shop.id, email, role: 'finance', createdBy: `user:${first}` } as const;
  const link = await inviteMember(db, invitation, LATER);
  await joinMerchant(identityDependencies(), session, { token: link.token, address: BROWSER.address }, LATER);
  expect(await kindsOf(first)).toEqual([['security.member_authorised', joined]]);
  expect(await kindsOf(joined)).toEqual([]);
});

it('a reset and a new key make a notice, a rotation too, at this merchant only', async () => {
  const other = await createShop(owner, 'Toko Lain');
  const stranger = await createMember(owner, 'stranger@shop.test', [[other.id, 'owner']]);
  const member = await createMember(owner, 'member@shop.test', [[shop.id, 'viewer']]);
  await createResetLink(db, { userId: member, createdBy: `user:${first}`, merchantId: shop.id }, LATER);
  const key = { merchantId: shop.id, environment: 'sandbox', name: 'Server' } as const;
  const { id: keyId } = await createKey(db, key);
  const newKeyId = '0190d0f0-0000-7000-8000-000000000001';
  const createdBy = { kind: 'merchant_user', id: first } as const;
  await rotateKey(db, { merchantId: shop.id, keyId }, { newKeyId, overlapHours: 1, environment: 'sandbox', createdBy });
  expect(await listNotices(db, { merchantId: shop.id, userId: second })).toMatchObject([
    { kind: 'security.key_created', targetId: newKeyId, targetName: 'Server' },
    { kind: 'security.key_created', targetId: keyId, targetName: 'Server' },
    { kind: 'security.login_reset', targetId: member, targetName: 'Sri Rahayu' },
  ]);
  expect(await kindsOf(stranger, other.id)).toEqual([]);
});

it('is shown to each owner until that owner closes it', async () => {
  const member = await createMember(owner, 'member@shop.test', [[shop.id, 'viewer']]);
  await change(member, 'finance');
  const [notice] = await listNotices(db, { merchantId: shop.id, userId: first });
  const id = notice?.id ?? 0;
  const close = (userId: string, merchantId = shop.id) =>
    closeNotice(db, { merchantId, userId }, { noticeId: id }, LATER);
  await close(first);
  await close(first);
  expect(await kindsOf(first)).toEqual([]);
  expect(await kindsOf(second)).toHaveLength(1);
  expect(await kindsOf(member)).toEqual([]);
  await expect(close(member)).rejects.toThrow('There is no notice');
  const other = await createShop(owner, 'Toko Lain');
  const stranger = await createMember(owner, 'stranger@shop.test', [[other.id, 'owner']]);
  await expect(close(stranger, other.id)).rejects.toThrow('There is no notice');
});

it('with the older ones, closes those that were shown, and none that came since', async () => {
  const member = await createMember(owner, 'member@shop.test', [[shop.id, 'viewer']]);
  await change(member, 'finance');
  await change(member, 'owner');
  const [newest] = await listNotices(db, { merchantId: shop.id, userId: first });
  await change(member, 'viewer');
  const noticeId = newest?.id ?? 0;
  const none = closeNotice(db, { merchantId: shop.id, userId: first }, { noticeId: 0, withOlder: true }, LATER);
  await expect(none).rejects.toThrow('There is no notice');
  await closeNotice(db, { merchantId: shop.id, userId: first }, { noticeId, withOlder: true }, LATER);
  expect(await kindsOf(first)).toEqual([['security.owner_changed', member]]);
  expect(await kindsOf(second)).toHaveLength(3);
});

it('is the own one of who did it, and no other', async () => {
  const key = { merchantId: shop.id, environment: 'sandbox', name: 'Server' } as const;
  await createKey(db, { ...key, createdBy: { kind: 'merchant_user', id: first } });
  await createResetLink(db, { userId: second, createdBy: `user:${first}`, merchantId: shop.id }, LATER);
  await db.query('update users set password_hash = $2 where id = $1', [second, 'x']);
  const ownOf = async (userId: string) =>
    (await listNotices(db, { merchantId: shop.id, userId })).filter(({ isOwn }) => isOwn).map(({ kind }) => kind);
  expect(await ownOf(first)).toEqual(['security.key_created']);
  expect(await ownOf(second)).toEqual(['security.factor_changed']);
});

it('a member who is no owner sees and closes those of the own login, and no others', async () => {
  const member = await createMember(owner, 'member@shop.test', [[shop.id, 'viewer']]);
  await change(member, 'finance');
  await createResetLink(db, { userId: member, createdBy: `user:${first}`, merchantId: shop.id }, LATER);
  expect(await kindsOf(member)).toEqual([['security.login_reset', member]]);
  const [ofLogin, ofRole] = await listNotices(db, { merchantId: shop.id, userId: first });
  const close = (notice = ofLogin) =>
    closeNotice(db, { merchantId: shop.id, userId: member }, { noticeId: notice?.id ?? 0 }, LATER);
  await expect(close(ofRole)).rejects.toThrow('There is no notice');
  await close();
  expect(await kindsOf(member)).toEqual([]);
  expect(await kindsOf(first)).toHaveLength(2);
});

it('a new owner sees nothing of the time before', async () => {
  const member = await createMember(owner, 'member@shop.test', [[shop.id, 'viewer']]);
  await change(member, 'finance');
  const joined = await createMember(owner, 'joined@shop.test', [[shop.id, 'owner']]);
  expect(await kindsOf(joined)).toEqual([]);
});
