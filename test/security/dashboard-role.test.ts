import { createPool, type Pool } from '../../src/db/connection/pool';
import { mayAccess, MEMBER_ROLES } from '../../src/domain/member-roles';
import { createResetLink, inviteMember, withdrawInvitation } from '../../src/services/identity/members';
import { createKey } from '../../src/services/merchants/keys';
import type { Merchant } from '../../src/services/merchants/merchants';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { createMember, createShop } from '../support/people';

/* Who sends statements of their own with the rights of `lunas dashboard`, past all of its code. */

const EXPIRY = new Date('2030-01-01T00:00:00.000Z');
const FINAL = { code: '23001' };

let database: TestDatabase;
let owner: Pool;
let dashboard: Pool;
let shop: Merchant;
let victim: string;

beforeEach(async () => {
  database = await createTestDatabase();
  owner = createPool(database.url, { max: 1 });
  dashboard = createPool(database.urlOf('lunas_local_dashboard'), { max: 1 });
  shop = await createShop(owner);
  victim = await createMember(owner, 'victim@shop.test', [[shop.id, 'owner']]);
});
afterEach(async () => {
  await Promise.all([owner.end(), dashboard.end()]);
  await database.drop();
});

async function noticesOf(merchantId = shop.id): Promise<string[]> {
  const { rows } = await owner.query<{ text: string }>(
    `select kind || ' ' || target_id as text from merchant_notices where merchant_id = $1 order by id`,
    [merchantId],
  );
  return rows.map(({ text }) => text.replace('security.', ''));
}

const PASSKEY = `
  insert into passkeys (id, user_id, realm, credential_id, public_key, counter, rp_id, name, is_backed_up, created_at)
  values (gen_random_uuid(), $1, 'merchant', 'stranger', '', 0, 'localhost', 'Mine', false, now())`;
const CODE = "insert into recovery_codes (user_id, realm, code_sha256) values ($1, 'merchant', sha256('mine'))";

describe('attack: a credential that a statement changes makes a notice', () => {
  it.each([
    ['a password', "update users set password_hash = 'mine' where id = $1", []],
    [
      'a password and its time',
      "update users set password_hash = 'mine', password_changed_at = now() where id = $1",
      [],
    ],
    ['an authenticator app', "update users set sealed_totp = 'mine', totp_hmac = 'mine' where id = $1", []],
    ['a passkey', PASSKEY, []],
    ['a removed passkey', 'delete from passkeys where user_id = $1', [PASSKEY]],
    ['a recovery code', CODE, []],
    ['a removed recovery code', 'delete from recovery_codes where user_id = $1', [CODE]],
  ] as const)('%s', async (_name, statement, before) => {
    const other = await createShop(owner, 'Toko Lain');
    const left = await createShop(owner, 'Toko Lama');
    for (const { id } of [other, left]) {
      await owner.query(
        `insert into members (merchant_id, user_id, role, invited_by, created_at)
         values ($1, $2, 'viewer', 'cli:test', now())`,
        [id, victim],
      );
    }
    await owner.query('update members set removed_at = now() where merchant_id = $1', [left.id]);
    for (const earlier of before) await owner.query(earlier, [victim]);
    expect(await noticesOf()).toEqual([]);
    await dashboard.query(statement, [victim]);
    expect([await noticesOf(), await noticesOf(other.id), await noticesOf(left.id)]).toEqual([
      [`factor_changed ${victim}`],
      [`factor_changed ${victim}`],
      [],
    ]);
    await expect(dashboard.query('delete from merchant_notices')).rejects.toMatchObject({ code: '42501' });
  });
});

it('a transaction that changes several credentials makes one notice; what is no credential makes none', async () => {
  await dashboard.query('begin');
  await dashboard.query(
    "update users set password_hash = 'new', sealed_totp = 'v1.old.x', totp_hmac = 'new' where id = $1",
    [victim],
  );
  await dashboard.query(PASSKEY, [victim]);
  await dashboard.query(CODE, [victim]);
  await dashboard.query('commit');
  await dashboard.query("update users set name = 'Sri', language = 'id', totp_last_step = 7 where id = $1", [victim]);
  await dashboard.query("update passkeys set name = 'Phone', counter = 1");
  await owner.query("insert into retired_keys (key_id, label, sealed) values ('old', 'x', 'v1.new.x')");
  await owner.query("update users set sealed_totp = 'v1.new.x' where id = $1", [victim]);
  expect(await noticesOf()).toEqual([`factor_changed ${victim}`]);
  const { rows } = await owner.query('select changed from merchant_notices');
  expect(rows).toEqual([{ changed: ['password', 'authenticator_app', 'passkey', 'recovery_codes'] }]);
  const silent = dashboard.query("update merchant_notices set changed = '{}'");
  await expect(silent).rejects.toMatchObject({ code: '42501' });
});

it('attack: a key that a statement inserts makes a notice', async () => {
  const { rows } = await dashboard.query<{ id: string }>(
    `insert into api_keys (id, merchant_id, secret_sha256, prefix, last_four)
     values (gen_random_uuid(), $1, sha256('mine'), 'sk_test_', 'mine') returning id`,
    [shop.id],
  );
  expect(await noticesOf()).toEqual([`key_created ${rows[0]?.id}`]);
});

