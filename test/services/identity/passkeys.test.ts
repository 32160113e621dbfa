import { randomBytes } from 'node:crypto';
import { createSealer } from '../../../src/crypto/sealing';
import { createPool, type Pool } from '../../../src/db/connection/pool';
import {
  beginPasskeySignIn,
  beginPasskeyStepUp,
  finishPasskeySignIn,
  stepUpByPasskey,
  type PasskeyDependencies,
} from '../../../src/services/identity/passkey-sign-in';
import {
  beginPasskeyRegistration,
  listPasskeys,
  registerPasskey,
  removePasskey,
  renamePasskey,
} from '../../../src/services/identity/passkeys';
import { PasswordHasher } from '../../../src/services/identity/password';
import { RejectedSignIns } from '../../../src/services/identity/rejected-sign-ins';
import { readSession, type Session } from '../../../src/services/identity/sessions';
import { signInWithPassword } from '../../../src/services/identity/sign-in';
import { SignInThrottle } from '../../../src/services/identity/throttle';
import { SoftwareAuthenticator } from '../../support/authenticator';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { BROWSER, createMember, createOperatorUser, createShop } from '../../support/people';

const EMAIL = 'sri@toko.example';
const PASSWORD = 'kopi tubruk di teras';
const ORIGIN = 'https://dashboard.lunas.example';
const NOW = new Date('2026-11-25T03:00:00.000Z');
const MINUTE_MS = 60_000;
const after = (milliseconds: number) => new Date(NOW.getTime() + milliseconds);
const { address } = BROWSER;

let database: TestDatabase;
let owner: Pool;
let db: Pool;
let dependencies: PasskeyDependencies;
let userId: string;
let device: SoftwareAuthenticator;

beforeEach(async () => {
  database = await createTestDatabase();
  owner = createPool(database.url, { max: 2 });
  db = createPool(database.urlOf('lunas_local_dashboard'), { max: 4 });
  const [hasher, sealer] = [new PasswordHasher(), createSealer(randomBytes(32).toString('base64'))];
  const log = { error: jest.fn() };
  const [throttle, rejections] = [new SignInThrottle(db), new RejectedSignIns(db, log)];
  const origin = new URL(ORIGIN);
  dependencies = { db, sealer, hasher, throttle, rejections, environment: 'production', log, origin };
  userId = await createMember(owner, EMAIL);
  await owner.query('update users set password_hash = $1', [await hasher.hash(PASSWORD)]);
  device = new SoftwareAuthenticator(ORIGIN);
});
afterEach(async () => {
  await dependencies.rejections.close();
  await Promise.all([owner.end(), db.end()]);
  await database.drop();
});

async function read(token: string, now = NOW): Promise<Session> {
  const session = await readSession(db, { realm: 'merchant', token, merchantCode: null }, now);
  if (!session) throw new Error('The session has ended');
  return session;
}

async function enrolling(): Promise<Session> {
  const attempt = { realm: 'merchant', email: EMAIL, password: PASSWORD, browser: BROWSER } as const;
  return read((await signInWithPassword(dependencies, { ...attempt, knownBrowser: undefined }, NOW)).token);
}

/** Registers the passkey of a device. @returns the session after it */
async function register(session: Session, by = device, name = 'Ponsel', now = NOW) {
  const { options } = await beginPasskeyRegistration(dependencies, session, now);
  const registered = await registerPasskey(dependencies, session, { name, response: by.create(options), address }, now);
  return { ...registered, session: await read(registered.session.token, now) };
}

type Circumstances = Parameters<SoftwareAuthenticator['get']>[1];

/** Signs in by a passkey alone. */
async function signIn(by = device, circumstances: Circumstances = {}, now = NOW) {
  const { options, token } = await beginPasskeySignIn(dependencies, { realm: 'merchant', browser: BROWSER }, now);
  const response = by.get(options, circumstances);
  return finishPasskeySignIn(dependencies, { realm: 'merchant', token, response, browser: BROWSER }, now);
}

