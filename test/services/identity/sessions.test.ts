import { createSignInToken } from '../../../src/crypto/sign-in-token';
import { createPool, type Pool } from '../../../src/db/connection/pool';
import { setFirstLanguage } from '../../../src/db/identity/user-profile';
import { SESSION_LIMITS, STEP_UP_LIMITS, type Language } from '../../../src/domain/sign-in';
import { listMembers } from '../../../src/services/identity/members';
import { insertOperator } from '../../../src/services/identity/operators';
import { signOutOther, signOutOthers } from '../../../src/services/identity/own-login';
import {
  createDevelopmentLink,
  endDevelopmentLinks,
  endSession,
  extendSession,
  isSteppedUp,
  listSessions,
  readSession,
  useDevelopmentLink,
} from '../../../src/services/identity/sessions';
import type { Merchant } from '../../../src/services/merchants/merchants';
import { createProductionDatabase, createTestDatabase, type TestDatabase } from '../../support/database';
import { explainQueries } from '../../support/explain';
import { issueKey } from '../../support/keys';
import { BROWSER, createMember, createOperatorUser, createShop, signIn } from '../../support/people';

const EMAIL = 'sri@toko.example';
const NOW = new Date('2026-11-25T03:00:00.000Z');
const MINUTE_MS = 60_000;
const after = (milliseconds: number) => new Date(NOW.getTime() + milliseconds);

let database: TestDatabase;
let owner: Pool;
/** With the rights of `lunas dashboard`. */
let db: Pool;
let merchant: Merchant;
let userId: string;

beforeEach(async () => {
  database = await createTestDatabase();
  owner = createPool(database.url, { max: 4 });
  db = createPool(database.urlOf('lunas_local_dashboard'), { max: 4 });
  merchant = await createShop(owner);
  userId = await createMember(owner, EMAIL, [[merchant.id, 'finance']]);
});
afterEach(async () => {
  await Promise.all([owner.end(), db.end()]);
  await database.drop();
});

const createLink = (now = NOW) =>
  createDevelopmentLink(owner, { realm: 'merchant', email: EMAIL, createdBy: 'cli:test' }, now);
const useLink = (token: string, now = NOW) =>
  useDevelopmentLink(db, { realm: 'merchant', token, browser: BROWSER }, now);
const read = (token: string, now = NOW, merchantCode: string | null = merchant.code) =>
  readSession(db, { realm: 'merchant', token, merchantCode }, now);

