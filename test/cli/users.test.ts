import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createPool, type Pool } from '../../src/db/connection/pool';
import { readInvitation } from '../../src/services/identity/members';
import { readSession, useDevelopmentLink } from '../../src/services/identity/sessions';
import type { Merchant } from '../../src/services/merchants/merchants';
import { createProductionDatabase, createTestDatabase, type TestDatabase } from '../support/database';
import { BROWSER, createMember, createShop, signIn } from '../support/people';
import { runLunas, type Outcome } from './run-lunas';

const EMAIL = 'sri@toko.example';

let database: TestDatabase;
let db: Pool;
let home: string;
let shop: Merchant;
beforeEach(async () => {
  database = await createTestDatabase();
  db = createPool(database.url, { max: 2 });
  home = await mkdtemp(path.join(os.tmpdir(), 'lunas-users-'));
  shop = await createShop(db);
});
afterEach(async () => {
  await db.end();
  await database.drop();
  await rm(home, { recursive: true });
});

const lunas = (...args: string[]): Promise<Outcome> =>
  runLunas(args, {
    LUNAS_HOME: home,
    LUNAS_ENVIRONMENT: 'sandbox',
    DATABASE_URL: database.urlOf('lunas_local_operator'),
    DASHBOARD_URL: 'http://localhost:3004',
  });

// Tests read any result.
// oxlint-disable-next-line typescript/no-explicit-any
function parse({ exitCode, stdout, stderr }: Outcome): any {
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return JSON.parse(stdout);
}

const tokenOf = (link: string) => link.split('/').at(-1) ?? '';

async function actions(): Promise<unknown[]> {
  const { rows } = await db.query(
    `select action, target, outcome from operator_actions join operator_action_outcomes on action_id = id order by id`,
  );
  return rows;
}

it('invite prints a link for an e-mail, once, and records it', async () => {
  const invite = () => lunas('users', 'invite', '--merchant', shop.id, '--email', EMAIL, '--role', 'owner', '--json');
  const { invitation } = parse(await invite());
  expect(invitation.link).toMatch(/^http:\/\/localhost:3004\/invitations\/lnk_[\w-]{43}$/);
  expect(await readInvitation(db, tokenOf(invitation.link), new Date())).toMatchObject({ email: EMAIL, role: 'owner' });
  expect(await actions()).toEqual([{ action: 'user.invite', target: shop.id, outcome: 'succeeded' }]);
  await createMember(db, EMAIL, [[shop.id, 'viewer']]);
  expect(await invite()).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('is a member') });
  const { rows } = await db.query<{ text: string }>('select operator_actions::text as text from operator_actions');
  for (const { text } of rows) expect(text).not.toContain(tokenOf(invitation.link));
});

it('list shows members without their credentials, of one merchant or of all', async () => {
  const other = await createShop(db, 'Toko Lain');
  await createMember(db, EMAIL, [[shop.id, 'owner']]);
  await createMember(db, 'budi@toko.example', [[other.id, 'finance']]);
  await db.query("update users set password_hash = 'hash-of-a-password'");
  const emails = (outcome: Outcome) => parse(outcome).members.map((member: { email: string }) => member.email);
  expect(emails(await lunas('users', 'list', '--json'))).toEqual([EMAIL, 'budi@toko.example']);
  expect(emails(await lunas('users', 'list', '--merchant', other.id, '--json'))).toEqual(['budi@toko.example']);
  expect((await lunas('users', 'list')).stdout).toContain('owner');
  parse(
    await lunas('users', 'invite', '--merchant', shop.id, '--email', 'ani@toko.example', '--role', 'viewer', '--json'),
  );
  const invited = async (id: string) => parse(await lunas('users', 'list', '--merchant', id, '--json')).invitations;
  expect(await invited(shop.id)).toMatchObject([{ email: 'ani@toko.example', role: 'viewer', merchant_id: shop.id }]);
  expect(await invited(other.id)).toEqual([]);
  expect((await lunas('users', 'list')).stdout).toMatch(/^INVITED .* EXPIRES\nani@toko\.example .*Z$/m);
  expect((await lunas('users', 'list', '--json')).stdout).not.toContain('hash-of-a-password');
});

