import { randomBytes } from 'node:crypto';
import { createSealer } from '../../../src/crypto/sealing';
import { createPool, type Pool } from '../../../src/db/connection/pool';
import { insertInvitation } from '../../../src/db/identity/invitations';
import { listMemberships } from '../../../src/db/identity/list-memberships';
import { findMemberRow, listMemberNames } from '../../../src/db/identity/members';
import { disableUserRow } from '../../../src/db/identity/users';
import type { MemberRole } from '../../../src/domain/member-roles';
import {
  acceptInvitation,
  joinMerchant,
  listInvitations,
  listMembers,
  readInvitation,
  resetLogin,
} from '../../../src/services/identity/members';
import { newLink } from '../../../src/services/identity/new-link';
import { PasswordHasher } from '../../../src/services/identity/password';
import { RejectedSignIns } from '../../../src/services/identity/rejected-sign-ins';
import { readSession, type Session } from '../../../src/services/identity/sessions';
import { changePassword, signInWithPassword, type IdentityDependencies } from '../../../src/services/identity/sign-in';
import { SignInThrottle } from '../../../src/services/identity/throttle';
import type { Merchant } from '../../../src/services/merchants/merchants';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { BROWSER, createMember, createShop, signIn, signInMany } from '../../support/people';
import { inviteAt, removeAt, resetAt, setRoleAt, withdrawAt } from '../../support/team';

const EMAIL = 'sri@toko.example';
const PASSWORD = 'kopi tubruk di teras';
const NOW = new Date('2026-11-25T03:00:00.000Z');
const HOUR_MS = 3_600_000;
const after = (milliseconds: number) => new Date(NOW.getTime() + milliseconds);
const { address } = BROWSER;

let database: TestDatabase;
let owner: Pool;
let db: Pool;
let dependencies: IdentityDependencies;
let shop: Merchant;

beforeEach(async () => {
  database = await createTestDatabase();
  owner = createPool(database.url, { max: 2 });
  db = createPool(database.urlOf('lunas_local_dashboard'), { max: 4 });
  const log = { error: jest.fn() };
  dependencies = {
    db,
    sealer: createSealer(randomBytes(32).toString('base64')),
    hasher: new PasswordHasher(),
    throttle: new SignInThrottle(db),
    rejections: new RejectedSignIns(db, log),
    environment: 'sandbox',
    log,
  };
  shop = await createShop(owner);
});
afterEach(async () => {
  await Promise.all([owner.end(), db.end()]);
  await database.drop();
});

const invite = (email = EMAIL, role: MemberRole = 'finance', merchantId = shop.id) =>
  inviteAt(owner, { merchantId, email, role, createdBy: 'cli:test' }, NOW);
const accept = (token: string, now = NOW) => {
  const person = { name: 'Sri Rahayu', language: 'id', password: PASSWORD, browser: BROWSER } as const;
  return acceptInvitation(dependencies, { token, ...person }, now);
};
const resetTo = (token: string, password: string, now = NOW) =>
  resetLogin(dependencies, { token, password, browser: BROWSER }, now);

async function read(token: string): Promise<Session> {
  const session = await readSession(db, { realm: 'merchant', token, merchantCode: shop.code }, NOW);
  if (!session) throw new Error('The session has ended');
  return session;
}

const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => 'accepted',
    (error: unknown) => (typeof error === 'object' && error !== null && 'reason' in error ? error.reason : error),
  );