describe('readSession', () => {
  it('a session has the user, the merchant of the path and the role', async () => {
    const { token, sessionId } = await signIn(owner, EMAIL, NOW);
    expect(await read(token)).toEqual({
      id: sessionId,
      realm: 'merchant',
      stage: 'full',
      method: 'development_link',
      createdAt: NOW,
      lastSeenAt: NOW,
      expiresAt: after(SESSION_LIMITS.merchant.absoluteMs),
      steppedUpAt: null,
      user: { id: userId, email: EMAIL, name: 'Sri Rahayu', language: 'en' },
      membership: {
        merchantId: merchant.id,
        merchantCode: merchant.code,
        merchantName: 'Toko Baru',
        merchantStatus: 'approved',
        isOnHold: false,
        timeZone: 'Asia/Jakarta',
        role: 'finance',
        roleSinceMs: expect.any(Number),
        lastSeenMs: null,
      },
    });
    expect(merchant.code).toMatch(/^[0-9A-HJKMNP-TV-Z]{8}$/);
  });

  it('attack: has no membership of a merchant of which the user is no member', async () => {
    const other = await createShop(owner, 'Toko Lain');
    const { token } = await signIn(owner, EMAIL, NOW);
    for (const code of [other.code, 'ZZZZZZZZ', '', null]) {
      expect(await read(token, NOW, code)).toMatchObject({ user: { id: userId }, membership: null });
    }
  });

  it('a changed role, a removal and a disabled user are in force at the next request', async () => {
    const { token } = await signIn(owner, EMAIL, NOW);
    await owner.query("update members set role = 'viewer'");
    expect(await read(token)).toMatchObject({ membership: { role: 'viewer' } });
    await owner.query("update merchants set status = 'suspended', held_at = now()");
    expect(await read(token)).toMatchObject({ membership: { merchantStatus: 'suspended', isOnHold: true } });
    await owner.query('update members set removed_at = now()');
    expect(await read(token)).toMatchObject({ membership: null });
    await owner.query('update users set disabled_at = now()');
    expect(await read(token)).toBeUndefined();
  });

  it('ends when it is idle, and after seven days at the latest', async () => {
    const { idleMs, absoluteMs } = SESSION_LIMITS.merchant;
    const { token } = await signIn(owner, EMAIL, NOW);
    expect(await read(token, after(idleMs - 1))).toBeDefined();
    expect(await read(token, after(idleMs))).toBeUndefined();
    for (let at = idleMs - MINUTE_MS; at < absoluteMs; at += idleMs - MINUTE_MS) {
      const session = await read(token, after(at));
      if (!session) throw new Error(`The session ended ${at} ms after the sign-in`);
      await extendSession(db, session, after(at));
    }
    expect(await read(token, after(absoluteMs - 1))).toBeDefined();
    expect(await read(token, after(absoluteMs))).toBeUndefined();
  });

  it('ends for one browser, and not for another', async () => {
    const [one, other] = [await signIn(owner, EMAIL, NOW), await signIn(owner, EMAIL, NOW)];
    await endSession(db, one.sessionId, NOW);
    await endSession(db, one.sessionId, after(MINUTE_MS));
    expect(await read(one.token)).toBeUndefined();
    expect(await read(other.token)).toBeDefined();
    const { rows } = await owner.query('select ended_at from sessions where id = $1', [one.sessionId]);
    expect(rows).toEqual([{ ended_at: NOW }]);
  });

  it('lists the browsers of a user, and ends one or all others', async () => {
    await createMember(owner, 'budi@toko.example');
    const budi = await signIn(owner, 'budi@toko.example', NOW);
    const opened = [
      await signIn(owner, EMAIL, NOW),
      await signIn(owner, EMAIL, after(1)),
      await signIn(owner, EMAIL, after(2)),
    ];
    const [one, other] = [await read(opened[0]?.token ?? ''), opened[1]?.sessionId ?? ''];
    if (!one) throw new Error('The session has ended');
    const listed = async () => (await listSessions(db, one, after(3))).map(({ id }) => id);
    expect(await listed()).toEqual(opened.map(({ sessionId }) => sessionId).toReversed());
    expect((await listSessions(db, one, NOW))[0]).toMatchObject({ method: 'development_link', ...BROWSER });
    const by = { session: one, address: BROWSER.address };
    await signOutOther({ db }, by, other, NOW);
    expect(await listed()).not.toContain(other);
    for (const id of [other, budi.sessionId]) {
      await expect(signOutOther({ db }, by, id, NOW)).rejects.toThrow('There is no session');
    }
    await signOutOthers({ db }, by, NOW);
    expect(await listed()).toEqual([one.id]);
    expect(await read(budi.token)).toBeDefined();
  });

  it('attack: accepts no other token, whatever its form', async () => {
    const { token } = await signIn(owner, EMAIL, NOW);
    const link = await createLink();
    const changed = `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`;
    for (const wrong of [changed, link, token.slice(4), `${token} `, '', `ses_${"'".repeat(43)}`]) {
      expect(await read(wrong)).toBeUndefined();
    }
  });

  it('attack: a session of an operator is none of the dashboard, whatever the statement', async () => {
    const { id } = await insertOperator(owner, { name: 'dewi', environment: 'sandbox' });
    await createOperatorUser(owner, id, 'dewi@lunas.example');
    const { token } = await signIn(owner, 'dewi@lunas.example', NOW, 'operator');
    expect(await read(token)).toBeUndefined();
    expect(await readSession(db, { realm: 'operator', token, merchantCode: null }, NOW)).toBeUndefined();
    expect(await readSession(owner, { realm: 'operator', token, merchantCode: null }, NOW)).toMatchObject({
      user: { id },
    });
  });

  it('writes the time of the last request at most once a minute', async () => {
    const { token } = await signIn(owner, EMAIL, NOW);
    const seenAt = async () => (await owner.query('select last_seen_at from sessions')).rows[0]?.last_seen_at;
    const session = await read(token);
    if (!session) throw new Error('The session has ended');
    await extendSession(db, session, after(MINUTE_MS));
    expect(await seenAt()).toEqual(NOW);
    await extendSession(db, session, after(MINUTE_MS + 1));
    expect(await seenAt()).toEqual(after(MINUTE_MS + 1));
  });

  it('records a visit at the merchant of the path alone, at most once a minute', async () => {
    const other = await createShop(owner, 'Toko Lain');
    const another = await createMember(owner, 'budi@toko.example', [[merchant.id, 'viewer']]);
    await owner.query(
      `insert into members (merchant_id, user_id, role, invited_by, created_at) values ($1, $2, 'viewer', 'x', now())`,
      [other.id, userId],
    );
    const { token } = await signIn(owner, EMAIL, NOW);
    const visit = async (merchantCode: string | null, at: Date) => {
      const session = await read(token, at, merchantCode);
      if (!session) throw new Error('The session has ended');
      await extendSession(db, session, at);
    };
    const seenAt = async (merchantId: string) =>
      new Map((await listMembers(db, merchantId)).map((member) => [member.userId, member.lastSeenAt]));
    await visit(null, NOW);
    await visit(merchant.code, after(1));
    expect((await seenAt(other.id)).get(userId)).toBeNull();
    await visit(other.code, after(2));
    await visit(merchant.code, after(MINUTE_MS));
    await visit(other.code, after(2 * MINUTE_MS));
    expect((await seenAt(merchant.id)).get(userId)).toEqual(after(1));
    expect((await seenAt(merchant.id)).get(another)).toBeNull();
    expect((await seenAt(other.id)).get(userId)).toEqual(after(2 * MINUTE_MS));
  });

  it('readSession is one statement of at most 12 buffers among 10,000 users and 10,000 sessions', async () => {
    await owner.query(
      `insert into users (id, realm, email, name)
       select gen_random_uuid(), 'merchant', n || '@toko.example', 'Budi' from generate_series(1, 10000) n`,
    );
    await owner.query(
      `insert into merchants (id, name, status)
       select gen_random_uuid(), 'Toko', 'approved' from generate_series(1, 5000)`,
    );
    await owner.query(
      `insert into members (merchant_id, user_id, role, invited_by, created_at)
       select $1, id, 'cashier', 'cli:test', now() from users on conflict do nothing`,
      [merchant.id],
    );
    await owner.query(
      `insert into sessions (id, realm, user_id, token_sha256, stage, method, created_at, last_seen_at, expires_at,
         address, user_agent)
       select gen_random_uuid(), 'merchant', users.id, sha256(convert_to(users.id::text, 'utf8')), 'full',
         'password', $1, $1, $2, '203.0.113.9', 'test' from users`,
      [NOW, after(SESSION_LIMITS.merchant.absoluteMs)],
    );
    await owner.query('vacuum analyze users, merchants, members, sessions');
    const { token, sessionId } = await signIn(owner, EMAIL, NOW);
    // For a development session the policy reads one buffer more.
    await owner.query("update sessions set method = 'password' where id = $1", [sessionId]);
    const { db: explaining, explained } = explainQueries(db);
    await readSession(explaining, { realm: 'merchant', token, merchantCode: merchant.code }, NOW);
    // The first explanation fills the caches of the connection.
    explained.length = 0;
    await readSession(explaining, { realm: 'merchant', token, merchantCode: merchant.code }, NOW);
    expect(explained.map(({ statement }) => statement)).toEqual(['find_session', 'find_session']);
    for (const { buffers, plan } of explained)
      expect({ plan, isBounded: buffers <= 12 }).toEqual({ plan, isBounded: true });
  }, 120_000);
});

