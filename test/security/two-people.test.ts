import { randomUUID } from 'node:crypto';
import { createSealer } from '../../src/crypto/sealing';
import { hashSignInToken } from '../../src/crypto/sign-in-token';
import { createPool, type Pool } from '../../src/db/connection/pool';
import { onlyRow } from '../../src/db/connection/require-row';
import { joinInvitedUser } from '../../src/db/identity/invitations';
import { findAuthority, findRequiredApproval } from '../../src/db/identity/members';
import { findLinkedUser } from '../../src/db/identity/users';
import type { OperatorActor } from '../../src/domain/actor';
import type { MemberRole } from '../../src/domain/member-roles';
import { confirmUser } from '../../src/services/identity/confirm-user';
import { acceptInvitation, resetLogin } from '../../src/services/identity/members';
import { PasswordHasher } from '../../src/services/identity/password';
import { RejectedSignIns } from '../../src/services/identity/rejected-sign-ins';
import type { IdentityDependencies } from '../../src/services/identity/sign-in';
import { SignInThrottle } from '../../src/services/identity/throttle';
import { operatorOf } from '../support/actors';
import { approve } from '../support/approve';
import { SILENT } from '../support/collect-log';
import { createProductionDatabase, type TestDatabase } from '../support/database';
import { NOTHING_TO_SEAL } from '../support/deciding';
import { ageMembers, BROWSER, createMember, createShop } from '../support/people';
import { createOperatorWithLogin, urlOfOperator } from '../support/production';
import { newMasterKey } from '../support/service';
import { inviteAt, removeAt, resetAt, setRoleAt, useInvitation } from '../support/team';

/* docs/payouts.md: a link that one person sees never makes the other voice of a payout. */

const PASSWORD = 'kopi tubruk di teras';

let database: TestDatabase;
let owner: Pool;
let dashboard: Pool;
let operators: Pool;
let deciders: Pool; // with another login
let dependencies: IdentityDependencies;
let merchantId: string;
/** Members of the merchant since long ago, whose links no other member has seen. */
let rina: string;
let siti: string;

beforeEach(async () => {
  database = await createProductionDatabase();
  owner = createPool(database.url, { max: 2 });
  dashboard = createPool(database.urlOf('lunas_local_dashboard'), { max: 2 });
  operators = createPool(database.urlOf('lunas_local_operator'), { max: 2 });
  deciders = createPool(await urlOfOperator(database, 'budi'), { max: 2 });
  const log = { error: jest.fn() };
  dependencies = {
    db: dashboard,
    sealer: createSealer(newMasterKey()),
    hasher: new PasswordHasher(),
    throttle: new SignInThrottle(dashboard),
    rejections: new RejectedSignIns(dashboard, log),
    environment: 'production',
    log,
  };
  merchantId = (await createShop(owner)).id;
  [rina, siti] = [await member('rina@shop.test', 'owner'), await member('siti@shop.test', 'finance')];
  await ageMembers(owner);
});
afterEach(async () => {
  await Promise.all([owner, dashboard, operators, deciders].map((pool) => pool.end()));
  await database.drop();
});

const member = (email: string, role: MemberRole) => createMember(owner, email, [[merchantId, role]]);
const actor = (userId: string) => `user:${userId}`;
const required = (userId: string) => findRequiredApproval(dashboard, merchantId, actor(userId));
const authority = (userId: string, requester: string) =>
  findAuthority(dashboard, { merchantId, userId }, actor(requester));

/** The inviter opens the link. @returns the user that they are then, too */
async function selfAccepted(inviter: string, role: MemberRole = 'finance'): Promise<string> {
  const email = `${randomUUID()}@shop.test`;
  const { token } = await inviteAt(dashboard, { merchantId, email, role, createdBy: actor(inviter) }, new Date());
  await acceptInvitation(
    dependencies,
    { token, name: 'Budi', language: 'id', password: PASSWORD, browser: BROWSER },
    new Date(),
  );
  const { rows } = await owner.query<{ id: string }>('select id from users where email = $1', [email]);
  return rows[0]?.id ?? '';
}