const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => 'accepted',
    (error: unknown) => (typeof error === 'object' && error !== null && 'reason' in error ? error.reason : error),
  );

async function actions(): Promise<string[]> {
  await dependencies.rejections.close();
  const { rows } = await owner.query<{ text: string }>(
    `select action || ' ' || outcome as text from user_actions join user_action_outcomes on action_id = user_actions.id
     order by user_actions.id`,
  );
  return rows.map(({ text }) => text);
}

describe('registration', () => {
  it('completes a sign-in that required a second factor, with recovery codes and a new token', async () => {
    const session = await enrolling();
    const other = await enrolling();
    const registered = await register(session);
    expect(registered.session).toMatchObject({ id: session.id, stage: 'full', steppedUpAt: NOW });
    expect(registered.recoveryCodes).toHaveLength(10);
    expect(await listPasskeys(db, session)).toEqual([
      expect.objectContaining({
        name: 'Ponsel',
        isBackedUp: false,
        lastUsedAt: null,
        transports: ['internal', 'hybrid'],
      }),
    ]);
    // Another browser that knew only the password sets no factor of its own.
    expect(await reasonOf(beginPasskeyRegistration(dependencies, other, NOW).then(() => register(other)))).not.toBe(
      'accepted',
    );
    expect((await actions()).slice(0, 2)).toEqual(['security.add_passkey succeeded', 'session.sign_in succeeded']);
  });

  it('needs a fresh step-up, and gives no second set of recovery codes', async () => {
    const { session } = await register(await enrolling());
    const second = new SoftwareAuthenticator(ORIGIN);
    expect(await reasonOf(beginPasskeyRegistration(dependencies, session, after(16 * MINUTE_MS)))).toBe(
      'not_stepped_up',
    );
    expect((await register(session, second, 'Laptop')).recoveryCodes).toBeNull();
  });

  it.each([
    ['another origin', { origin: 'https://dashboard.lunas.example.evil.test' }],
    ['another RP', { rpId: 'evil.test' }],
    ['no user verification', { isVerified: false }],
  ])('rejects %s', async (_, circumstances) => {
    const session = await enrolling();
    const { options } = await beginPasskeyRegistration(dependencies, session, NOW);
    const response = device.create(options, circumstances);
    expect(await reasonOf(registerPasskey(dependencies, session, { name: 'x', response, address }, NOW))).toBe(
      'passkey',
    );
    expect(await listPasskeys(db, session)).toEqual([]);
  });

  it('accepts a challenge once, for five minutes, and a credential of one user only', async () => {
    const session = await enrolling();
    const { options } = await beginPasskeyRegistration(dependencies, session, NOW);
    const response = device.create(options);
    const late = registerPasskey(dependencies, session, { name: 'x', response, address }, after(5 * MINUTE_MS + 1));
    expect(await reasonOf(late)).toBe('passkey');
    const { session: full } = await register(session);
    expect(await reasonOf(registerPasskey(dependencies, full, { name: 'x', response, address }, NOW))).toBe('passkey');
    expect(await reasonOf(register(full))).toBe('passkey');
    expect(await listPasskeys(db, full)).toHaveLength(1);
  });
});