describe('an invitation', () => {
  it('makes a person a member with a login, once', async () => {
    const { token } = await invite(EMAIL);
    for (let opened = 0; opened < 3; opened += 1) {
      expect(await readInvitation(db, token, NOW)).toEqual({
        email: EMAIL,
        role: 'finance',
        merchantName: 'Toko Baru',
        isKnownUser: false,
      });
    }
    const results = await Promise.all(Array.from({ length: 3 }, () => reasonOf(accept(token))));
    expect(results.filter((result) => result === 'accepted')).toHaveLength(1);
    expect(await listMembers(db, shop.id)).toMatchObject([{ email: EMAIL, role: 'finance', invitedBy: 'cli:test' }]);
    expect(await listInvitations(db, shop.id, NOW)).toEqual([]);
    const signedIn = await signInWithPassword(
      dependencies,
      { realm: 'merchant', email: EMAIL, password: PASSWORD, browser: BROWSER, knownBrowser: undefined },
      NOW,
    );
    expect(await read(signedIn.token)).toMatchObject({ stage: 'full', membership: { role: 'finance' } });
  });

  it('an invitation that was requested earlier yields to a newer one, and replaces an older one', async () => {
    const requested = () => {
      const { token, ...link } = newLink();
      const times = { now: after(1), expiresAt: after(72 * HOUR_MS + 1) };
      const person = { merchantId: shop.id, email: EMAIL, role: 'owner', createdBy: 'operator:dewi' } as const;
      return { token, approve: () => insertInvitation(owner, { ...link, ...times, ...person, yieldsToNewer: true }) };
    };
    const outdated = requested();
    const { token } = await invite();
    const waiting = requested();
    expect(await reasonOf(readInvitation(db, waiting.token, NOW))).toBe('link_invalid');
    expect(await outdated.approve()).toBe(false);
    expect(await readInvitation(db, token, NOW)).toMatchObject({ role: 'finance' });
    expect(await waiting.approve()).toBe(true);
    expect(await reasonOf(readInvitation(db, token, after(1)))).toBe('link_invalid');
    expect(await readInvitation(db, waiting.token, after(1))).toMatchObject({ role: 'owner' });
  });

  it('requires a second factor in production before anything else', async () => {
    dependencies = { ...dependencies, environment: 'production' };
    expect(await read((await accept((await invite()).token)).token)).toMatchObject({ stage: 'enrol' });
  });

  it('an invitation is not valid after 72 hours, after it was withdrawn, and after a newer one', async () => {
    const { token: replaced } = await invite();
    const { token, id } = await invite();
    expect(await reasonOf(accept(replaced))).toBe('link_invalid');
    expect(await reasonOf(accept(token, after(72 * HOUR_MS)))).toBe('link_invalid');
    expect(await listInvitations(db, shop.id, NOW)).toMatchObject([{ id, email: EMAIL }]);
    await withdrawAt(db, { merchantId: shop.id, id }, NOW);
    expect(await reasonOf(accept(token))).toBe('link_invalid');
    expect(await reasonOf(withdrawAt(db, { merchantId: shop.id, id }, NOW))).toBe('ended');
  });

  it('attack: another merchant cannot withdraw it', async () => {
    const { id } = await invite();
    const other = await createShop(owner, 'Toko Lain');
    expect(await reasonOf(withdrawAt(db, { merchantId: other.id, id }, NOW))).toBe('ended');
  });

  it('an invitation is for its e-mail: a known user signs in and joins, and another user does not', async () => {
    await createMember(owner, EMAIL);
    await createMember(owner, 'budi@toko.example');
    const { token } = await invite();
    expect(await readInvitation(db, token, NOW)).toMatchObject({ isKnownUser: true });
    expect(await reasonOf(accept(token))).toBe('link_invalid');
    const budi = await read((await signIn(owner, 'budi@toko.example', NOW)).token);
    expect(await reasonOf(joinMerchant(dependencies, budi, { token, address }, NOW))).toBe('link_invalid');
    const session = await signIn(owner, EMAIL, NOW);
    expect((await read(session.token)).membership).toBeNull();
    const joined = await joinMerchant(dependencies, await read(session.token), { token, address }, NOW);
    expect(joined).toBe(shop.id);
    expect(await read(session.token)).toMatchObject({ membership: { role: 'finance' } });
    expect((await listMemberships(db, (await read(session.token)).user.id)).map(({ role }) => role)).toEqual([
      'finance',
    ]);
    expect(await reasonOf(invite())).toBe('is_member');
  });

  it('attack: no session joins whose second factor is missing', async () => {
    await createMember(owner, EMAIL);
    const { token } = await invite();
    const session = await read((await signIn(owner, EMAIL, NOW)).token);
    const waiting = { ...session, stage: 'password' } as const;
    expect(await reasonOf(joinMerchant(dependencies, waiting, { token, address }, NOW))).toBe('session_ended');
  });

  it('attack: an owner who is removed, disabled or no owner any more leaves no invitation behind', async () => {
    const leaving = [
      (userId: string) => removeAt(db, { merchantId: shop.id, userId }, NOW),
      (userId: string) => setRoleAt(db, { merchantId: shop.id, userId, role: 'finance' }, NOW),
      (userId: string) => disableUserRow(asOperator(), userId, NOW),
    ];
    await createMember(owner, 'tuti@toko.example', [[shop.id, 'owner']]);
    const known = await createMember(owner, 'known@toko.example');
    const session = await read((await signIn(owner, 'known@toko.example', NOW)).token);
    for (const [number, leave] of leaving.entries()) {
      const userId = await createMember(owner, `budi${number}@toko.example`, [[shop.id, 'owner']]);
      const by = { merchantId: shop.id, role: 'owner', createdBy: `user:${userId}` } as const;
      const { token } = await inviteAt(db, { ...by, email: `second${number}@toko.example` }, NOW);
      const { token: ofKnown } = await inviteAt(db, { ...by, email: 'known@toko.example' }, NOW);
      expect(await listInvitations(db, shop.id, NOW)).toHaveLength(2);
      await leave(userId);
      expect(await listInvitations(db, shop.id, NOW)).toEqual([]);
      expect(await reasonOf(readInvitation(db, token, NOW))).toBe('link_invalid');
      expect(await reasonOf(accept(token))).toBe('link_invalid');
      expect(await reasonOf(joinMerchant(dependencies, session, { token: ofKnown, address }, NOW))).toBe(
        'link_invalid',
      );
    }
    expect((await listMembers(db, shop.id)).map(({ userId }) => userId)).not.toContain(known);
  });

  it('attack: of invitations that were made at the same time, one is open', async () => {
    const made = await Promise.all(Array.from({ length: 4 }, () => invite()));
    const newest = [...made].sort((one, other) => (one.id < other.id ? 1 : -1))[0];
    expect((await listInvitations(db, shop.id, NOW)).map(({ id }) => id)).toEqual([newest?.id]);
    const results = [];
    for (const { id, token } of made) if (id !== newest?.id) results.push(await reasonOf(accept(token)));
    expect(results).toEqual(['link_invalid', 'link_invalid', 'link_invalid']);
    expect(await reasonOf(accept(newest?.token ?? ''))).toBe('accepted');
  });

  it('attack: no session joins that a reset has ended', async () => {
    const userId = await createMember(owner, EMAIL);
    const { token } = await invite();
    const session = await read((await signIn(owner, EMAIL, NOW)).token);
    const reset = await resetAt(owner, { userId, createdBy: 'cli:test', merchantId: null }, NOW);
    await resetTo(reset.token, PASSWORD);
    expect(await reasonOf(joinMerchant(dependencies, session, { token, address }, NOW))).toBe('session_ended');
    expect(await listMembers(db, shop.id)).toEqual([]);
  });

  it('makes a member who was removed a new one', async () => {
    const userId = await createMember(owner, EMAIL, [[shop.id, 'support']]);
    await removeAt(db, { merchantId: shop.id, userId }, NOW);
    const session = await read((await signIn(owner, EMAIL, NOW)).token);
    const { token } = await invite(EMAIL, 'viewer');
    await joinMerchant(dependencies, session, { token, address }, after(HOUR_MS));
    expect(await listMembers(db, shop.id)).toMatchObject([{ role: 'viewer', memberSince: after(HOUR_MS) }]);
  });
});