/** The inviter invites a login that exists, which joins. */
async function join(userId: string, inviter: string, role: MemberRole = 'finance', merchant = merchantId) {
  const { rows } = await owner.query<{ email: string }>('select email from users where id = $1', [userId]);
  const { email } = onlyRow(rows);
  const invited = { merchantId: merchant, email, role, createdBy: actor(inviter) };
  const { token } = await inviteAt(dashboard, invited, new Date());
  const tokenSha256 = hashSignInToken('link', token) ?? Buffer.alloc(0);
  expect(await joinInvitedUser(dashboard, { tokenSha256, userId, now: new Date() })).toBe(merchant);
}

/** A login of another shop, which the inviter may have too. */
async function joined(inviter: string, role: MemberRole = 'finance'): Promise<string> {
  const { id } = await createShop(owner, 'Toko Lain');
  const userId = await createMember(owner, `${randomUUID()}@shop.test`, [[id, 'owner']]);
  await join(userId, inviter, role);
  return userId;
}

async function reset(userId: string, by: string): Promise<void> {
  const { token } = await resetAt(dashboard, { userId, createdBy: actor(by), merchantId }, new Date());
  await resetLogin(dependencies, { token, password: PASSWORD, browser: BROWSER }, new Date());
}

it('two members with links of their own are two people', async () => {
  expect([await required(rina), await required(siti)]).toEqual(['second_user', 'second_user']);
  expect(await authority(siti, rina)).toEqual({ isAuthorised: true, isSecondUser: true });
});

it('attack: a member whom another one has reset is no second person, today or later', async () => {
  await reset(siti, rina);
  expect(await authority(siti, rina)).toEqual({ isAuthorised: false, isSecondUser: false });
  expect(await required(rina)).toBe('operator');
  await ageMembers(owner);
  expect(await authority(siti, rina)).toEqual({ isAuthorised: true, isSecondUser: false });
  expect(await authority(rina, siti)).toEqual({ isAuthorised: true, isSecondUser: false });
  expect([await required(rina), await required(siti)]).toEqual(['operator', 'operator']);
});

it('attack: a member whom a member invited is none, nor is one that the invited invites', async () => {
  const first = await selfAccepted(rina, 'owner');
  const sibling = await selfAccepted(rina);
  await ageMembers(owner);
  const next = await selfAccepted(first, 'owner');
  await ageMembers(owner);
  for (const [one, other] of [
    [rina, first],
    [first, sibling],
    [rina, next],
    [sibling, next],
  ] as const) {
    expect(await authority(one, other)).toEqual({ isAuthorised: true, isSecondUser: false });
    expect(await authority(other, one)).toEqual({ isAuthorised: true, isSecondUser: false });
  }
  expect(await authority(siti, next)).toMatchObject({ isSecondUser: true });
  await owner.query('update members set removed_at = now(), authorised_until = null where user_id = $1', [siti]);
  await owner.query('update members set authorised_until = null');
  expect(await required(next)).toBe('operator');
});

it('attack: a login of another shop that a member invites is no second person, nor whom it invites', async () => {
  const known = await joined(rina, 'owner');
  await ageMembers(owner);
  const next = await joined(known);
  await ageMembers(owner);
  for (const other of [known, next]) {
    expect(await authority(other, rina)).toEqual({ isAuthorised: true, isSecondUser: false });
    expect(await authority(rina, other)).toEqual({ isAuthorised: true, isSecondUser: false });
    expect(await authority(siti, other)).toEqual({ isAuthorised: true, isSecondUser: true });
  }
  expect(await authority(next, known)).toEqual({ isAuthorised: true, isSecondUser: false });
});

it('attack: a member whom another one removes and invites again is no second person', async () => {
  await removeAt(dashboard, { merchantId, userId: siti }, new Date());
  await join(siti, rina);
  await ageMembers(owner);
  expect(await authority(siti, rina)).toEqual({ isAuthorised: true, isSecondUser: false });
  expect(await required(rina)).toBe('operator');
});