describe('sign-in by a passkey', () => {
  beforeEach(async () => {
    await register(await enrolling());
  });

  it('a sign-in by a passkey is complete alone, and records its use', async () => {
    const { session, email } = await signIn(device, { isBackedUp: true }, after(MINUTE_MS));
    expect(email).toBe(EMAIL);
    const found = await read(session.token, after(MINUTE_MS));
    expect(found).toMatchObject({ stage: 'full', method: 'passkey', steppedUpAt: after(MINUTE_MS) });
    expect(await listPasskeys(db, found)).toEqual([
      expect.objectContaining({ isBackedUp: true, lastUsedAt: after(MINUTE_MS) }),
    ]);
    expect((await actions()).at(-1)).toBe('session.sign_in succeeded');
  });

  it('accepts a challenge once, also if two browsers send it at the same time', async () => {
    const { options, token } = await beginPasskeySignIn(dependencies, { realm: 'merchant', browser: BROWSER }, NOW);
    const response = device.get(options);
    const sent = { realm: 'merchant', token, response, browser: BROWSER } as const;
    const results = await Promise.all([
      reasonOf(finishPasskeySignIn(dependencies, sent, NOW)),
      reasonOf(finishPasskeySignIn(dependencies, sent, NOW)),
    ]);
    expect(results.toSorted()).toEqual(['accepted', 'passkey']);
    expect(await reasonOf(finishPasskeySignIn(dependencies, sent, NOW))).toBe('passkey');
  });

  it('accepts a challenge for five minutes, and of its own browser', async () => {
    const { options, token } = await beginPasskeySignIn(dependencies, { realm: 'merchant', browser: BROWSER }, NOW);
    const other = await beginPasskeySignIn(dependencies, { realm: 'merchant', browser: BROWSER }, NOW);
    const response = device.get(options);
    const sent = { realm: 'merchant', response, browser: BROWSER } as const;
    for (const [wrong, now] of [
      [undefined, NOW],
      ['ses_x', NOW],
      [other.token, NOW],
      [token, after(300_001)],
    ] as const) {
      expect(await reasonOf(finishPasskeySignIn(dependencies, { ...sent, token: wrong }, now))).toBe('passkey');
    }
  });

  it.each([
    ['another origin', { origin: 'https://evil.test' }],
    ['another RP', { rpId: 'evil.test' }],
    ['no user verification', { isVerified: false }],
    ['a counter that goes back', { counter: 1 }],
    ['the handle of another user', { userHandle: Buffer.from('other').toString('base64url') }],
  ])('rejects %s, and records it', async (_, circumstances) => {
    expect(await reasonOf(signIn(device, circumstances))).toBe('passkey');
    expect((await actions()).at(-1)).toBe('session.sign_in rejected');
    expect(await reasonOf(signIn(device, { counter: 9 }))).toBe('accepted');
  });

  it('rejects a passkey of another host, an unknown one, and text that is none', async () => {
    expect(await reasonOf(signIn(new SoftwareAuthenticator(ORIGIN)))).toBe('passkey');
    const { token } = await beginPasskeySignIn(dependencies, { realm: 'merchant', browser: BROWSER }, NOW);
    const sent = { realm: 'merchant', token, response: '{"id":', browser: BROWSER } as const;
    expect(await reasonOf(finishPasskeySignIn(dependencies, sent, NOW))).toBe('passkey');
    await owner.query("update passkeys set rp_id = 'old.lunas.example'");
    expect(await reasonOf(signIn())).toBe('passkey');
  });

  it('rejects a disabled user', async () => {
    await owner.query('update users set disabled_at = now()');
    expect(await reasonOf(signIn())).toBe('passkey');
  });

  it('rejects a passkey of an operator on the dashboard', async () => {
    const { rows } = await owner.query<{ id: string }>(
      `insert into operators (id, name, secret_sha256, prefix, last_four)
       values (gen_random_uuid(), 'dewi', sha256('x'), 'op', 'abcd') returning id`,
    );
    const operatorId = rows[0]?.id ?? '';
    await createOperatorUser(owner, operatorId, EMAIL);
    await owner.query("update passkeys set user_id = $1, realm = 'operator'", [operatorId]);
    const userHandle = Buffer.from(operatorId).toString('base64url');
    expect(await reasonOf(signIn(device, { userHandle }))).toBe('passkey');
  });

  it('sign-in by a passkey is limited for a network, whatever the e-mail', async () => {
    const begin = (from: string) =>
      reasonOf(beginPasskeySignIn(dependencies, { realm: 'merchant', browser: { ...BROWSER, address: from } }, NOW));
    const results: unknown[] = [];
    for (let count = 0; count < 31; count += 1) results.push(await begin('198.51.100.9'));
    expect(results.filter((result) => result === 'throttled')).toHaveLength(1);
    expect(await begin('198.51.100.200')).toBe('throttled');
    expect(await begin('192.0.2.1')).toBe('accepted');
  });
});

