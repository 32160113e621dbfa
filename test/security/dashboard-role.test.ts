import { createPool, type Pool } from '../../src/db/connection/pool';
import { mayAccess, MEMBER_ROLES } from '../../src/domain/member-roles';
import type { Merchant } from '../../src/services/merchants/merchants';
import { listNotices } from '../../src/services/merchants/notices';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { issueKey } from '../support/keys';
import { createMember, createShop, signIn } from '../support/people';
import { inviteAt, resetAt, useInvitation, withdrawAt } from '../support/team';

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

/** One that occurred twice is there twice. */
async function noticesOf(merchantId = shop.id): Promise<string[]> {
  const { rows } = await owner.query<{ text: string }>(
    `select kind || ' ' || target_id as text from merchant_notices, generate_series(1, count)
     where merchant_id = $1 order by id`,
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

const KEY = `insert into api_keys (id, merchant_id, secret_sha256, prefix, last_four)
  values (gen_random_uuid(), $1, sha256(convert_to($1::uuid::text, 'utf8')), 'sk_test_', 'mine')`;
const ENDPOINT = `insert into webhook_endpoints (id, merchant_id, url)
  values (gen_random_uuid(), $1, 'https://evil.example')`;
const LOGO = "insert into merchant_logos (merchant_id, png, width, height) values ($1, 'mine', 1, 1)";
const ACCOUNT = `insert into bank_accounts (id, merchant_id, bank_code, sealed_number, number_hmac, last_four, status,
    version, proposed_by, created_at, updated_at)
  values (gen_random_uuid(), $1, '014', 'v1.x.y', 'x', '1234', 'pending_inquiry', 1, 'user:x', now(), now())`;

describe('attack: what a statement changes of access, or of where money and customers go, makes a notice', () => {
  const both = ['dashboard', 'operator'] as const;
  it.each([
    ['a key', both, 'key_created', KEY, []],
    [
      'the networks of a key',
      ['dashboard'],
      'key_changed',
      "update api_keys set allowed_networks = '{10.0.0.0/8}'",
      [KEY],
    ],
    ['a revoked key', both, 'key_changed', 'update api_keys set revoked_at = now()', [KEY]],
    ['an endpoint', both, 'webhook_changed', ENDPOINT, []],
    ['its URL', both, 'webhook_changed', "update webhook_endpoints set url = 'https://x.example'", [ENDPOINT]],
    [
      'customers in its bodies',
      both,
      'webhook_changed',
      "update webhook_endpoints set expand = '{customer}'",
      [ENDPOINT],
    ],
    [
      'one that is enabled again',
      both,
      'webhook_changed',
      "update webhook_endpoints set status = 'enabled', deleted_at = null",
      [ENDPOINT, "update webhook_endpoints set status = 'disabled', deleted_at = now()"],
    ],
    [
      'its secret',
      both,
      'webhook_changed',
      `insert into webhook_secrets (id, endpoint_id, sealed_secret)
       select gen_random_uuid(), id, 'mine' from webhook_endpoints where merchant_id = $1`,
      [ENDPOINT],
    ],
    ['a return address', both, 'return_url_changed', "update merchants set return_url = 'https://evil.example'", []],
    ['a contact', both, 'contact_changed', "update merchants set contact = '0811666'", []],
    ['origins', both, 'origins_changed', "update merchants set checkout_origins = '{https://evil.example}'", []],
    ['a bank account', both, 'bank_account.pending_inquiry', ACCOUNT, []],
    [
      'its status',
      both,
      'bank_account.withdrawn',
      "update bank_accounts set status = 'withdrawn', version = 2, updated_at = now()",
      [ACCOUNT],
    ],
    ['a logo', ['dashboard'], 'logo_changed', LOGO, []],
    ['another logo', ['dashboard'], 'logo_changed', "update merchant_logos set png = 'other'", [LOGO]],
    ['a removed logo', both, 'logo_changed', 'delete from merchant_logos', [LOGO]],
    ['a colour', ['dashboard'], 'accent_changed', "update merchants set accent = '#ff0000'", []],
  ] as const)('%s', async (_name, roles, kind, statement, before) => {
    for (const role of roles) {
      const { id } = await createShop(owner);
      for (const earlier of before) await owner.query(bound(earlier), [id]);
      const known = await noticesOf(id);
      const attacker = createPool(database.urlOf(`lunas_local_${role}`), { max: 1 });
      try {
        await attacker.query(bound(statement), [id]);
      } finally {
        await attacker.end();
      }
      const noticed = await noticesOf(id);
      expect([role, noticed.length]).toEqual([role, known.length + 1]);
      expect([role, noticed.at(-1)]).toEqual([role, expect.stringMatching(`^${kind} `)]);
    }
  });
});

it('attack: no role but the owner of the schema writes a notice', async () => {
  for (const role of ['api', 'dashboard', 'operator', 'payouts', 'worker'] as const) {
    const attacker = createPool(database.urlOf(`lunas_local_${role}`), { max: 1 });
    for (const statement of [
      "insert into merchant_notices (merchant_id, kind, target_id) values ($1, 'payout.failed', $1)",
      "select write_notice($1, 'payout.failed', $1)",
      'delete from merchant_notices where merchant_id = $1',
    ]) {
      await expect(attacker.query(statement, [shop.id])).rejects.toMatchObject({ code: '42501' });
    }
    await attacker.end();
  }
});

it('attack: a statement that closes every notice closes none of another user', async () => {
  await owner.query("update members set created_at = created_at - interval '1 year'");
  await dashboard.query("update merchants set return_url = 'https://evil.example' where id = $1", [shop.id]);
  await dashboard.query("update merchants set accent = '#ff0000' where id = $1", [shop.id]);
  const shown = await listNotices(dashboard, { merchantId: shop.id, userId: victim });
  expect(shown.map(({ kind }) => kind)).toEqual(['security.return_url_changed', 'security.accent_changed']);
  await signIn(owner, 'victim@shop.test');
  for (const statement of [
    `insert into merchant_notice_closings (notice_id, user_id, count, closed_at)
     select notice.id, users.id, count, now() from merchant_notices notice, users`,
    'update merchant_notice_closings set count = 9',
  ]) {
    await expect(dashboard.query(statement)).rejects.toMatchObject({ code: '42501' });
  }
  // What the role can read of the sessions of others proves nothing.
  await dashboard.query(
    `select close_notices(text, $1, '{1,2}', '{1,1}')
     from sessions,
       unnest(array[id::text, user_id::text, encode(token_sha256, 'hex'), encode(token_sha256, 'base64')]) text`,
    [shop.id],
  );
  expect(await listNotices(dashboard, { merchantId: shop.id, userId: victim })).toEqual(shown);
});

/** The statement for one merchant, if it names none. */
function bound(statement: string): string {
  if (statement.includes('$1')) return statement;
  return `${statement} where ${statement.startsWith('update merchants') ? 'id' : 'merchant_id'} = $1`;
}

describe('a member', () => {
  async function insert(role: string): Promise<void> {
    const invited = { merchantId: shop.id, email: 'stranger@shop.test', role: 'viewer' } as const;
    await useInvitation(dashboard, { ...invited, createdBy: `user:${victim}` });
    await dashboard.query(
      `insert into members (merchant_id, user_id, role, invited_by, created_at, role_since)
       select $1, id, $2, 'mine', now() - interval '1 year', now() - interval '1 year'
       from users where email = 'stranger@shop.test'`,
      [shop.id, role],
    );
  }
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

  it('a member has the role since its change, and since joining again; nothing else sets the time', async () => {
    const stranger = await createMember(owner, 'stranger@shop.test');
    await insert('viewer');
    await age();
    await change("role = 'viewer', invited_by = 'x', created_at = now(), removed_at = null");
    expect(await minutesInRole()).toBe(90);
    expect(await noticesOf()).toEqual([`member_changed ${stranger}`]);
    await change("role = 'finance'");
    expect(await minutesInRole()).toBe(0);
    await age();
    await change('removed_at = now()');
    expect(await minutesInRole()).toBe(90);
    await change('removed_at = null');
    expect(await minutesInRole()).toBe(0);
    await change("role = 'support'");
    const [changed, authorised] = [`member_changed ${stranger}`, `member_authorised ${stranger}`];
    expect(await noticesOf()).toEqual([changed, changed, changed, authorised, authorised]);
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
    const { id } = await issueKey(owner, { merchantId: shop.id, environment: 'sandbox', expiresAt: EXPIRY });
    const expireAt = (at: Date | null) =>
      dashboard.query('update api_keys set expires_at = $2 where id = $1', [id, at]);
    await expect(expireAt(new Date(EXPIRY.getTime() + 1))).rejects.toMatchObject(FINAL);
    await expect(expireAt(null)).rejects.toMatchObject(FINAL);
    await expireAt(EXPIRY);
    await expireAt(new Date(EXPIRY.getTime() - 1));
  });

  it('a link that was withdrawn or that waits for its approval', async () => {
    const invitation = { merchantId: shop.id, email: 'new@shop.test', role: 'owner', createdBy: 'cli:test' } as const;
    const { id } = await inviteAt(owner, invitation, new Date());
    await withdrawAt(dashboard, { merchantId: shop.id, id }, new Date());
    const request = { userId: victim, createdBy: 'operator:dewi', merchantId: null, isApproved: false } as const;
    await resetAt(owner, request, new Date());
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
