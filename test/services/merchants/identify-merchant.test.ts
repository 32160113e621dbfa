import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { createSealer } from '../../../src/crypto/sealing';
import { createPool, type Pool } from '../../../src/db/connection/pool';
import { listRecordedCases } from '../../../src/db/operations/list-attention';
import { listActions } from '../../../src/services/audit/list-actions';
import { listApprovals } from '../../../src/services/audit/list-approvals';
import { findMerchant, insertMerchant } from '../../../src/services/merchants/merchants';
import { runLunas } from '../../cli/run-lunas';
import { asSuperuser } from '../../support/backdate';
import { createProductionDatabase, createTestDatabase, type TestDatabase } from '../../support/database';
import { IDENTITY, identityFile } from '../../support/identity';
import { createOperatorWithLogin, urlOfOperator } from '../../support/production';

/* Who a merchant is: from a file, sealed where it is personal, and in production decided by two operators. */

const newMerchant = (db: Pool) =>
  insertMerchant(db, { name: 'PT Lama', feePayer: 'merchant', providers: ['gopay'], approve: false });

async function countVersions(db: Pool): Promise<number> {
  return (await db.query('select from merchant_identities')).rowCount ?? 0;
}

type Lunas = (...args: readonly string[]) => ReturnType<typeof runLunas>;

