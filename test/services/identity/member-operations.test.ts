import { randomUUID } from 'node:crypto';
import { createPool, type Pool } from '../../../src/db/connection/pool';
import type { MemberActor } from '../../../src/domain/actor';
import { inviteMember } from '../../../src/services/identity/invite-member';
import { readInvitation, readReset } from '../../../src/services/identity/members';
import { removeMember } from '../../../src/services/identity/remove-member';
import { resetMember } from '../../../src/services/identity/reset-member';
import { setMemberRole } from '../../../src/services/identity/set-member-role';
import { withdrawInvitation } from '../../../src/services/identity/withdraw-invitation';
import type { Merchant } from '../../../src/services/merchants/merchants';
import { memberOf } from '../../support/actors';
import { createTestDatabase, type TestDatabase } from '../../support/database';
import { issueKey } from '../../support/keys';
import { createMember, createShop } from '../../support/people';
import { inviteAt } from '../../support/team';

const EMAIL = 'sri@toko.example';

let database: TestDatabase;
let owner: Pool;
let db: Pool;
let shop: Merchant;
let other: Merchant;
let tutiId: string;
let tuti: MemberActor;

beforeEach(async () => {
  database = await createTestDatabase();
  owner = createPool(database.url, { max: 2 });
  db = createPool(database.urlOf('lunas_local_dashboard'), { max: 4 });
  [shop, other] = [await createShop(owner), await createShop(owner, 'Toko Lain')];
  tutiId = await createMember(owner, 'tuti@toko.example', [[shop.id, 'owner']]);
  tuti = memberOf({ userId: tutiId, merchantId: shop.id, role: 'owner' });
});
afterEach(async () => {
  await Promise.all([owner.end(), db.end()]);
  await database.drop();
});

const setRole = (user: string, role: 'finance' | 'owner', by = tuti) =>
  setMemberRole.run({ db }, by, { path: { user }, input: { role }, formId: randomUUID() });
const remove = (user: string, revokesKeys = false, by = tuti) =>
  removeMember.run({ db }, by, { path: { user }, input: { revokesKeys }, formId: randomUUID() });
const reset = (user: string, by = tuti) =>
  resetMember.run({ db }, by, { path: { user }, input: {}, formId: randomUUID() });
const invite = (email: string, merchant = shop.id) =>
  inviteMember.run({ db }, tuti, { path: { merchant }, input: { email, role: 'viewer' }, formId: randomUUID() });
const withdraw = (invitation: string) =>
  withdrawInvitation.run({ db }, tuti, { path: { invitation }, input: {}, formId: randomUUID() });

/** What the activity has of the newest act. */
async function newestAct(): Promise<unknown> {
  const { rows } = await owner.query(
    `select action, target, user_actions.detail::json as detail, outcome
     from user_actions join user_action_outcomes on action_id = id order by id desc limit 1`,
  );
  return rows[0];
}

const refused = (reason: string) => ({ outcome: 'rejected', rejection: { reason } });

it('the last owner keeps the role and the membership', async () => {
  for (const result of [await setRole(tutiId, 'finance'), await remove(tutiId)]) {
    expect(result).toMatchObject({ ...refused('last_owner'), message: expect.stringContaining('last owner') });
  }
  expect(await setRole(tutiId, 'owner')).toMatchObject({ outcome: 'done', value: { isSelf: true } });
});

it('the activity has the roles of before and after, and the keys that end with a member', async () => {
  const userId = await createMember(owner, EMAIL, [[shop.id, 'owner']]);
  const createdBy = { kind: 'merchant_user', id: userId } as const;
  const key = await issueKey(owner, { merchantId: shop.id, environment: 'sandbox', createdBy });
  expect(await setRole(userId, 'finance')).toMatchObject({ outcome: 'done', value: { isSelf: false } });
  const row = { target: userId, outcome: 'succeeded' };
  expect(await newestAct()).toEqual({
    ...row,
    action: 'member.set_role',
    detail: { before: 'owner', role: 'finance' },
  });
  expect(await remove(userId, true)).toMatchObject({ outcome: 'done' });
  const detail = { revoke_keys: true, keys: [key.id] };
  expect(await newestAct()).toEqual({ ...row, action: 'member.remove', detail });
});

it('attack: an owner does nothing to a person or an invitation of another merchant', async () => {
  const stranger = await createMember(owner, EMAIL, [[other.id, 'finance']]);
  for (const act of [() => setRole(stranger, 'owner'), () => remove(stranger), () => reset(stranger)]) {
    await expect(act()).rejects.toThrow(`There is no user ${stranger}`);
  }
  const invited = { merchantId: other.id, email: 'x@toko.example', role: 'viewer', createdBy: 'cli:test' } as const;
  const { id } = await inviteAt(owner, invited, new Date());
  await expect(withdraw(id)).rejects.toThrow(`There is no open invitation ${id}`);
  await expect(invite('y@toko.example', other.id)).rejects.toThrow('There is no merchant');
  expect(await newestAct()).toBeUndefined();
});

it('an invitation is for an e-mail that is no member, until it is withdrawn', async () => {
  const result = await invite('Sri@Toko.example');
  if (result.outcome !== 'done') throw new Error('The person was not invited');
  const { token } = result.value;
  expect(await readInvitation(db, token, new Date())).toMatchObject({ email: EMAIL, role: 'viewer' });
  const row = { target: shop.id, outcome: 'succeeded' };
  expect(await newestAct()).toEqual({ ...row, action: 'member.invite', detail: { role: 'viewer' } });
  const { rows } = await owner.query<{ id: string }>('select id from sign_in_links');
  expect(await withdraw(rows[0]?.id ?? '')).toMatchObject({ outcome: 'done' });
  await expect(readInvitation(db, token, new Date())).rejects.toThrow('This link is not valid');
  await createMember(owner, EMAIL, [[shop.id, 'viewer']]);
  expect(await invite(EMAIL)).toMatchObject(refused('is_member'));
});

it('attack: an owner resets neither their own login nor that of a member of another merchant', async () => {
  const both = await createMember(owner, EMAIL, [
    [shop.id, 'finance'],
    [other.id, 'finance'],
  ]);
  expect(await reset(tutiId)).toMatchObject(refused('own_login'));
  expect(await reset(both)).toMatchObject(refused('other_merchants'));
  const member = await createMember(owner, 'budi@toko.example', [[shop.id, 'finance']]);
  const result = await reset(member);
  if (result.outcome !== 'done') throw new Error('The login was not reset');
  expect(await readReset(db, result.value.token, new Date())).toMatchObject({ userId: member });
});

it('attack: no other role than an owner changes the team, also while the merchant is suspended', async () => {
  const userId = await createMember(owner, EMAIL, [[shop.id, 'viewer']]);
  const finance = { ...tuti, role: 'finance', merchantState: 'suspended' } as const;
  expect(await setRole(userId, 'owner', finance)).toMatchObject(refused('role'));
  expect(await remove(userId, false, finance)).toMatchObject(refused('role'));
  expect(await remove(userId, false, { ...tuti, merchantState: 'suspended' })).toMatchObject({ outcome: 'done' });
});