it('one member is found only by its merchant, also behind the 500 whom a filter names', async () => {
  await signInMany(owner, shop.id, 500);
  const [first] = await listMembers(db, shop.id);
  const userId = await createMember(owner, EMAIL, [[shop.id, 'support']]);
  const named = (await listMemberNames(db, shop.id)).map((member) => member.userId);
  const members = (await listMembers(db, shop.id)).map((member) => member.userId);
  expect(named).toEqual(members.slice(0, 500));
  expect(members.at(-1)).toBe(userId);
  const key = { merchantId: shop.id, userId };
  expect(await findMemberRow(db, key)).toMatchObject({ email: EMAIL, role: 'support', inviterName: null });
  await owner.query('update members set invited_by = $2 where user_id = $1', [userId, `user:${first?.userId}`]);
  expect(await findMemberRow(db, key)).toMatchObject({ inviterName: first?.name });
  const other = await createShop(owner, 'Toko Lain');
  expect(await findMemberRow(db, { ...key, merchantId: other.id })).toBeUndefined();
});

describe('the last owner', () => {
  it('stays: no other owner is left, or the other one is disabled', async () => {
    const [one, other] = [
      await createMember(owner, EMAIL, [[shop.id, 'owner']]),
      await createMember(owner, 'budi@toko.example', [[shop.id, 'owner']]),
    ];
    await createMember(owner, 'tuti@toko.example', [[shop.id, 'finance']]);
    const merchantId = shop.id;
    await setRoleAt(db, { merchantId, userId: other, role: 'viewer' }, NOW);
    expect(await reasonOf(removeAt(db, { merchantId, userId: one }, NOW))).toBe('last_owner');
    expect(await reasonOf(setRoleAt(db, { merchantId, userId: one, role: 'finance' }, NOW))).toBe('last_owner');
    await setRoleAt(db, { merchantId, userId: one, role: 'owner' }, NOW);
    await setRoleAt(db, { merchantId, userId: other, role: 'owner' }, NOW);
    await disableUserRow(asOperator(), other, NOW);
    expect(await reasonOf(removeAt(db, { merchantId, userId: one }, NOW))).toBe('last_owner');
    await removeAt(db, { merchantId, userId: other }, NOW);
    expect((await listMembers(db, merchantId)).map(({ role }) => role)).toEqual(['owner', 'finance']);
  });

  it('attack: two owners who remove each other at the same time leave one', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { id: merchantId } = await createShop(owner, `Toko ${round}`);
      const owners = [
        await createMember(owner, `a${round}@toko.example`, [[merchantId, 'owner']]),
        await createMember(owner, `b${round}@toko.example`, [[merchantId, 'owner']]),
      ];
      const results = await Promise.all(owners.map((userId) => reasonOf(removeAt(db, { merchantId, userId }, NOW))));
      expect(results.filter((result) => result === 'accepted')).toHaveLength(1);
      expect(await listMembers(db, merchantId)).toHaveLength(1);
    }
  });

  it('a user who is no member is not found', async () => {
    const userId = await createMember(owner, EMAIL);
    await expect(removeAt(db, { merchantId: shop.id, userId }, NOW)).rejects.toThrow('unknown');
  });
});