describe('in a sandbox', () => {
  let database: TestDatabase;
  let db: Pool;
  let lunas: Lunas;
  let masterKey: string;

  beforeEach(async () => {
    database = await createTestDatabase();
    masterKey = randomBytes(32).toString('base64');
    db = createPool(database.url, { max: 2 });
    const environment = {
      DATABASE_URL: database.urlOf('lunas_local_operator'),
      LUNAS_MASTER_KEY: masterKey,
      KEY: 'SB-Mid-server-x',
    };
    lunas = (...args) => runLunas([...args, '--json'], environment);
  });
  afterEach(async () => {
    await db.end();
    await database.drop();
  });

  it('an identity is in force immediately, and names the merchant; the newest version counts', async () => {
    const { id } = await newMerchant(db);
    const set = await lunas('merchants', 'identify', id, '--file', await identityFile(IDENTITY));
    expect(set).toMatchObject({ exitCode: 0, stderr: '' });
    expect(JSON.parse(set.stdout).identity).toMatchObject({ version: 1, class: 'UKE', details: { legal_name: null } });
    expect((await findMerchant(db, id)).name).toBe('Kopi Kita');
    await lunas('merchants', 'identify', id, '--file', await identityFile({ ...IDENTITY, category: 'education' }));
    const { identity } = JSON.parse((await lunas('merchants', 'identity', id)).stdout);
    expect(identity).toMatchObject({ version: 2, class: 'education', nmid: IDENTITY.nmid, in_force_from: /^2/ });
    const first = await lunas('merchants', 'identity', id, '--version', '1');
    expect(JSON.parse(first.stdout).identity).toMatchObject({ version: 1, class: 'UKE' });
    for (const options of [[], ['--reveal', '--note', 'case 4711']]) {
      expect(await lunas('merchants', 'identity', id, '--version', '3', ...options)).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining(`There is no identity of merchant ${id}, version 3; lunas merchants identify`),
      });
    }
  });

  it('what is personal is sealed, and shown with a reason, which the audit log has', async () => {
    const { id } = await newMerchant(db);
    await lunas('merchants', 'identify', id, '--file', await identityFile(IDENTITY));
    const { rows } = await db.query(`select (select string_agg(merchant_identities::text, '') from merchant_identities)
      || (select string_agg(operator_actions::text, '') from operator_actions) as text`);
    expect(rows[0].text).not.toMatch(/Rahasia|Sri Rahayu|32010101|0123456789|Jalan Satu|number 12/);
    expect(await lunas('merchants', 'identity', id, '--reveal')).toMatchObject({ exitCode: 1 });
    const shown = await lunas('merchants', 'identity', id, '--reveal', '--note', 'case 4711');
    expect(JSON.parse(shown.stdout).identity.details).toMatchObject({
      legal_name: IDENTITY.legal_name,
      tax_number: IDENTITY.tax_number,
    });
    const [reading] = await listActions(db, { limit: 1 });
    expect(reading).toMatchObject({ action: 'identity.show', target: id, note: 'case 4711' });
  });

  it('details that were sealed again with other values are not opened', async () => {
    const { id } = await newMerchant(db);
    await lunas('merchants', 'identify', id, '--file', await identityFile(IDENTITY));
    await lunas('merchants', 'identify', id, '--file', await identityFile({ ...IDENTITY, legal_name: 'PT Lain' }));
    const sealer = createSealer(masterKey);
    const location = (version: string) => ['merchant-identity', id, version] as const;
    const { rows } = await db.query('select sealed_details as sealed from merchant_identities where version = 1');
    const other = sealer.seal(sealer.open(rows[0].sealed, location('1')), location('2'));
    await asSuperuser(db, {
      text: 'update merchant_identities set sealed_details = $1 where version = 2',
      values: [other],
    });
    const shown = await lunas('merchants', 'identity', id, '--reveal', '--note', 'case 4711');
    expect(shown).toMatchObject({ exitCode: 1, stdout: '', stderr: expect.stringContaining('are not those') });
  });

  it.each<[string, unknown, readonly string[]]>([
    ['no JSON', '{', ['must be a JSON object.']],
    ['a list', [], ['must be a JSON object.']],
    [
      'several values that break rules',
      { ...IDENTITY, tax_number: '12', postal_code: 40111, trading_name: 'Kopi \u2615', category: 'other' },
      [
        'trading_name must have 1 to 25 printable ASCII characters.',
        'category must be regular, education, fuel, public_service, social.',
        'tax_number must have 15 or 16 digits.',
        'postal_code must have 5 digits.',
      ],
    ],
    ['an unknown key', { ...IDENTITY, phone: '1' }, ['Unknown key: phone.']],
    ['a field by its other name', { ...IDENTITY, legalName: 'x' }, ['Unknown key: legalName.']],
    ['an absent key', { ...IDENTITY, documents: undefined }, ['documents is missing.']],
    ['the year 0', { ...IDENTITY, valid_until: '0000-01-31' }, ['valid_until must be a date such as 2027-01-31']],
    [
      'no date',
      { ...IDENTITY, valid_until: '31-01-2030' },
      ['valid_until must be a date such as 2027-01-31, or null.'],
    ],
  ])('a file with %s writes nothing, and each violation is a line', async (_, content, lines) => {
    const { id } = await newMerchant(db);
    const { exitCode, stderr } = await lunas('merchants', 'identify', id, '--file', await identityFile(content));
    expect([exitCode, stderr.trim().split('\n').length]).toEqual([1, lines.length]);
    for (const line of lines) expect(stderr).toContain(line);
    expect(await countVersions(db)).toBe(0);
  });

  it('an NMID is of one merchant, also for two commands at the same time', async () => {
    const [one, other] = [await newMerchant(db), await newMerchant(db)];
    const file = await identityFile(IDENTITY);
    const set = await Promise.all([one, other].map(({ id }) => lunas('merchants', 'identify', id, '--file', file)));
    expect(set.filter(({ exitCode }) => exitCode === 0)).toHaveLength(1);
    expect(await countVersions(db)).toBe(1);
    const [holder, late] = set[0]?.exitCode === 0 ? [one, other] : [other, one];
    const again = await lunas('merchants', 'identify', late.id, '--file', file);
    expect(again.stderr).toContain(`NMID ${IDENTITY.nmid} is that of merchant ${holder.id}.`);
  });

  it('an own account has NMID and name of its merchant, and no other NMID', async () => {
    const { id } = await newMerchant(db);
    const add = (...options: readonly string[]) =>
      lunas(
        ...'accounts add --provider gopay --adapter midtrans --server-key-env KEY --merchant'.split(' '),
        id,
        ...options,
      );
    const unknown = await add();
    expect(unknown.stderr).toContain(`Merchant ${id} has no identity in force; use lunas merchants identify.`);
    await lunas('merchants', 'identify', id, '--file', await identityFile(IDENTITY));
    const foreign = await add('--nmid', 'ID1020000000099');
    expect(foreign.stderr).toContain(`NMID ID1020000000099 is not that of merchant ${id}, which is ${IDENTITY.nmid}.`);
    expect((await db.query('select from provider_accounts')).rowCount).toBe(0);
    expect(JSON.parse((await add()).stdout).account).toMatchObject({
      merchant_id: id,
      nmid: IDENTITY.nmid,
      shown_name: 'Kopi Kita',
    });
    expect((await add('--merchant', randomId())).stderr).toContain('There is no merchant');
  });

  it('no account gets the NMID of another merchant with another key, and no shared one that of any', async () => {
    const { id } = await newMerchant(db);
    const next = 'ID1020000000099';
    const account = ['--provider', 'gopay', '--adapter', 'midtrans', '--server-key-env', 'KEY'];
    await lunas('merchants', 'identify', id, '--file', await identityFile(IDENTITY));
    const nmids = async () => (await db.query('select nmid from provider_accounts order by id')).rows;
    const own = JSON.parse((await lunas('accounts', 'add', ...account, '--merchant', id)).stdout).account.id;
    const shared = JSON.parse((await lunas('accounts', 'add', ...account)).stdout).account.id;
    const setKey = (accountId: string, nmid: string) =>
      lunas('accounts', 'set-key', accountId, '--server-key-env', 'KEY', '--nmid', nmid);

    const taken = `NMID ${IDENTITY.nmid} is that of merchant ${id}: only an account of its own has it.`;
    expect((await lunas('accounts', 'add', ...account, '--nmid', IDENTITY.nmid)).stderr).toContain(taken);
    expect((await setKey(shared, IDENTITY.nmid)).stderr).toContain(taken);
    const foreign = `NMID ${next} is not that of merchant ${id}, which is ${IDENTITY.nmid}.`;
    expect((await setKey(own, next)).stderr).toContain(foreign);
    expect(await nmids()).toEqual([{ nmid: IDENTITY.nmid }, { nmid: null }]);

    await lunas('merchants', 'identify', id, '--file', await identityFile({ ...IDENTITY, nmid: next }));
    expect(await setKey(own, next)).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await setKey(shared, IDENTITY.nmid)).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await nmids()).toEqual([{ nmid: next }, { nmid: IDENTITY.nmid }]);
  });
});

