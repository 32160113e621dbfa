import { randomBytes, randomUUID } from 'node:crypto';
import { TOTP } from 'otpauth';
import { createSealer, type Sealer } from '../../../src/crypto/sealing';
import { createPool, type Pool } from '../../../src/db/connection/pool';
import { insertSession } from '../../../src/db/identity/sessions';
import { RECOVERY_CODES } from '../../../src/domain/recovery-codes';
import { createKnownBrowser } from '../../../src/services/identity/known-browser';
import { PasswordHasher } from '../../../src/services/identity/password';
import { countRecoveryCodes, spendRecoveryCode } from '../../../src/services/identity/recovery-codes';
import { RejectedSignIns } from '../../../src/services/identity/rejected-sign-ins';
import { readSession, type Session } from '../../../src/services/identity/sessions';
import {
  changePassword,
  completeSignIn,
  enrolTotp,
  replaceRecoveryCodes,
  signInWithPassword,
  stepUp,
  type IdentityDependencies,
} from '../../../src/services/identity/sign-in';
import { SignInThrottle } from '../../../src/services/identity/throttle';
import { beginTotpEnrolment } from '../../../src/services/identity/totp';
import { listNotices } from '../../../src/services/merchants/notices';
import { resealAll } from '../../../src/services/recovery/reseal';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { eventually } from '../../support/eventually';
import { BROWSER, createMember, createShop } from '../../support/people';

const EMAIL = 'sri@toko.example';
const PASSWORD = 'kopi tubruk di teras';
const NOW = new Date('2026-11-25T03:00:00.000Z');
const STEP_MS = 30_000;
const after = (milliseconds: number) => new Date(NOW.getTime() + milliseconds);
const { address } = BROWSER;

let database: TestDatabase;
let owner: Pool;
let db: Pool;
let masterKey: string;
let sealer: Sealer;
let dependencies: IdentityDependencies;
let userId: string;
let log: { readonly error: jest.Mock };

beforeEach(async () => {
  database = await createTestDatabase();
  owner = createPool(database.url, { max: 2 });
  db = createPool(database.urlOf('lunas_local_dashboard'), { max: 4 });
  masterKey = randomBytes(32).toString('base64');
  sealer = createSealer(masterKey);
  const hasher = new PasswordHasher();
  log = { error: jest.fn() };
  const [throttle, rejections] = [new SignInThrottle(db), new RejectedSignIns(db, log)];
  dependencies = { db, sealer, hasher, throttle, rejections, environment: 'sandbox', log };
  userId = await createMember(owner, EMAIL);
  await owner.query('update users set password_hash = $1', [await hasher.hash(PASSWORD)]);
});
afterEach(async () => {
  await dependencies.rejections.close();
  await Promise.all([owner.end(), db.end()]);
  await database.drop();
  if (log.error.mock.calls.length > 0) throw new Error('A step was not recorded');
});

const attempt = (password: string, email = EMAIL, from = address, now = NOW, knownBrowser?: string) =>
  signInWithPassword(
    dependencies,
    { realm: 'merchant', email, password, browser: { ...BROWSER, address: from }, knownBrowser },
    now,
  );

async function read(token: string, now = NOW): Promise<Session> {
  const session = await readSession(db, { realm: 'merchant', token, merchantCode: null }, now);
  if (!session) throw new Error('The session has ended');
  return session;
}

/** Signs in and sets an authenticator app. */
async function enrol(now = NOW) {
  const session = await read((await attempt(PASSWORD, EMAIL, address, now)).token, now);
  const { secret, sealed, uri } = beginTotpEnrolment(sealer, session);
  const codeAt = (at: Date) => new TOTP({ issuer: 'Lunas', secret }).generate({ timestamp: at.getTime() });
  const enrolment = { sealed, code: codeAt(now) };
  const enrolled = await enrolTotp(dependencies, session, { enrolment, address }, now);
  return { ...enrolled, codeAt, secret, uri };
}