it('attack: no statement of the dashboard makes a member without an invitation, or forgets who invited', async () => {
  const insert = (userId: string) =>
    dashboard.query(
      `insert into members (merchant_id, user_id, role, invited_by, created_at, link_shown_to)
       values ($1, $2, 'owner', 'operator:dewi', now(), null)`,
      [merchantId, userId],
    );
  const userId = await createMember(owner, 'budi@shop.test');
  await expect(insert(userId)).rejects.toMatchObject({ code: '23001' });
  await useInvitation(dashboard, { merchantId, email: 'budi@shop.test', role: 'viewer', createdBy: actor(rina) });
  await insert(userId);
  for (const change of ['removed_at = now()', "removed_at = null, invited_by = 'operator:dewi'"]) {
    await dashboard.query(`update members set ${change} where user_id = $1`, [userId]);
  }
  await ageMembers(owner);
  expect(await authority(userId, rina)).toEqual({ isAuthorised: true, isSecondUser: false });
  await removeAt(dashboard, { merchantId, userId: siti }, new Date());
  const back = dashboard.query('update members set removed_at = null where user_id = $1', [siti]);
  await expect(back).rejects.toMatchObject({ code: '23001' });
});

describe('attack: one member takes the voice of another one away', () => {
  const isRemoved = () => removeAt(dashboard, { merchantId, userId: siti }, new Date());
  const changes = [
    ['removed', isRemoved],
    ['made a viewer', () => setRoleAt(dashboard, { merchantId, userId: siti, role: 'viewer' }, new Date())],
  ] as const;
  const later = (hours: number) =>
    owner.query(
      `update members set role_since = role_since - $2::interval, authorised_until = authorised_until - $2::interval
       where user_id = $1`,
      [siti, `${hours} hours`],
    );

  it.each(
    changes.flatMap(([name, change]) => [
      { name: `who was reset and is ${name}`, before: () => reset(siti, rina), change },
      {
        name: `with a password of today who is ${name}`,
        before: () => dashboard.query("update users set password_hash = 'mine' where id = $1", [siti]),
        change,
      },
    ]),
  )('an operator approves for a day after a member $name', async ({ before, change }) => {
    await before();
    await change();
    expect(await required(rina)).toBe('operator');
    await later(25);
    expect(await required(rina)).toBe('none');
  });

  it('an operator approves for a day after the removal of a member whose role changed each day', async () => {
    for (const role of ['owner', 'finance', 'owner'] as const) {
      await setRoleAt(dashboard, { merchantId, userId: siti, role }, new Date());
      expect(await required(rina)).toBe('operator');
      await later(23);
      expect(await required(rina)).toBe('operator');
    }
    await isRemoved();
    await later(23);
    expect(await required(rina)).toBe('operator');
  });
});

it.each([
  ['a password', "update users set password_hash = 'mine' where id = $1"],
  ['an authenticator app', "update users set sealed_totp = 'v1.k.mine', totp_hmac = 'mine' where id = $1"],
  [
    'a passkey',
    `insert into passkeys (id, user_id, realm, credential_id, public_key, counter, rp_id, name, is_backed_up,
       created_at) values (gen_random_uuid(), $1, 'merchant', 'mine', 'x', 0, 'localhost', 'mine', false, 'epoch')`,
  ],
  [
    'recovery codes',
    "insert into recovery_codes (user_id, realm, code_sha256) values ($1, 'merchant', sha256('mine'))",
  ],
])('attack: %s that a statement of the dashboard sets approves nothing for a day', async (_name, statement) => {
  await dashboard.query(statement, [siti]);
  expect(await authority(siti, rina)).toEqual({ isAuthorised: false, isSecondUser: false });
  expect(await required(rina)).toBe('operator');
});

it('the same secret, sealed with another master key, is no new credential', async () => {
  await owner.query("update users set sealed_totp = 'v1.k.one', totp_hmac = 'one'");
  await ageMembers(owner);
  await operators.query("insert into retired_keys (key_id, label, sealed) values ('k', 'totp', 'v1.k2.key')");
  await operators.query("update users set sealed_totp = 'v1.k2.one'");
  expect(await authority(siti, rina)).toMatchObject({ isSecondUser: true });
});

it.each([
  'update users set link_shown_to = null',
  'update members set link_shown_to = null',
  "update users set credentials_since = now() - interval '2 days'",
  'select confirm_user(gen_random_uuid(), now())',
  `insert into users (id, realm, email, name, credentials_since)
     values (gen_random_uuid(), 'merchant', 'x@shop.test', 'x', 'epoch')`,
])('attack: the dashboard may not: %s', async (statement) => {
  await expect(dashboard.query(statement)).rejects.toMatchObject({ code: '42501' });
});