const LOGO = "insert into merchant_logos (merchant_id, png, width, height) values ($1, 'mine', 1, 1)";

describe('attack: a look of the checkout page that a statement changes makes a notice', () => {
  it.each([
    ['a logo', 'logo_changed', LOGO, []],
    ['another logo', 'logo_changed', "update merchant_logos set png = 'other' where merchant_id = $1", [LOGO]],
    ['a removed logo', 'logo_changed', 'delete from merchant_logos where merchant_id = $1', [LOGO]],
    ['a colour', 'accent_changed', "update merchants set accent = '#ff0000' where id = $1", []],
  ] as const)('%s', async (_name, kind, statement, before) => {
    for (const earlier of before) await dashboard.query(earlier, [shop.id]);
    const known = await noticesOf();
    await dashboard.query(statement, [shop.id]);
    expect(await noticesOf()).toEqual([...known, `${kind} ${shop.id}`]);
  });
});

describe('a member', () => {
  const insert = (role: string) =>
    dashboard.query(
      `insert into members (merchant_id, user_id, role, invited_by, created_at, role_since)
       select $1, id, $2, 'mine', now() - interval '1 year', now() - interval '1 year'
       from users where email = 'stranger@shop.test'`,
      [shop.id, role],
    );
  const change = (assignment: string) =>
    dashboard.query(`update members set ${assignment} where user_id <> $1`, [victim]);
  /** Since when the stranger has the role, in whole minutes; undefined: since another moment. */
  async function minutesInRole(): Promise<number | undefined> {
    const { rows } = await owner.query<{ minutes: number }>(
      `select floor(extract(epoch from now() - role_since) / 60)::integer as minutes from members where user_id <> $1`,
      [victim],
    );
    return rows[0]?.minutes;
  }
  const age = () => owner.query("update members set role_since = now() - interval '90 minutes'");

  it('attack: an inserted one has its role since now, with a notice', async () => {
    const stranger = await createMember(owner, 'stranger@shop.test');
    await insert('owner');
    expect(await minutesInRole()).toBe(0);
    expect(await noticesOf()).toEqual([`owner_changed ${stranger}`, `member_authorised ${stranger}`]);
  });

  it('has the role since its change, and since joining again; nothing else sets the time', async () => {
    const stranger = await createMember(owner, 'stranger@shop.test');
    await insert('viewer');
    await age();
    await change("role = 'viewer', invited_by = 'x', created_at = now(), removed_at = null");
    expect(await minutesInRole()).toBe(90);
    expect(await noticesOf()).toEqual([]);
    await change("role = 'finance'");
    expect(await minutesInRole()).toBe(0);
    await age();
    await change('removed_at = now()');
    expect(await minutesInRole()).toBe(90);
    await change('removed_at = null');
    expect(await minutesInRole()).toBe(0);
    await change("role = 'support'");
    expect(await noticesOf()).toEqual([`member_authorised ${stranger}`, `member_authorised ${stranger}`]);
    await expect(change("role_since = now() - interval '1 year'")).rejects.toMatchObject({ code: '42501' });
  });

  it.each(MEMBER_ROLES)('%s: a notice exactly if the table of roles lets it approve payouts', async (role) => {
    const stranger = await createMember(owner, 'stranger@shop.test');
    await insert(role);
    const authorised = `member_authorised ${stranger}`;
    expect((await noticesOf()).includes(authorised)).toBe(mayAccess(role, 'payouts', 'authorise'));
  });
});

describe('attack: no statement extends', () => {
  it('a key, and none makes it last for ever', async () => {
    const { id } = await createKey(owner, { merchantId: shop.id, environment: 'sandbox', expiresAt: EXPIRY });
    const expireAt = (at: Date | null) =>
      dashboard.query('update api_keys set expires_at = $2 where id = $1', [id, at]);
    await expect(expireAt(new Date(EXPIRY.getTime() + 1))).rejects.toMatchObject(FINAL);
    await expect(expireAt(null)).rejects.toMatchObject(FINAL);
    await expireAt(EXPIRY);
    await expireAt(new Date(EXPIRY.getTime() - 1));
  });

  it('a link that was withdrawn or that waits for its approval', async () => {
    const invitation = { merchantId: shop.id, email: 'new@shop.test', role: 'owner', createdBy: 'cli:test' } as const;
    const { id } = await inviteMember(owner, invitation, new Date());
    await withdrawInvitation(dashboard, { merchantId: shop.id, id }, new Date());
    const request = { userId: victim, createdBy: 'operator:dewi', merchantId: null, isApproved: false } as const;
    await createResetLink(owner, request, new Date());
    for (const kind of ['invitation', 'reset']) {
      const extended = dashboard.query(
        "update sign_in_links set expires_at = now() + interval '1 hour' where kind = $1",
        [kind],
      );
      await expect(extended).rejects.toMatchObject(FINAL);
    }
  });

  it('a recovery code that was used', async () => {
    await owner.query(CODE, [victim]);
    await dashboard.query('update recovery_codes set used_at = now()');
    await expect(dashboard.query('update recovery_codes set used_at = null')).rejects.toMatchObject(FINAL);
  });
});