/** Statements that wait for a lock in this database. */
async function countWaiting(): Promise<number> {
  const { rows } = await owner.query<{ count: number }>(
    `select count(*)::integer as count from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return rows[0]?.count ?? 0;
}

function enrolWith(session: Session, now: Date) {
  const { secret, sealed } = beginTotpEnrolment(sealer, session);
  const code = new TOTP({ secret }).generate({ timestamp: now.getTime() });
  return enrolTotp(dependencies, session, { enrolment: { sealed, code }, address }, now);
}

async function openSessions(): Promise<string[]> {
  const { rows } = await owner.query<{ id: string }>('select id from sessions where ended_at is null order by id');
  return rows.map(({ id }) => id);
}

const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => 'accepted',
    (error: unknown) => (typeof error === 'object' && error !== null && 'reason' in error ? error.reason : error),
  );

async function actions(): Promise<string[]> {
  const { rows } = await owner.query<{ text: string }>(
    `select action || ' ' || coalesce(outcome, 'open') || coalesce(' ' || outcomes.detail, '') as text
     from user_actions left join user_action_outcomes outcomes on outcomes.action_id = id order by id`,
  );
  return rows.map(({ text }) => text);
}

describe('by password', () => {
  it('signs a user of a sandbox in, whatever the case of the e-mail', async () => {
    const { token, expiresAt } = await attempt(PASSWORD, ' Sri@Toko.example ');
    expect(await read(token)).toMatchObject({
      stage: 'full',
      method: 'password',
      steppedUpAt: NOW,
      expiresAt,
      user: { id: userId },
    });
    expect(await actions()).toEqual(['session.sign_in succeeded']);
  });

  it('accepts the same password from another keyboard: composed, decomposed and full width', async () => {
    const hash = await dependencies.hasher.hash('caf\u00e9 pagi \uff11\uff12\uff13\uff14');
    await owner.query('update users set password_hash = $1', [hash]);
    expect(await reasonOf(attempt('cafe\u0301 pagi 1234'))).toBe('accepted');
  });

  it('attack: an unknown e-mail, a disabled user, one without a password and a wrong password are alike', async () => {
    await createMember(owner, 'disabled@toko.example');
    await createMember(owner, 'invited@toko.example');
    await owner.query("update users set disabled_at = now(), password_hash = $1 where email like 'disabled%'", [
      await dependencies.hasher.hash(PASSWORD),
    ]);
    const verify = jest.spyOn(dependencies.hasher, 'verify');
    const emails = ['unknown@toko.example', 'nul\0@toko.example', 'disabled@toko.example', 'invited@toko.example'];
    const attempts: (() => ReturnType<typeof attempt>)[] = [
      ...emails.map((email) => () => attempt(PASSWORD, email)),
      () => attempt('wrong'),
      () => attempt('x'.repeat(10_000)),
    ];
    // One after another: a network has few slots for passwords at a time.
    const failures: unknown[] = [];
    for (const next of attempts) failures.push(await next().catch((error: unknown) => String(error)));
    expect(new Set(failures)).toEqual(new Set(['UserError: The e-mail or the password is wrong.']));
    expect(verify).toHaveBeenCalledTimes(failures.length);
  });

  it('records the rejected sign-in of a known user, and none of an unknown one', async () => {
    await reasonOf(attempt(PASSWORD, 'unknown@toko.example'));
    await reasonOf(attempt('wrong'));
    await dependencies.rejections.close();
    expect(await actions()).toEqual(['session.sign_in rejected credentials']);
  });

  it('requires a second factor in production: a user without one has to set it first', async () => {
    dependencies = { ...dependencies, environment: 'production' };
    const { token } = await attempt(PASSWORD);
    const session = await read(token);
    expect(session).toMatchObject({ stage: 'enrol', steppedUpAt: null });
    const { secret, sealed } = beginTotpEnrolment(sealer, session);
    const code = new TOTP({ secret }).generate({ timestamp: NOW.getTime() });
    const { session: opened, recoveryCodes } = await enrolTotp(
      dependencies,
      session,
      { enrolment: { sealed, code }, address },
      NOW,
    );
    expect(recoveryCodes).toHaveLength(RECOVERY_CODES);
    expect(await read(opened.token)).toMatchObject({ stage: 'full', id: session.id });
    await expect(read(token)).rejects.toThrow('ended');
    expect(await actions()).toEqual(['security.set_totp succeeded', 'session.sign_in succeeded']);
  });
});

it('attack: a sign-in by the password alone does not replace a factor that was set since', async () => {
  dependencies = { ...dependencies, environment: 'production' };
  const stolen = await read((await attempt(PASSWORD)).token);
  await enrol();
  const { secret, sealed } = beginTotpEnrolment(sealer, stolen);
  const enrolment = { sealed, code: new TOTP({ secret }).generate({ timestamp: NOW.getTime() }) };
  expect(await reasonOf(enrolTotp(dependencies, stolen, { enrolment, address }, NOW))).toBe('session_ended');
});

describe('the second factor', () => {
  it('completes the sign-in within five minutes, with another token', async () => {
    const { codeAt } = await enrol();
    const { token } = await attempt(PASSWORD, EMAIL, address, after(STEP_MS));
    const session = await read(token, after(STEP_MS));
    expect(session).toMatchObject({ stage: 'password', steppedUpAt: null });
    const later = after(STEP_MS + 5 * 60_000 - 1);
    await expect(read(token, after(STEP_MS + 5 * 60_000))).rejects.toThrow('ended');
    const proof = { kind: 'totp', code: codeAt(later) } as const;
    const completed = await completeSignIn(dependencies, session, { proof, address }, later);
    expect(await read(completed.token, later)).toMatchObject({ stage: 'full', steppedUpAt: later });
    await expect(read(token, later)).rejects.toThrow('ended');
    expect(await actions()).toEqual([
      'session.sign_in succeeded',
      'security.set_totp succeeded',
      'session.sign_in succeeded',
    ]);
  });

  it('accepts a code of one step before and after, and none of two', async () => {
    const { codeAt } = await enrol(after(-10 * STEP_MS));
    for (const [steps, expected] of [
      [-2, 'code'],
      [2, 'code'],
      [-1, 'accepted'],
      [1, 'accepted'],
    ] as const) {
      const session = await read((await attempt(PASSWORD)).token);
      const proof = { kind: 'totp', code: codeAt(after(steps * STEP_MS)) } as const;
      expect(await reasonOf(completeSignIn(dependencies, session, { proof, address }, NOW))).toBe(expected);
    }
  });

  it('attack: a code is good once, also if two sign-ins use it at the same time', async () => {
    const { codeAt } = await enrol();
    const now = after(STEP_MS);
    const proof = { kind: 'totp', code: codeAt(now) } as const;
    const sessions = [];
    for (let count = 0; count < 4; count += 1) {
      sessions.push(await read((await attempt(PASSWORD, EMAIL, address, now)).token, now));
    }
    const reasons = await Promise.all(
      sessions.map((session) => reasonOf(completeSignIn(dependencies, session, { proof, address }, now))),
    );
    expect(reasons.filter((reason) => reason === 'accepted')).toHaveLength(1);
    expect(reasons.filter((reason) => reason === 'code')).toHaveLength(3);
  });

  it('attack: the code that confirmed the authenticator app signs in no more', async () => {
    const { codeAt } = await enrol();
    const session = await read((await attempt(PASSWORD)).token);
    const proof = { kind: 'totp', code: codeAt(NOW) } as const;
    expect(await reasonOf(completeSignIn(dependencies, session, { proof, address }, NOW))).toBe('code');
  });

  it('a recovery code replaces it once', async () => {
    const { recoveryCodes } = await enrol();
    const use = async (code: string) => {
      const session = await read((await attempt(PASSWORD)).token);
      return reasonOf(completeSignIn(dependencies, session, { proof: { kind: 'recovery_code', code }, address }, NOW));
    };
    const [first = '', second = ''] = recoveryCodes;
    expect(await use(first)).toBe('accepted');
    expect(await use(first)).toBe('code');
    expect(await use(second.toLowerCase().replaceAll('-', ' '))).toBe('accepted');
    expect(await use('0000-0000-0000-0000')).toBe('code');
    expect(await countRecoveryCodes(db, userId)).toEqual({ unused: 8, isFew: false });
    for (const code of recoveryCodes.slice(2, 8)) await spendRecoveryCode(db, userId, code, NOW);
    expect(await countRecoveryCodes(db, userId)).toEqual({ unused: 2, isFew: true });
  });

  it('attack: the secret of one session confirms nothing in another, and a changed one nothing at all', async () => {
    const [one, other] = [await read((await attempt(PASSWORD)).token), await read((await attempt(PASSWORD)).token)];
    const { secret, sealed } = beginTotpEnrolment(sealer, one);
    const code = new TOTP({ secret }).generate({ timestamp: NOW.getTime() });
    for (const [session, text] of [
      [other, sealed],
      [one, `${sealed.slice(0, -2)}AA`],
      [one, ''],
    ] as const) {
      const enrolment = { sealed: text, code };
      expect(await reasonOf(enrolTotp(dependencies, session, { enrolment, address }, NOW))).toBe('code');
    }
  });

  it('a second factor is still readable after the master key was replaced', async () => {
    const { codeAt } = await enrol();
    const newKey = randomBytes(32).toString('base64');
    await resealAll(owner, createSealer(newKey, [masterKey]), () => undefined);
    dependencies = { ...dependencies, sealer: createSealer(newKey) };
    const now = after(STEP_MS);
    const session = await read((await attempt(PASSWORD, EMAIL, address, now)).token, now);
    const proof = { kind: 'totp', code: codeAt(now) } as const;
    expect(await reasonOf(completeSignIn(dependencies, session, { proof, address }, now))).toBe('accepted');
  });
});

it('attack: no code of a secret that was replaced in the database is good', async () => {
  const { session, codeAt } = await enrol();
  const signedIn = await read(session.token);
  const other = createSealer(masterKey).seal('JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP', ['totp', signedIn.user.id]);
  await owner.query('alter table users disable trigger totp_is_enrolled');
  await owner.query('update users set sealed_totp = $1', [other]);
  const now = after(STEP_MS);
  const { token } = await attempt(PASSWORD, EMAIL, address, now);
  const codeOfOther = new TOTP({ secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP' }).generate({ timestamp: now.getTime() });
  for (const code of [codeOfOther, codeAt(now)]) {
    const completed = completeSignIn(
      dependencies,
      await read(token, now),
      { proof: { kind: 'totp', code }, address },
      now,
    );
    await expect(completed).rejects.toThrow('was changed: reset the user');
  }
});

describe('a step-up', () => {
  it('gives the session a new token and a time, and keeps its end', async () => {
    const { token, expiresAt } = await attempt(PASSWORD);
    const session = await read(token);
    const proof = { kind: 'password', password: PASSWORD } as const;
    const renewed = await stepUp(dependencies, session, { proof, address }, after(60_000));
    expect(await read(renewed.token)).toMatchObject({ id: session.id, steppedUpAt: after(60_000), expiresAt });
    await expect(read(token)).rejects.toThrow('ended');
  });

  it('attack: the password is not enough for a user with a second factor', async () => {
    const { session, codeAt } = await enrol();
    const proof = { kind: 'password', password: PASSWORD } as const;
    const signedIn = await read(session.token);
    expect(await reasonOf(stepUp(dependencies, signedIn, { proof, address }, NOW))).toBe('credentials');
    const now = after(STEP_MS);
    const code = { kind: 'totp', code: codeAt(now) } as const;
    expect(await reasonOf(stepUp(dependencies, signedIn, { proof: code, address }, now))).toBe('accepted');
  });

  it('attack: a session that waits for its second factor cannot step up, nor set another one', async () => {
    const { codeAt } = await enrol();
    const now = after(STEP_MS);
    const session = await read((await attempt(PASSWORD, EMAIL, address, now)).token, now);
    const proof = { kind: 'totp', code: codeAt(now) } as const;
    expect(await reasonOf(stepUp(dependencies, session, { proof, address }, now))).toBe('session_ended');
    const enrolment = { sealed: '', code: codeAt(now) };
    expect(await reasonOf(enrolTotp(dependencies, session, { enrolment, address }, now))).toBe('session_ended');
  });
});

describe('a new password', () => {
  it('attack: a sign-in that compared the old password before the change is rejected', async () => {
    const session = await read((await attempt(PASSWORD)).token);
    jest.spyOn(dependencies.hasher, 'verify').mockImplementationOnce(async () => {
      await changePassword(dependencies, session, { password: 'teh botol dingin 88', address }, NOW);
      return true;
    });
    expect(await reasonOf(attempt(PASSWORD))).toBe('credentials');
    expect(await openSessions()).toEqual([session.id]);
  });

  it('attack: a sign-in waits for a change that is being written, and is rejected', async () => {
    const change = await owner.connect();
    await change.query('begin');
    await change.query("update users set password_hash = 'another'");
    const opened = reasonOf(attempt(PASSWORD));
    await eventually(countWaiting, (count) => count === 1);
    await change.query('commit');
    change.release();
    expect(await opened).toBe('credentials');
    expect(await openSessions()).toEqual([]);
  });

  it('attack: a change waits for a sign-in that is being written, and ends its session', async () => {
    const session = await read((await attempt(PASSWORD)).token);
    const { rows } = await owner.query<{ passwordHash: string }>('select password_hash as "passwordHash" from users');
    const signIn = await owner.connect();
    await signIn.query('begin');
    const opening = {
      stage: 'full',
      method: 'password',
      now: NOW,
      expiresAt: after(60_000),
      steppedUpAt: NOW,
    } as const;
    const token = { id: randomUUID(), realm: 'merchant', userId, tokenSha256: randomBytes(32) } as const;
    const passwordHash = rows[0]?.passwordHash ?? '';
    expect(await insertSession(signIn, { ...opening, ...token, passwordHash, browser: BROWSER })).toBe(true);
    const change = changePassword(dependencies, session, { password: 'teh botol dingin 88', address }, NOW);
    await eventually(countWaiting, (count) => count === 1);
    await signIn.query('commit');
    signIn.release();
    await change;
    expect(await openSessions()).toEqual([session.id]);
  });

  it.each([
    [
      'a password',
      (session: Session, now: Date) =>
        changePassword(dependencies, session, { password: 'teh botol dingin 88', address }, now),
    ],
    ['recovery codes', (session: Session, now: Date) => replaceRecoveryCodes(dependencies, session, address, now)],
    ['an authenticator app', (session: Session, now: Date) => enrolWith(session, now)],
  ] as const)('attack: %s of a session that was left open needs a step-up', async (_name, change) => {
    const session = await read((await attempt(PASSWORD)).token);
    const late = after(15 * 60_000 + 1);
    expect(await reasonOf(change(session, late))).toBe('not_stepped_up');
    await owner.query('update sessions set ended_at = now() where id = $1', [session.id]);
    expect(await reasonOf(change(session, NOW))).toBe('session_ended');
    const { rows } = await owner.query('select sealed_totp from users');
    expect(rows).toEqual([{ sealed_totp: null }]);
  });

  it('ends the other sessions of the user, and not this one', async () => {
    const [one, other] = [await attempt(PASSWORD), await attempt(PASSWORD)];
    const session = await read(one.token);
    await changePassword(dependencies, session, { password: 'teh botol dingin 88', address }, NOW);
    await expect(read(other.token)).rejects.toThrow('ended');
    await read(one.token);
    expect(await reasonOf(attempt(PASSWORD))).toBe('credentials');
    expect(await reasonOf(attempt('teh botol dingin 88'))).toBe('accepted');
  });

  it.each([
    ['kopi', 'too_short'],
    ['x'.repeat(5) + 'abc'.repeat(100), 'too_long'],
    ['ababababababab', 'too_uniform'],
    ['rahasia SRI 123', 'contains_email'],
  ])('a new password is rejected: %s', async (password, violation) => {
    const session = await read((await attempt(PASSWORD)).token);
    const changed = changePassword(dependencies, session, { password, address }, NOW);
    await expect(changed).rejects.toMatchObject({ field: 'password', message: violation });
  });
});

/** The kinds of all notices, the oldest first. */
async function notices(): Promise<string[]> {
  const { rows } = await owner.query<{ kind: string }>(
    'select kind from merchant_notices, generate_series(1, count) order by id',
  );
  return rows.map(({ kind }) => kind.replace('security.', ''));
}

it('attack: no new credential is silent, and new recovery codes end the other sessions', async () => {
  const shop = await createShop(owner);
  await owner.query(
    "insert into members (merchant_id, user_id, role, invited_by, created_at) values ($1, $2, 'owner', 'x', now())",
    [shop.id, userId],
  );
  const { token } = await attempt(PASSWORD);
  await changePassword(dependencies, await read(token), { password: 'teh botol dingin 88', address }, NOW);
  expect(await notices()).toEqual(['factor_changed']);
  const { token: stolen } = await attempt('teh botol dingin 88');
  const [code = ''] = await replaceRecoveryCodes(dependencies, await read(token), address, NOW);
  expect(await notices()).toEqual(['factor_changed', 'factor_changed']);
  await expect(read(stolen)).rejects.toThrow('ended');
  const proof = { kind: 'recovery_code', code } as const;
  await stepUp(dependencies, await read(token), { proof, address }, NOW);
  expect(await reasonOf(spendRecoveryCode(db, userId, code, NOW))).toBe('code');
  expect(await notices()).toEqual(['factor_changed', 'factor_changed', 'recovery_code_used']);
  await enrolWith(await read((await attempt('teh botol dingin 88')).token), NOW);
  expect(await notices()).toEqual(['factor_changed', 'factor_changed', 'factor_changed', 'recovery_code_used']);
});

it('the fifth wrong code of a day makes one notice, for the user too, whatever asks for the code', async () => {
  const shop = await createShop(owner);
  await owner.query(
    `insert into members (merchant_id, user_id, role, invited_by, created_at)
     values ($1, $2, 'cashier', 'x', '2020-01-01')`,
    [shop.id, userId],
  );
  const { session } = await enrol();
  const shown = async () => (await listNotices(db, { merchantId: shop.id, userId })).map(({ kind }) => kind);
  const waiting = await read((await attempt(PASSWORD)).token);
  const signedIn = await read(session.token);
  const [totp, recovery] = [
    { kind: 'totp', code: '000000x' },
    { kind: 'recovery_code', code: '0000-0000-0000-0000' },
  ] as const;
  for (const proof of [totp, recovery]) {
    expect(await reasonOf(completeSignIn(dependencies, waiting, { proof, address }, NOW))).toBe('code');
    expect(await reasonOf(stepUp(dependencies, signedIn, { proof, address }, NOW))).toBe('code');
  }
  expect(await shown()).not.toContain('security.wrong_codes');
  for (let count = 0; count < 3; count += 1)
    await reasonOf(stepUp(dependencies, signedIn, { proof: totp, address }, NOW));
  expect((await shown()).filter((kind) => kind === 'security.wrong_codes')).toHaveLength(1);
  expect((await notices()).filter((kind) => kind === 'wrong_codes')).toHaveLength(1);
});

describe('limits', () => {
  it('the sixth attempt of a network and an e-mail waits, and another network does not', async () => {
    for (let count = 0; count < 5; count += 1) expect(await reasonOf(attempt('wrong'))).toBe('credentials');
    await expect(attempt(PASSWORD)).rejects.toMatchObject({
      reason: 'throttled',
      retryAfterSeconds: expect.any(Number),
    });
    expect(await reasonOf(attempt(PASSWORD, EMAIL, '203.0.113.250'))).toBe('throttled');
    expect(await reasonOf(attempt(PASSWORD, EMAIL, '198.51.100.1'))).toBe('accepted');
    expect(await reasonOf(attempt('wrong', 'budi@toko.example'))).toBe('credentials');
  });

  it('a /64 of IPv6 has one limit', async () => {
    for (let count = 0; count < 5; count += 1) {
      expect(await reasonOf(attempt('wrong', EMAIL, `2001:db8::${count + 1}`))).toBe('credentials');
    }
    expect(await reasonOf(attempt(PASSWORD, EMAIL, '2001:db8:0:0:ffff::9'))).toBe('throttled');
    expect(await reasonOf(attempt(PASSWORD, EMAIL, '2001:db8:0:1::9'))).toBe('accepted');
  });

  it('attack: the networks of one /48 do not use up the limit of an e-mail', async () => {
    const stranger = (count: number) => reasonOf(attempt('wrong', EMAIL, `2001:db8:0:${count}::1`));
    for (let count = 0; count < 15; count += 1) expect(await stranger(count)).toBe('credentials');
    for (let count = 15; count < 60; count += 1) expect(await stranger(count)).toBe('throttled');
    expect(await reasonOf(attempt(PASSWORD))).toBe('accepted');
    expect(await reasonOf(attempt(PASSWORD, EMAIL, '2001:db8:1::1'))).toBe('accepted');
    expect(await reasonOf(attempt('wrong', 'budi@toko.example', '2001:db8:0:ffff::1'))).toBe('credentials');
  });

  it('attack: who has only the password does not keep the user from a step-up', async () => {
    const { session, codeAt } = await enrol();
    const now = after(STEP_MS * 3);
    const reasons: unknown[] = [];
    for (let count = 0; count < 11; count += 1) {
      const stranger = await read((await attempt(PASSWORD, EMAIL, '198.51.100.9', now)).token, now);
      const proof = { kind: 'totp', code: '000000x' } as const;
      reasons.push(await reasonOf(completeSignIn(dependencies, stranger, { proof, address }, now)));
    }
    expect(reasons.at(-1)).toBe('throttled');
    const proof = { kind: 'totp', code: codeAt(now) } as const;
    expect(await reasonOf(stepUp(dependencies, await read(session.token, now), { proof, address }, now))).toBe(
      'accepted',
    );
  });

  describe('of codes', () => {
    const now = after(STEP_MS * 3);

    async function sendCode(code: string, from: string, knownBrowser?: string): Promise<unknown> {
      // The limits of the password are those of other tests.
      await owner.query("delete from rate_limits where key like 'sign_in%'");
      const session = await read((await attempt(PASSWORD, EMAIL, from, now)).token, now);
      const kind = code.includes('-') ? 'recovery_code' : 'totp';
      return reasonOf(
        completeSignIn(dependencies, session, { proof: { kind, code }, address: from, knownBrowser }, now),
      );
    }

    /** Wrong codes from a network until one waits. @returns how many were compared */
    async function exhaust(from: string, knownBrowser?: string): Promise<number> {
      for (let count = 0; count < 60; count += 1) {
        if ((await sendCode('000000x', from, knownBrowser)) === 'throttled') return count;
      }
      throw new Error('No code was limited');
    }

    /** The quarter of an hour is over, and the day is not. */
    const waitQuarter = () => owner.query("delete from rate_limits where key like 'code_pair:%'");

    it('attack: a stranger with the password delays the user neither elsewhere nor in a known browser', async () => {
      const { codeAt, recoveryCodes } = await enrol();
      const known = createKnownBrowser(sealer, { realm: 'merchant', email: EMAIL }, NOW);
      expect(await exhaust('198.51.100.9')).toBe(10);
      expect(await sendCode(codeAt(now), '198.51.100.77')).toBe('throttled');
      expect(await sendCode(codeAt(now), address)).toBe('accepted');
      await waitQuarter();
      expect(await exhaust('198.51.100.9')).toBe(10);
      await waitQuarter();
      expect(await exhaust('198.51.100.9')).toBe(0);
      expect(await exhaust('2001:db8:0:1::1')).toBe(10);
      await waitQuarter();
      expect(await sendCode('000000x', '192.0.2.1')).toBe('throttled');
      expect(await sendCode(codeAt(after(STEP_MS * 4)), address)).toBe('throttled');
      expect(await sendCode(codeAt(after(STEP_MS * 4)), '198.51.100.9', known)).toBe('accepted');
      expect(await sendCode(recoveryCodes[0] ?? '', address)).toBe('accepted');
    });

    it('attack: the networks of one /48 share a limit, and a forged cookie is no known browser', async () => {
      await enrol();
      for (let count = 0; count < 10; count += 1) {
        expect(await sendCode('000000x', `2001:db8:0:${count}::1`)).toBe('code');
      }
      expect(await sendCode('000000x', '2001:db8:0:99::1')).toBe('throttled');
      const stranger = createKnownBrowser(sealer, { realm: 'merchant', email: 'budi@toko.example' }, NOW);
      expect(await sendCode('000000x', '2001:db8:0:99::1', stranger)).toBe('throttled');
    });

    it('a known browser compares twenty wrong codes a day', async () => {
      await enrol();
      const known = createKnownBrowser(sealer, { realm: 'merchant', email: EMAIL }, NOW);
      expect(await exhaust(address, known)).toBe(20);
      expect(await sendCode('000000x', address)).toBe('code');
    });

    it('a session that is signed in compares twenty codes a day, and another session is free', async () => {
      const { session, codeAt } = await enrol();
      const stolen = await read(session.token, now);
      const prove = async (of: Session, code: string) => {
        await owner.query("delete from rate_limits where key like 'sign_in_session:%'");
        return reasonOf(stepUp(dependencies, of, { proof: { kind: 'totp', code }, address }, now));
      };
      // The one that confirmed the app counts too.
      for (let count = 0; count < 19; count += 1) expect(await prove(stolen, '000000x')).toBe('code');
      expect(await prove(stolen, codeAt(now))).toBe('throttled');
      expect(await sendCode(codeAt(now), address)).toBe('accepted');
      const { rows } = await owner.query<{ id: string }>('select id from sessions where id <> $1', [stolen.id]);
      const own = { ...stolen, id: rows[0]?.id ?? '' };
      expect(await prove(own, codeAt(after(STEP_MS * 4)))).toBe('accepted');
    });

    it('count wrong ones: a right one takes nothing from the day', async () => {
      const { codeAt } = await enrol();
      for (let step = 3; step < 30; step += 1) {
        const at = after(STEP_MS * step);
        const session = await read((await attempt(PASSWORD, EMAIL, address, at)).token, at);
        const proof = { kind: 'totp', code: codeAt(at) } as const;
        expect(await reasonOf(completeSignIn(dependencies, session, { proof, address }, at))).toBe('accepted');
      }
    });
  });

  it('attack: a stranger with many networks does not keep a browser out in which the user has signed in', async () => {
    for (let count = 0; count < 50; count += 1) {
      expect(await reasonOf(attempt('wrong', EMAIL, `2001:db8:${count}::1`))).toBe('credentials');
    }
    const known = createKnownBrowser(sealer, { realm: 'merchant', email: EMAIL }, NOW);
    const from = (cookie?: string, password = PASSWORD) =>
      reasonOf(attempt(password, EMAIL, '198.51.100.1', NOW, cookie));
    expect(await from()).toBe('throttled');
    for (const cookie of [
      createKnownBrowser(sealer, { realm: 'merchant', email: 'budi@toko.example' }, NOW),
      createKnownBrowser(createSealer(randomBytes(32).toString('base64')), { realm: 'merchant', email: EMAIL }, NOW),
      `${known.slice(0, -2)}AA`,
    ]) {
      expect(await from(cookie)).toBe('throttled');
    }
    expect(await from(known)).toBe('accepted');
    const halfAYear = after(181 * 86_400_000);
    expect(await reasonOf(attempt(PASSWORD, EMAIL, '198.51.100.1', halfAYear, known))).toBe('throttled');
    for (let count = 0; count < 10; count += 1) expect(await from(known, 'wrong')).toBe('credentials');
    expect(await from(known)).toBe('throttled');
    // A thief who was in the login has no attempts of their own after the next password.
    const next = createKnownBrowser(sealer, { realm: 'merchant', email: EMAIL }, after(1));
    await owner.query('update users set password_changed_at = $1', [after(2)]);
    expect(await from(next)).toBe('throttled');
    const later = createKnownBrowser(sealer, { realm: 'merchant', email: EMAIL }, after(2));
    expect(await from(later)).toBe('accepted');
  });

  it('count failures, and not the sign-ins of a user', async () => {
    for (let count = 0; count < 7; count += 1) expect(await reasonOf(attempt(PASSWORD))).toBe('accepted');
  });

  it('the sixth code of a sign-in waits, also the right one', async () => {
    const { codeAt } = await enrol();
    const now = after(STEP_MS);
    const session = await read((await attempt(PASSWORD, EMAIL, address, now)).token, now);
    const complete = (code: string) =>
      reasonOf(completeSignIn(dependencies, session, { proof: { kind: 'totp', code }, address }, now));
    for (let count = 0; count < 5; count += 1) expect(await complete('000000x')).toBe('code');
    expect(await complete(codeAt(now))).toBe('throttled');
  });

  it('the limits are closed if their store is away', async () => {
    await owner.query('alter table rate_limits rename to rate_limits_away');
    await expect(attempt(PASSWORD)).rejects.toMatchObject({ reason: 'unavailable', retryAfterSeconds: 5 });
  });

  it('a process verifies eighteen passwords, and the rest is asked to wait', async () => {
    const hasher = new PasswordHasher();
    const hash = await hasher.hash(PASSWORD);
    const reasons = await Promise.all(Array.from({ length: 30 }, () => reasonOf(hasher.verify(hash, PASSWORD))));
    expect(reasons.filter((reason) => reason === 'accepted')).toHaveLength(18);
    expect(reasons.filter((reason) => reason === 'busy')).toHaveLength(12);
    expect(await hasher.verify(hash, PASSWORD)).toBe(true);
  });

  it('strangers have three passwords of a network and nine in all, and the rest is for known browsers', async () => {
    const hasher = new PasswordHasher();
    const hash = await hasher.hash(PASSWORD);
    const reasonsOf = (addresses: readonly string[]) =>
      Promise.all(addresses.map((address) => reasonOf(hasher.verify(hash, 'wrong', address))));
    const ofOneSite = await reasonsOf(Array.from({ length: 10 }, (_, index) => `2001:db8:1:${index}::1`));
    expect(ofOneSite.filter((reason) => reason === 'accepted')).toHaveLength(3);
    const order: string[] = [];
    const strangers = reasonsOf(Array.from({ length: 40 }, (_, index) => `198.51.100.${index}`)).then((reasons) => {
      order.push('strangers');
      return reasons;
    });
    const member = reasonOf(hasher.verify(hash, PASSWORD)).then((reason) => order.push(`member ${String(reason)}`));
    expect((await strangers).filter((reason) => reason === 'accepted')).toHaveLength(9);
    await member;
    expect(order).toEqual(['member accepted', 'strangers']);
  });
});

it('no table has a password, a secret, a code or an e-mail of an attempt', async () => {
  const { recoveryCodes, secret, codeAt, session } = await enrol();
  const replaced = await replaceRecoveryCodes(dependencies, await read(session.token), address, NOW);
  await reasonOf(attempt('wrong password 77', 'unknown@toko.example'));
  const { rows: tables } = await owner.query<{ name: string }>(
    "select tablename as name from pg_tables where schemaname = 'public'",
  );
  const dumps = await Promise.all(
    tables.map(async ({ name }) => JSON.stringify((await owner.query(`select t::text from ${name} t`)).rows)),
  );
  const dump = dumps.join('\n');
  expect(dump).toContain('$argon2id$v=19$m=19456,t=2,p=1$');
  const secrets = [PASSWORD, 'wrong password 77', 'unknown@toko.example', secret, session.token, codeAt(NOW)];
  for (const text of [...secrets, ...recoveryCodes, ...replaced]) expect(dump).not.toContain(text);
});