describe('step-up by a passkey', () => {
  it('replaces the token, and takes only a passkey of the same user', async () => {
    const { session } = await register(await enrolling());
    const now = after(20 * MINUTE_MS);
    const stepUp = async (by: SoftwareAuthenticator) => {
      const { options } = await beginPasskeyStepUp(dependencies, session, address, now);
      return stepUpByPasskey(dependencies, session, { response: by.get(options), address }, now);
    };
    const stranger = await createMember(owner, 'budi@toko.example');
    const { rows } = await owner.query<{ hash: string }>('select password_hash as hash from users where id = $1', [
      userId,
    ]);
    await owner.query('update users set password_hash = $2 where id = $1', [stranger, rows[0]?.hash]);
    const sent = { realm: 'merchant', email: 'budi@toko.example', password: PASSWORD, browser: BROWSER } as const;
    const budi = await read((await signInWithPassword(dependencies, { ...sent, knownBrowser: undefined }, NOW)).token);
    const other = new SoftwareAuthenticator(ORIGIN);
    await register(budi, other);
    expect(await reasonOf(stepUp(other))).toBe('passkey');
    const renewed = await stepUp(device);
    expect(await read(renewed.token, now)).toMatchObject({ id: session.id, steppedUpAt: now });
    expect((await actions()).slice(-2)).toEqual(['security.step_up rejected', 'security.step_up succeeded']);
  });
});

describe('the list of passkeys', () => {
  it('attack: no passkey is added or removed without a notice to the owners', async () => {
    const shop = await createShop(owner);
    await owner.query(
      "insert into members (merchant_id, user_id, role, invited_by, created_at) values ($1, $2, 'owner', 'x', now())",
      [shop.id, userId],
    );
    const countNotices = async () =>
      (await owner.query('select from merchant_notices, generate_series(1, count)')).rowCount;
    const { session } = await register(await enrolling());
    expect(await countNotices()).toBe(1);
    const { session: full } = await register(session, new SoftwareAuthenticator(ORIGIN), 'Laptop');
    expect(await countNotices()).toBe(2);
    const [first] = await listPasskeys(db, full);
    await removePasskey(dependencies, full, { id: first?.id ?? '', address }, NOW);
    expect(await countNotices()).toBe(3);
  });

  it('renames and removes, but not the last second factor in production', async () => {
    const { session } = await register(await enrolling());
    const { session: full } = await register(session, new SoftwareAuthenticator(ORIGIN), 'Laptop');
    const [first, second] = await listPasskeys(db, full);
    if (!first || !second) throw new Error('There are two passkeys');
    await renamePasskey(dependencies, full, { id: first.id, name: 'Ponsel baru', address }, NOW);
    const browser = (await signIn()).session;
    await removePasskey(dependencies, full, { id: second.id, address }, NOW);
    await expect(read(browser.token)).rejects.toThrow('ended');
    await expect(removePasskey(dependencies, full, { id: first.id, address }, NOW)).rejects.toThrow(
      'last second factor',
    );
    expect((await listPasskeys(db, full)).map(({ name }) => name)).toEqual(['Ponsel baru']);
    await removePasskey({ ...dependencies, environment: 'sandbox' }, full, { id: first.id, address }, NOW);
    expect(await reasonOf(signIn())).toBe('passkey');
  });

  it('knows no passkey of another user, and needs a step-up', async () => {
    const { session } = await register(await enrolling());
    const [passkey] = await listPasskeys(db, session);
    const change = { id: passkey?.id ?? '', name: 'x', address };
    const late = after(16 * MINUTE_MS);
    expect(await reasonOf(removePasskey(dependencies, session, change, late))).toBe('not_stepped_up');
    expect(await reasonOf(renamePasskey(dependencies, session, change, late))).toBe('not_stepped_up');
    const stranger = { ...session, user: { ...session.user, id: await createMember(owner, 'b@toko.example') } };
    await expect(renamePasskey(dependencies, stranger, change, NOW)).rejects.toThrow('passkey');
  });
});
