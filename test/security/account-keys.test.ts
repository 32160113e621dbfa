import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { z } from 'zod';
import { createSealer } from '../../src/crypto/sealing';
import { createPool, type Pool } from '../../src/db/connection/pool';
import { listRecordedCases } from '../../src/db/operations/list-attention';
import { SANDBOX_SERVER_KEY } from '../../src/sandbox/acquirers';
import { listActions } from '../../src/services/audit/list-actions';
import { listApprovals } from '../../src/services/audit/list-approvals';
import { insertOperator } from '../../src/services/identity/operators';
import { listExceptions } from '../../src/services/payments/exceptions';
import { addAccount, listAccounts } from '../../src/services/provider-accounts/provider-accounts';
import { runLunas } from '../cli/run-lunas';
import { createProductionDatabase, type TestDatabase } from '../support/database';
import { eventually } from '../support/eventually';
import { createOperatorWithLogin, urlOfOperator } from '../support/production';
import { newNamespace, startTestService, type TestService } from '../support/service';

/* One operator alone does not change whose account the customers pay into. */

const NMID = 'ID1020021181745';
const OTHER_NMID = 'ID1020999999999';

const rejectedFor = (reason: RegExp) => ({ exitCode: 1, stderr: expect.stringMatching(reason) });
const fingerprintOf = (serverKey: string) => createHash('sha256').update(serverKey).digest('hex');

type Operator = (serverKey: string, ...args: readonly string[]) => ReturnType<typeof runLunas>;