it('link prints an address that signs a user in once', async () => {
  await createMember(db, EMAIL, [[shop.id, 'owner']]);
  const { link } = parse(await lunas('users', 'link', '--email', EMAIL, '--json'));
  expect(link).toMatch(/^http:\/\/localhost:3004\/start\/lnk_[\w-]{43}$/);
  const use = { realm: 'merchant', token: tokenOf(link), browser: BROWSER } as const;
  const { token } = await useDevelopmentLink(db, use, new Date());
  expect(token).toMatch(/^ses_/);
  expect(await lunas('users', 'link')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('owner@demo.test'),
  });
});

it('reset and disable name a user who does not exist, and disable signs out', async () => {
  const userId = await createMember(db, EMAIL, [[shop.id, 'owner']]);
  const { token } = await signIn(db, EMAIL);
  const { reset } = parse(await lunas('users', 'reset', userId, '--json'));
  expect(reset.link).toMatch(/^http:\/\/localhost:3004\/reset\/lnk_[\w-]{43}$/);
  expect((await lunas('users', 'disable', userId)).exitCode).toBe(0);
  const request = { realm: 'merchant', token, merchantCode: null } as const;
  expect(await readSession(db, request, new Date())).toBeUndefined();
  for (const command of ['reset', 'disable']) {
    expect(await lunas('users', command, shop.id)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining(`There is no user ${shop.id}`),
    });
  }
  // No act: there is no such user.
  expect(await actions()).toEqual([
    { action: 'user.reset', target: userId, outcome: 'succeeded' },
    { action: 'user.disable', target: userId, outcome: 'succeeded' },
  ]);
});

it('confirm names who had seen the links, and nothing is left to confirm', async () => {
  const [rina, siti] = [
    await createMember(db, EMAIL),
    await createMember(db, 'siti@toko.example', [[shop.id, 'owner']]),
  ];
  const confirm = () => lunas('users', 'confirm', siti);
  const nothing = { exitCode: 1, stderr: expect.stringContaining('nothing to confirm') };
  expect(await confirm()).toMatchObject(nothing);
  await db.query('update users set link_shown_to = $2 where id = $1', [siti, `user:${rina}`]);
  await db.query("update members set link_shown_to = 'operator:dewi' where user_id = $1", [siti]);
  expect(await confirm()).toMatchObject({
    exitCode: 0,
    stdout: `siti@toko.example counts as another person than who had seen its links: operator:dewi, user:${rina}.\n`,
  });
  expect(await confirm()).toMatchObject(nothing);
  expect(await actions()).toEqual([{ action: 'user.confirm', target: siti, outcome: 'succeeded' }]);
});

it.each([
  ['an e-mail', ['--email', 'sri', '--role', 'owner'], '--email must be an e-mail address'],
  ['a role', ['--email', EMAIL, '--role', 'boss'], '--role must be owner'],
])('rejects what is not %s', async (_what, options, message) => {
  const outcome = await lunas('users', 'invite', '--merchant', shop.id, ...options);
  expect(outcome).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(message) });
});

it('attack: in production they need an operator key and a note, and no link signs in', async () => {
  const production = await createProductionDatabase();
  const environment = {
    LUNAS_HOME: home,
    LUNAS_ENVIRONMENT: 'production',
    DATABASE_URL: production.urlOf('lunas_local_operator'),
  };
  for (const args of [
    ['link', '--note', 'x'],
    ['disable', shop.id],
    ['invite', '--merchant', shop.id, '--email', EMAIL, '--role', 'owner', '--note', 'x'],
  ]) {
    const { exitCode, stdout } = await runLunas(['users', ...args], environment);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
  }
  await production.drop();
});