/** Only operators disable users: the dashboard has no right to. */
const asOperator = () => owner;

describe('a reset', () => {
  it('replaces every credential once, and ends every session', async () => {
    const { token: first } = await accept((await invite()).token);
    const { user } = await read(first);
    await owner.query("update users set sealed_totp = 'v1.x.y', totp_hmac = 'v1.x.z', totp_last_step = 7");
    await owner.query(
      `insert into passkeys (id, user_id, realm, credential_id, public_key, counter, rp_id, name, is_backed_up,
         created_at)
       values (gen_random_uuid(), $1, 'merchant', 'x', '', 0, 'localhost', 'phone', false, now())`,
      [user.id],
    );
    const { token } = await resetAt(owner, { userId: user.id, createdBy: 'cli:test', merchantId: null }, NOW);
    const opened = await resetTo(token, 'teh botol dingin 88');
    await expect(read(first)).rejects.toThrow('ended');
    expect(await read(opened.token)).toMatchObject({ stage: 'full', user: { id: user.id } });
    const { rows } = await owner.query('select sealed_totp, totp_last_step from users');
    expect(rows).toEqual([{ sealed_totp: null, totp_last_step: null }]);
    expect((await owner.query('select from passkeys')).rowCount).toBe(0);
    expect(await reasonOf(resetTo(token, 'teh botol dingin 99'))).toBe('link_invalid');
  });

  it('a reset is good for an hour, and only the newest link', async () => {
    const userId = await createMember(owner, EMAIL);
    const { token: replaced } = await resetAt(owner, { userId, createdBy: 'cli:test', merchantId: null }, NOW);
    const { token } = await resetAt(owner, { userId, createdBy: 'cli:test', merchantId: null }, NOW);
    expect(await reasonOf(resetTo(replaced, PASSWORD))).toBe('link_invalid');
    expect(await reasonOf(resetTo(token, PASSWORD, after(HOUR_MS)))).toBe('link_invalid');
    await expect(resetTo(token, 'short')).rejects.toMatchObject({ field: 'password' });
    expect(await reasonOf(resetTo(token, PASSWORD))).toBe('accepted');
  });

  it('attack: a link is good for its purpose only', async () => {
    const userId = await createMember(owner, 'budi@toko.example');
    const { token: reset } = await resetAt(owner, { userId, createdBy: 'cli:test', merchantId: null }, NOW);
    const { token: invitation } = await invite();
    expect(await reasonOf(accept(reset))).toBe('link_invalid');
    expect(await reasonOf(resetTo(invitation, PASSWORD))).toBe('link_invalid');
    expect(await reasonOf(accept(invitation))).toBe('accepted');
  });

  it('attack: an owner does not become the user at another merchant', async () => {
    const other = await createShop(owner, 'Toko Lain');
    const userId = await createMember(owner, EMAIL, [
      [shop.id, 'finance'],
      [other.id, 'finance'],
    ]);
    const issuer = await createMember(owner, 'budi@toko.example', [[shop.id, 'owner']]);
    const byOwner = { userId, createdBy: `user:${issuer}`, merchantId: shop.id };
    const { token: ofLunas } = await resetAt(db, { ...byOwner, merchantId: null }, NOW);
    expect(await reasonOf(resetAt(db, byOwner, NOW))).toBe('other_merchants');
    await createMember(owner, 'tuti@toko.example', [[other.id, 'owner']]);
    await removeAt(db, { merchantId: other.id, userId }, NOW);
    const { token } = await resetAt(db, byOwner, NOW);
    expect(await reasonOf(resetTo(ofLunas, PASSWORD))).toBe('link_invalid');
    await owner.query('update members set removed_at = null where merchant_id = $1', [other.id]);
    expect(await reasonOf(resetTo(token, PASSWORD))).toBe('link_invalid');
    await removeAt(db, { merchantId: other.id, userId }, NOW);
    expect(await reasonOf(resetTo(token, PASSWORD))).toBe('accepted');
  });

  it('attack: an owner who left resets no one, and no one is reset who left', async () => {
    const [userId, issuer] = [
      await createMember(owner, EMAIL, [[shop.id, 'owner']]),
      await createMember(owner, 'budi@toko.example', [[shop.id, 'owner']]),
    ];
    const byOwner = { userId, createdBy: `user:${issuer}`, merchantId: shop.id };
    const { token } = await resetAt(db, byOwner, NOW);
    await setRoleAt(db, { merchantId: shop.id, userId: issuer, role: 'finance' }, NOW);
    expect(await reasonOf(resetTo(token, PASSWORD))).toBe('link_invalid');
    await setRoleAt(db, { merchantId: shop.id, userId: issuer, role: 'owner' }, NOW);
    await removeAt(db, { merchantId: shop.id, userId }, NOW);
    expect(await reasonOf(resetTo(token, PASSWORD))).toBe('link_invalid');
    await owner.query('update members set removed_at = null');
    await removeAt(db, { merchantId: shop.id, userId: issuer }, NOW);
    expect(await reasonOf(resetTo(token, PASSWORD))).toBe('link_invalid');
    await owner.query('update members set removed_at = null');
    expect(await reasonOf(resetTo(token, PASSWORD))).toBe('accepted');
  });

  it('attack: an owner who may not reset a user withdraws no link of Lunas either', async () => {
    const other = await createShop(owner, 'Toko Lain');
    const userId = await createMember(owner, EMAIL, [
      [shop.id, 'finance'],
      [other.id, 'finance'],
    ]);
    const { token } = await resetAt(owner, { userId, createdBy: 'cli:test', merchantId: null }, NOW);
    const byOwner = { userId, createdBy: 'user:owner', merchantId: shop.id };
    expect(await reasonOf(resetAt(db, byOwner, NOW))).toBe('other_merchants');
    const stranger = await createShop(owner, 'Toko Asing');
    await expect(resetAt(db, { ...byOwner, merchantId: stranger.id }, NOW)).rejects.toThrow('unknown');
    expect(await reasonOf(resetTo(token, PASSWORD))).toBe('accepted');
  });

  it('a new password withdraws it', async () => {
    const userId = await createMember(owner, EMAIL);
    const { token } = await resetAt(owner, { userId, createdBy: 'cli:test', merchantId: null }, NOW);
    const session = await read((await signIn(owner, EMAIL, NOW)).token);
    await changePassword(dependencies, session, { password: PASSWORD, address }, NOW);
    expect(await reasonOf(resetTo(token, 'teh botol dingin 88'))).toBe('link_invalid');
  });

  it('a disabled user gets none', async () => {
    const userId = await createMember(owner, EMAIL);
    const { token } = await resetAt(owner, { userId, createdBy: 'cli:test', merchantId: null }, NOW);
    await disableUserRow(asOperator(), userId, NOW);
    expect(await reasonOf(resetTo(token, PASSWORD))).toBe('link_invalid');
    await expect(resetAt(owner, { userId, createdBy: 'cli:test', merchantId: null }, NOW)).rejects.toThrow('unknown');
  });
});

it('attack: a network guesses at most thirty links a minute', async () => {
  const reasons: unknown[] = [];
  for (let count = 0; count < 32; count += 1) {
    reasons.push(await reasonOf(accept(`lnk_${randomBytes(32).toString('base64url')}`)));
  }
  expect(reasons.filter((reason) => reason === 'link_invalid')).toHaveLength(30);
  expect(reasons.filter((reason) => reason === 'throttled')).toHaveLength(2);
});