describe('in production', () => {
  let database: TestDatabase;
  let db: Pool;
  let masterKey: string;
  let dewi: Operator;
  let budi: Operator;
  let accountId: string;

  beforeEach(async () => {
    masterKey = randomBytes(32).toString('base64');
    database = await createProductionDatabase();
    db = createPool(database.url, { max: 4 });
    [dewi, budi] = [await addOperator('dewi'), await addOperator('budi')];
    accountId = await addApproved();
  });
  afterEach(async () => {
    await db.end();
    await database.drop();
  });

  async function addOperator(name: string): Promise<Operator> {
    const { secret } = await createOperatorWithLogin(database, db, name);
    const DATABASE_URL = await urlOfOperator(database, name);
    return (serverKey, ...args) =>
      runLunas([...args, '--note', 'contract 12', '--json'], {
        DATABASE_URL,
        LUNAS_OPERATOR_KEY: secret,
        LUNAS_MASTER_KEY: masterKey,
        KEY: serverKey,
      });
  }

  const ADD = ['accounts', 'add', '--provider', 'gopay', '--adapter', 'midtrans', '--server-key-env', 'KEY'];

  async function add(): Promise<{ readonly id: string; readonly approvalId: string }> {
    const { account, approval_id: approvalId } = JSON.parse((await dewi('first-key', ...ADD, '--nmid', NMID)).stdout);
    return { id: account.id, approvalId: String(approvalId) };
  }

  async function addApproved(): Promise<string> {
    const { id, approvalId } = await add();
    expect(await budi('', 'approvals', 'approve', approvalId)).toMatchObject({ exitCode: 0, stderr: '' });
    return id;
  }

  const setKey = (serverKey: string, ...options: readonly string[]) =>
    dewi(serverKey, 'accounts', 'set-key', accountId, '--server-key-env', 'KEY', ...options);

  async function inForce(id = accountId) {
    const { rows } = await db.query(
      `select adapter, base_url as "baseUrl", sealed_server_key as sealed, status, nmid
       from provider_accounts where id = $1`,
      [id],
    );
    const { adapter, baseUrl, sealed, status, nmid } = rows[0];
    const serverKey = createSealer(masterKey).open(sealed, ['provider-server-key', id, adapter, baseUrl]);
    return { serverKey, status, nmid };
  }

  it('a server key is in force after a second operator has approved its fingerprint and NMID', async () => {
    expect(await setKey('insider-key')).toMatchObject(rejectedFor(/lunas approvals approve 2 /));
    expect(await inForce()).toEqual({ serverKey: 'first-key', status: 'enabled', nmid: NMID });
    const [request] = await listApprovals(db, { onlyOpen: true, limit: 9 });
    const keyFingerprint = fingerprintOf('insider-key');
    expect(request).toMatchObject({
      action: 'account.set_key',
      target: expect.stringContaining(accountId),
      parameters: { account: accountId, keyFingerprint, nmid: NMID, previousNmid: NMID },
    });
    expect(await dewi('', 'approvals', 'approve', '2')).toMatchObject(rejectedFor(/another operator/));
    expect((await inForce()).serverKey).toBe('first-key');

    expect(await budi('', 'approvals', 'approve', '2')).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await inForce()).toEqual({ serverKey: 'insider-key', status: 'enabled', nmid: NMID });
    expect(await listAccounts(db)).toMatchObject([{ id: accountId, nmid: NMID, keyFingerprint }]);
    const change = (await listActions(db, { limit: 20 })).find(({ action }) => action === 'account.set_key');
    expect(change).toMatchObject({ actor: 'operator:budi', detail: expect.stringContaining(keyFingerprint) });
  });

  it('an approval is only for the key and the NMID that it shows', async () => {
    await setKey('harmless-key');
    await setKey('insider-key', '--nmid', OTHER_NMID);
    expect(await budi('', 'approvals', 'approve', '2')).toMatchObject(rejectedFor(/another server key/));
    expect(await inForce()).toMatchObject({ serverKey: 'first-key', nmid: NMID });
    expect(await listApprovals(db, { onlyOpen: true, limit: 9 })).toMatchObject([
      { id: 3, parameters: { keyFingerprint: fingerprintOf('insider-key'), nmid: OTHER_NMID, previousNmid: NMID } },
    ]);
    expect(await budi('', 'approvals', 'approve', '3')).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await inForce()).toMatchObject({ serverKey: 'insider-key', nmid: OTHER_NMID });
  });

  it('a proposed key is sealed, and follows the master key', async () => {
    await setKey('second-key');
    const { rows } = await db.query('select provider_accounts::text as text from provider_accounts');
    expect(rows[0].text).not.toContain('second-key');
    const oldMasterKey = masterKey;
    masterKey = randomBytes(32).toString('base64');
    const resealed = await runLunas(['keys', 'reseal', '--note', 'x'], {
      DATABASE_URL: database.urlOf('lunas_local_operator'),
      LUNAS_OPERATOR_KEY: (await insertOperator(db, { name: 'eka', environment: 'production' })).secret,
      LUNAS_MASTER_KEY: masterKey,
      LUNAS_OLD_MASTER_KEYS: oldMasterKey,
    });
    expect(resealed).toMatchObject({ exitCode: 0 });
    await db.query("update operators set created_at = now() - interval '1 day'");
    expect(await budi('', 'approvals', 'approve', '2')).toMatchObject({ exitCode: 0, stderr: '' });
    expect((await inForce()).serverKey).toBe('second-key');
  });

  it('the key of an account that waits for its approval cannot be replaced', async () => {
    const { id } = await add();
    const replaced = await dewi('insider-key', 'accounts', 'set-key', id, '--server-key-env', 'KEY');
    expect(replaced).toMatchObject(rejectedFor(/is proposed/));
    const [request] = await listApprovals(db, { onlyOpen: true, limit: 9 });
    const keyFingerprint = fingerprintOf('first-key');
    expect(request).toMatchObject({
      action: 'account.create',
      parameters: {
        account: id,
        adapter: 'midtrans',
        baseUrl: 'https://api.midtrans.com',
        keyFingerprint,
        nmid: NMID,
      },
    });

    for (const [column, value] of [
      ['key_fingerprint', fingerprintOf('x')],
      ['base_url', 'https://own.test'],
    ] as const) {
      const changed = await add();
      await db.query(`update provider_accounts set ${column} = $2 where id = $1`, [changed.id, value]);
      const approved = await budi('', 'approvals', 'approve', changed.approvalId);
      expect(approved).toMatchObject(rejectedFor(/another server key, NMID, name or address/));
      const { rows } = await db.query('select status from provider_accounts where id = $1', [changed.id]);
      expect(rows).toEqual([{ status: 'proposed' }]);
    }
  });

  it('an account has an NMID', async () => {
    expect(await dewi('key', ...ADD)).toMatchObject(rejectedFor(/--nmid/));
    expect(await dewi('key', ...ADD, '--nmid', 'ID1')).toMatchObject({ exitCode: 2 });
    await db.query('update provider_accounts set nmid = null');
    expect(await setKey('second-key')).toMatchObject(rejectedFor(/--nmid/));
    expect(await setKey('second-key', '--nmid', NMID)).toMatchObject(rejectedFor(/lunas approvals approve/));
  });
});