it('attack: the dashboard makes no login without an invitation, and no link in the name of an operator', async () => {
  const insert = `insert into users (id, realm, email, name)
    values (gen_random_uuid(), 'merchant', 'x@shop.test', 'x')`;
  await expect(dashboard.query(insert)).rejects.toMatchObject({ code: '23001' });
  const request = { merchantId, email: 'x@shop.test', role: 'owner', createdBy: 'operator:dewi' } as const;
  await expect(inviteAt(dashboard, request, new Date())).rejects.toMatchObject({ code: '42501' });
});

describe('operators who spoke to the person', () => {
  let dewi: OperatorActor;
  let budi: OperatorActor;
  beforeEach(async () => {
    [dewi, budi] = [await addOperator('dewi'), await addOperator('budi')];
    await reset(siti, rina);
    await ageMembers(owner);
  });

  async function addOperator(name: string): Promise<OperatorActor> {
    const { id } = await createOperatorWithLogin(database, owner, name);
    await owner.query("update operators set created_at = now() - interval '1 day' where id = $1", [id]);
    return operatorOf({ id, name });
  }

  const confirm = () => {
    const call = { path: { user: siti }, input: {}, formId: randomUUID(), note: 'called' };
    return confirmUser.run({ db: operators, log: SILENT }, dewi, call);
  };
  async function request(): Promise<number> {
    const result = await confirm();
    return result.outcome === 'waits' ? result.approvalId : 0;
  }
  const decide = (by: OperatorActor, id: number) =>
    approve(
      {
        db: deciders,
        log: SILENT,
        ...NOTHING_TO_SEAL,
        withWorkflows: () => Promise.reject(new Error('no workflow')),
      },
      by,
      id,
    );

  it('a member becomes a second person by two operators who spoke to the person, and not by one', async () => {
    const user = await findLinkedUser(operators, siti);
    const alone = operators.query('select confirm_user($1, $2)', [siti, user?.linkedSince]);
    await expect(alone).rejects.toMatchObject({ code: '23001' });
    const id = await request();
    await expect(decide(dewi, id)).rejects.toThrow('another operator');
    expect(await required(rina)).toBe('operator');
    expect(await decide(budi, id)).toMatchObject({ status: 'executed' });
    expect([await required(rina), await required(siti)]).toEqual(['second_user', 'second_user']);
    expect(await confirm()).toMatchObject({ outcome: 'rejected', rejection: { reason: 'not_shown' } });
  });

  it('operators confirm the memberships of that time, and not one that began after their request', async () => {
    const other = (await createShop(owner, 'Toko Lain')).id;
    const tuti = await createMember(owner, 'tuti@shop.test', [[other, 'owner']]);
    const isTutis = async () => {
      const { rows } = await owner.query('select are_two_people($1, $2, $3) as "areTwo"', [
        other,
        actor(siti),
        actor(tuti),
      ]);
      return rows;
    };
    const id = await request();
    await join(siti, tuti, 'finance', other);
    expect((await findLinkedUser(operators, siti))?.linksShownTo).toEqual([actor(rina), actor(tuti)].toSorted());
    await expect(decide(budi, id)).rejects.toMatchObject({ reason: 'superseded' });
    expect(await isTutis()).toEqual([{ areTwo: false }]);
    expect(await decide(budi, await request())).toMatchObject({ status: 'executed' });
    expect(await isTutis()).toEqual([{ areTwo: true }]);
    expect(await required(rina)).toBe('second_user');
  });

  it('a member whom another one invited again counts once operators spoke to the person', async () => {
    await removeAt(dashboard, { merchantId, userId: siti }, new Date());
    await join(siti, rina);
    await ageMembers(owner);
    expect(await required(rina)).toBe('operator');
    expect(await decide(budi, await request())).toMatchObject({ status: 'executed' });
    expect([await required(rina), await required(siti)]).toEqual(['second_user', 'second_user']);
  });

  it('operators do not confirm credentials that a member has reset since', async () => {
    const id = await request();
    await reset(siti, rina);
    await expect(decide(budi, id)).rejects.toMatchObject({ reason: 'superseded' });
    await ageMembers(owner);
    expect(await required(rina)).toBe('operator');
  });
});