describe('a development link', () => {
  it('signs in once, also if ten browsers use it at the same time', async () => {
    const token = await createLink();
    const results = await Promise.allSettled(Array.from({ length: 10 }, () => useLink(token)));
    const reasons = results.map((result) => (result.status === 'fulfilled' ? 'opened' : result.reason.reason));
    expect(reasons.toSorted((one, other) => one.localeCompare(other))).toEqual([
      ...Array.from({ length: 9 }, () => 'link_used'),
      'opened',
    ]);
    expect((await owner.query('select from sessions')).rowCount).toBe(1);
  });

  it('a development link is invalid if it is unknown, or its stack has stopped', async () => {
    const ended = await createLink();
    await endDevelopmentLinks(owner, NOW);
    for (const token of [ended, `lnk_${'A'.repeat(43)}`, 'x', '']) {
      await expect(useLink(token)).rejects.toMatchObject({ reason: 'link_invalid' });
    }
    expect(await useLink(await createLink())).toMatchObject({ token: expect.stringMatching(/^ses_/) });
  });

  it('sets the language at the first sign-in only', async () => {
    const languageAfter = async (language: Language) => {
      await setFirstLanguage(db, await useLink(await createLink()), language);
      return (await owner.query<{ language: Language }>('select language from users')).rows[0]?.language;
    };
    expect([await languageAfter('id'), await languageAfter('en')]).toEqual(['id', 'id']);
  });

  it('needs an active user', async () => {
    const token = await createLink();
    await owner.query('update users set disabled_at = now()');
    await expect(createLink()).rejects.toMatchObject({ reason: 'not_allowed' });
    await expect(useLink(token)).rejects.toMatchObject({ reason: 'link_used' });
    expect((await owner.query('select from sessions')).rowCount).toBe(0);
  });

  it('attack: in production it is not created, and one that exists does not sign in', async () => {
    const token = await createLink();
    const production = await createProductionDatabase();
    const [superuser, dashboard] = [
      createPool(production.url, { max: 1 }),
      createPool(production.urlOf('lunas_local_dashboard'), { max: 1 }),
    ];
    await createMember(superuser, EMAIL);
    const request = { realm: 'merchant', email: EMAIL, createdBy: 'cli:test' } as const;
    await expect(createDevelopmentLink(superuser, request, NOW)).rejects.toMatchObject({ reason: 'not_allowed' });
    const { rows } = await owner.query<{ hash: Buffer }>('select token_sha256 as hash from sign_in_links');
    await superuser.query(
      `insert into sign_in_links (id, realm, kind, token_sha256, user_id, created_by, created_at, expires_at)
       select gen_random_uuid(), realm, 'development', $1, id, 'cli:test', $2, $3 from users`,
      [rows[0]?.hash, NOW, after(MINUTE_MS)],
    );
    const used = useDevelopmentLink(dashboard, { realm: 'merchant', token, browser: BROWSER }, NOW);
    await expect(used).rejects.toMatchObject({ reason: 'link_invalid' });
    const session = createSignInToken('session');
    const insertion = `insert into sessions (id, realm, user_id, token_sha256, stage, method, created_at, last_seen_at,
      expires_at, address, user_agent)
      select gen_random_uuid(), realm, id, $1, 'full', 'development_link', $2, $2, $3, '203.0.113.7', '' from users`;
    const values = [session.tokenSha256, NOW, after(MINUTE_MS)];
    await expect(dashboard.query(insertion, values)).rejects.toMatchObject({ code: '42501' });
    await superuser.query(insertion, values);
    const { token: sessionToken } = session;
    const readIt = () => readSession(dashboard, { realm: 'merchant', token: sessionToken, merchantCode: null }, NOW);
    expect(await readIt()).toBeUndefined();
    await superuser.query("update sessions set method = 'password'");
    expect(await readIt()).toMatchObject({ stage: 'full', method: 'password' });
    const change = dashboard.query("update sessions set method = 'development_link'");
    await expect(change).rejects.toMatchObject({ code: '42501' });
    await Promise.all([superuser.end(), dashboard.end()]);
    await production.drop();
  });

  it('attack: the dashboard cannot create one', async () => {
    const request = { realm: 'merchant', email: EMAIL, createdBy: 'cli:test' } as const;
    await expect(createDevelopmentLink(db, request, NOW)).rejects.toMatchObject({ code: '42501' });
  });
});