describe('a QR with another NMID than that of its account', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(await newNamespace());
  });
  afterAll(() => service.close());

  const SANDBOX_NMID = 'ID0000000000001';
  const nmids = `${SANDBOX_NMID} instead of ${OTHER_NMID}`;

  /** The only account for new payments of gopay. */
  async function useAccount(nmid: string, baseUrl = service.sandboxUrl): Promise<string> {
    await service.db.query("update provider_accounts set status = 'disabled' where provider = 'gopay'");
    const { id } = await addAccount(service.db, createSealer(service.masterKey), {
      provider: 'gopay',
      adapter: 'midtrans',
      serverKey: SANDBOX_SERVER_KEY,
      nmid,
      weight: 1,
      baseUrl,
      environment: 'sandbox',
    });
    return id;
  }

  const create = () => service.call('POST', '/payments', { amount: 50_000, payment_method: 'qris', provider: 'gopay' });
  const statusOf = async (id: string) => (await listAccounts(service.db)).find((account) => account.id === id)?.status;

  it('stops the account and opens an exception, and the payment has no QR', async () => {
    const accountId = await useAccount(OTHER_NMID);
    const created = await create();
    expect(JSON.stringify(created.body)).not.toContain(SANDBOX_NMID);
    const exceptions = await eventually(
      () => listExceptions(service.db, { onlyOpen: true, limit: 9 }),
      (open) => open.length > 0,
    );
    expect(exceptions).toMatchObject([
      {
        kind: 'foreign_qris',
        providerAccountId: accountId,
        amountRupiah: 50_000,
        detail: expect.stringContaining(nmids),
      },
    ]);
    expect(exceptions[0]?.detail).toContain(accountId);
    const cases = await listRecordedCases(service.db, 9);
    expect(cases.filter(({ kind }) => kind === 'foreign_qris')).toMatchObject([
      { subject: expect.stringMatching(/^LN/), detail: expect.stringContaining(accountId) },
    ]);
    expect(await statusOf(accountId)).toBe('disabled');
    const { rows } = await service.db.query('select status, qris_payload, failure_reason from payments');
    expect(rows).toEqual([
      { status: 'failed', qris_payload: null, failure_reason: 'the provider issued no usable QR code' },
    ]);
    expect((await create()).status).toBe(400);
  });

  it("a QR with the account's own NMID does not stop its account", async () => {
    const accountId = await useAccount(SANDBOX_NMID);
    expect((await create()).body).toMatchObject({ payment: { status: 'pending' } });
    expect(await statusOf(accountId)).toBe('enabled');
  });

  it('an acquirer that adds a fee to each order stops its account in the same attempt', async () => {
    const acquirer = await startFeeProxy(service.sandboxUrl, 71);
    const accountId = await useAccount(SANDBOX_NMID, acquirer.url);
    const created = await create();
    expect(created).toMatchObject({
      status: 400,
      body: { error: { code: 'payment_create_failed', message: expect.stringContaining('no usable QR code') } },
    });
    expect(acquirer.paths).toEqual(['/v2/charge', expect.stringMatching(/\/expire$/)]);
    const cases = await listRecordedCases(service.db, 9);
    expect(cases.filter(({ kind }) => kind === 'changed_amount')).toMatchObject([
      { detail: expect.stringMatching(new RegExp(`${accountId}.*Rp 50\\.071 instead of Rp 50\\.000`)) },
    ]);
    expect(await statusOf(accountId)).toBe('disabled');
    const { rows } = await service.db.query(
      `select name, note from payment_transitions where payment_id = (
        select id from payments where provider_account_id = $1) order by version`,
      [accountId],
    );
    expect(rows).toMatchObject([
      { name: 'create' },
      { name: 'fail_creation', note: expect.stringContaining('Rp 50.071 instead of Rp 50.000') },
    ]);
    expect((await create()).status).toBe(400);
    expect(acquirer.paths).toHaveLength(2);
    await acquirer.close();
  });
});

/** In front of the sandbox: the response to a charge is over so much more. */
async function startFeeProxy(target: string, feeRupiah: number) {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const { method = '', url = '', headers } = request;
      paths.push(url);
      const body = method === 'GET' ? null : await buffer(request);
      const { authorization = '' } = headers;
      const sent = await fetch(target + url, {
        method,
        headers: { authorization, 'content-type': 'application/json' },
        body,
      });
      const json = z.record(z.string(), z.unknown()).parse(await sent.json());
      const isCharge = url.endsWith('/charge');
      const changed = isCharge ? { ...json, gross_amount: `${Number(json.gross_amount) + feeRupiah}.00` } : json;
      response.end(JSON.stringify(changed));
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    paths,
    async close() {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
}