const randomId = () => '01935b6c-7c00-7000-8000-00006c756e62';

describe('in production', () => {
  let database: TestDatabase;
  let db: Pool;
  let dewi: Lunas;
  let budi: Lunas;

  beforeAll(async () => {
    database = await createProductionDatabase();
    db = createPool(database.url, { max: 2 });
    const LUNAS_MASTER_KEY = randomBytes(32).toString('base64');
    const open = async (name: string): Promise<Lunas> => {
      const { secret: LUNAS_OPERATOR_KEY } = await createOperatorWithLogin(database, db, name);
      const environment = {
        DATABASE_URL: await urlOfOperator(database, name),
        LUNAS_ENVIRONMENT: 'production',
        KEY: 'Mid-server-x',
        LUNAS_OPERATOR_KEY,
        LUNAS_MASTER_KEY,
      };
      return (...args) => runLunas([...args, '--note', 'contract 12', '--json'], environment);
    };
    [dewi, budi] = [await open('dewi'), await open('budi')];
    await db.query("update operators set created_at = now() - interval '2 days'");
  });
  afterAll(async () => {
    await db.end();
    await database.drop();
  });

  async function identify(id: string, changes: Partial<typeof IDENTITY> = {}): Promise<string> {
    const { stdout, stderr } = await dewi(
      'merchants',
      'identify',
      id,
      '--file',
      await identityFile({ ...IDENTITY, ...changes }),
    );
    expect(stderr).toBe('');
    return String(JSON.parse(stdout).approval_id);
  }

  /** What `lunas doctor --merchant` finds of the rule `identity`. */
  async function findingOf(id: string): Promise<unknown> {
    const { stdout } = await runLunas(['doctor', '--merchant', id, '--json'], { DATABASE_URL: database.url });
    const { rules } = z.object({ rules: z.array(z.looseObject({ name: z.string() })) }).parse(JSON.parse(stdout));
    return rules.find(({ name }) => name === 'identity');
  }

  it('two operators put an identity in force, and only then the merchant can be approved', async () => {
    const { id } = await newMerchant(db);
    expect(await findingOf(id)).toMatchObject({ state: 'broken', violation: 'The merchant has no identity in force.' });
    const approve = () => dewi('merchants', 'approve', id);
    const unknown = `Merchant ${id} cannot be approved: it has no identity in force; use lunas merchants identify.`;
    expect(await approve()).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(unknown) });

    const approvalId = await identify(id);
    const [request] = await listApprovals(db, { onlyOpen: true, limit: 1 });
    expect(Object.keys(request?.parameters ?? {}).toSorted()).toEqual([
      'category',
      'criterion',
      'detailsSha256',
      'merchantId',
      'nmid',
      'tradingName',
      'validUntil',
      'version',
    ]);
    expect((await approve()).stderr).toContain(unknown);
    expect((await findMerchant(db, id)).name).toBe('PT Lama');
    expect(await budi('approvals', 'approve', approvalId)).toMatchObject({ exitCode: 0, stderr: '' });
    expect((await findMerchant(db, id)).name).toBe('Kopi Kita');
    expect(await approve()).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await findingOf(id)).toMatchObject({ state: 'ok' });
  });

  it('an older proposal is not put in force after a newer one', async () => {
    const { id } = await newMerchant(db);
    const nmid = 'ID1020000000041';
    const [older, newer] = [await identify(id, { nmid, trading_name: 'Older' }), await identify(id, { nmid })];
    expect(await budi('approvals', 'approve', newer)).toMatchObject({ exitCode: 0 });
    const late = await budi('approvals', 'approve', older);
    expect(late).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('another identity now') });
  });

  it('a merchant whose documents have expired is not approved; operators see who is not known', async () => {
    const { id } = await newMerchant(db);
    await budi('approvals', 'approve', await identify(id, { nmid: 'ID1020000000033', valid_until: '2026-01-31' }));
    const rejected = await dewi('merchants', 'approve', id);
    expect(rejected.stderr).toContain(`Merchant ${id} cannot be approved: its documents expired on 2026-01-31.`);
    expect(await findingOf(id)).toMatchObject({ violation: 'The documents of the merchant expired on 2026-01-31.' });
    const created = await dewi('merchants', 'create', '--name', 'Toko', '--approve');
    expect(created.stderr).toContain('A new merchant cannot be approved: it has no identity in force');
    const before = await insertMerchant(db, {
      name: 'Before',
      feePayer: 'merchant',
      providers: ['gopay'],
      approve: true,
    });
    const cases = await listRecordedCases(db, 9);
    expect(cases).toContainEqual(expect.objectContaining({ kind: 'merchant_unidentified', subject: before.id }));
    const detail = expect.stringMatching(/: its documents expired on 2026-01-31$/);
    expect(cases).toContainEqual(expect.objectContaining({ kind: 'identity_expiring', subject: id, detail }));
  });

  it('a shared account with the NMID of a merchant that is identified meanwhile is not approved', async () => {
    const { id } = await newMerchant(db);
    const nmid = 'ID1020000000074';
    const identity = await identify(id, { nmid });
    const account = ['accounts', 'add', '--provider', 'gopay', '--adapter', 'midtrans', '--server-key-env', 'KEY'];
    const requested = await dewi(...account, '--nmid', nmid, '--shown-name', 'Kopi Kita');
    await budi('approvals', 'approve', identity);
    const approved = await budi('approvals', 'approve', String(JSON.parse(requested.stdout).approval_id));
    expect(approved).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining(`NMID ${nmid} is that of merchant ${id}`),
    });
    expect((await db.query("select from provider_accounts where status = 'enabled'")).rowCount).toBe(0);
  });

  it('one operator reads the personal data of 20 merchants in 24 hours', async () => {
    const { id } = await newMerchant(db);
    await budi('approvals', 'approve', await identify(id, { nmid: 'ID1020000000066' }));
    const reveal = async (by: Lunas) => (await by('merchants', 'identity', id, '--reveal')).exitCode;
    for (let count = 0; count < 20; count += 1) expect([count, await reveal(dewi)]).toEqual([count, 0]);
    expect([await reveal(dewi), await reveal(budi)]).toEqual([1, 0]);
  });

  it('no operator approves a merchant or an identity by a statement of their own', async () => {
    const { id } = await newMerchant(db);
    const alone = createPool(await urlOfOperator(database, 'dewi'), { max: 1 });
    const restricted = { code: '23001' };
    await expect(alone.query("update merchants set status = 'approved' where id = $1", [id])).rejects.toMatchObject(
      restricted,
    );
    await identify(id, { nmid: 'ID1020000000058' });
    const begin = 'update merchant_identities set in_force_from = now() where merchant_id = $1';
    await expect(alone.query(begin, [id])).rejects.toMatchObject(restricted);
    const other = "update merchant_identities set sealed_details = 'v1.x.y'";
    await expect(alone.query(other)).rejects.toMatchObject(restricted);
    await alone.end();
  });
});