it('attack: the dashboard opens nothing again that has ended, was used or was revoked', async () => {
  await useLink(await createLink());
  await db.query('update sessions set ended_at = $1', [NOW]);
  const shop = await createShop(owner);
  await issueKey(owner, { merchantId: shop.id, environment: 'sandbox' });
  await db.query('update api_keys set revoked_at = $1', [NOW]);
  for (const statement of [
    'update sessions set ended_at = null',
    'update sign_in_links set used_at = null',
    "update api_keys set revoked_at = now() + interval '1 day'",
  ]) {
    await expect(db.query(statement)).rejects.toMatchObject({ code: '23001' });
  }
});

it('no table has a token', async () => {
  const link = await createLink();
  const { token } = await useLink(link);
  const { rows } = await owner.query<{ text: string }>(
    `select sessions::text || sign_in_links::text as text from sessions, sign_in_links`,
  );
  for (const secret of [link, token]) expect(rows[0]?.text).not.toContain(secret.slice(4, -4));
});

it('a step-up has an age, and a development session needs none', () => {
  const { formMs, postMs } = STEP_UP_LIMITS;
  const session = { method: 'password', steppedUpAt: NOW } as const;
  expect(isSteppedUp(session, formMs, after(formMs))).toBe(true);
  expect(isSteppedUp(session, formMs, after(formMs + 1))).toBe(false);
  expect(isSteppedUp(session, postMs, after(formMs + 1))).toBe(true);
  expect(isSteppedUp({ ...session, steppedUpAt: null }, postMs, NOW)).toBe(false);
  expect(isSteppedUp({ method: 'development_link', steppedUpAt: null }, formMs, NOW)).toBe(true);
});
