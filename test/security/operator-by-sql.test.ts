import { createHash, generateKeyPairSync, randomUUID } from 'node:crypto';
import { MockActivityEnvironment } from '@temporalio/testing';
import { settlePayment } from '../../activities/payment';
import { resolveRefundAsPaid, resolveRefundAsRefunded } from '../../activities/refund';
import { fixValue } from '../../src/crypto/fixed-value';
import { createSealer, type SealBinding } from '../../src/crypto/sealing';
import { createSignInToken } from '../../src/crypto/sign-in-token';
import { createPool, type Pool } from '../../src/db/connection/pool';
import { onlyRow } from '../../src/db/connection/require-row';
import { getBalance } from '../../src/db/ledger/get-balance';
import { refundLatePaymentManually } from '../../src/db/transitions/late-payment-transitions';
import { readState } from '../../src/db/transitions/payment-state';
import type { OperatorScope } from '../../src/domain/key-access';
import { messageOf } from '../../src/errors';
import { createPayoutRegistry } from '../../src/providers/payout-registry';
import { createProviderRegistry } from '../../src/providers/registry';
import { verifyAudit } from '../../src/services/audit/verify-audit';
import { readInvitation } from '../../src/services/identity/members';
import { insertOperator, type Operator } from '../../src/services/identity/operators';
import { listExceptionsOf } from '../../src/services/payments/exceptions';
import { addPayoutsAccount } from '../../src/services/provider-accounts/payouts-account';
import { addAccount } from '../../src/services/provider-accounts/provider-accounts';
import { applyTransitions, payLate, T0 } from '../services/ledger/transition-path';
import { activityDependencies } from '../support/activity-dependencies';
import { asSuperuser } from '../support/backdate';
import { prepareBankAccount } from '../support/bank-accounts';
import { collectLog } from '../support/collect-log';
import { eventually } from '../support/eventually';
import {
  addLines,
  applyPayout,
  createTestPayouts,
  ofPayments,
  withNewMerchant,
  type TestPayouts,
} from '../support/payouts';
import { createMember } from '../support/people';
import { createOperatorWithLogin, setEnvironment, urlOfOperator } from '../support/production';
import { FakeAcquirer } from '../workflows/model/fake-acquirer';

/* An operator of production, with a login of PostgreSQL and no program of ours, who knows the ids of the others. */

const RESTRICTED = '23001';
const DENIED = '42501';
const ID = '0193e5c0-0000-7000-8000-000000000000';

let payouts: TestPayouts;
let eve: Pool;
let eveId: string;
let dewi: string;
let budi: string;

beforeAll(async () => {
  payouts = await createTestPayouts();
  eve = createPool(await urlOfOperator(payouts.database, 'eve'), { max: 2 });
  [eveId, dewi, budi] = [await addOperator('eve'), await addOperator('dewi'), await addOperator('budi')];
});
beforeEach(async () => {
  await setEnvironment(payouts.db, 'sandbox');
  payouts = await withNewMerchant(payouts);
  await setEnvironment(payouts.db, 'production');
});
afterAll(async () => {
  await eve.end();
  await payouts.close();
});

async function addOperator(name: string): Promise<string> {
  return makeOld((await createOperatorWithLogin(payouts.database, payouts.db, name)).id);
}

async function makeOld(id: string): Promise<string> {
  await asSuperuser(payouts.db, `update operators set created_at = now() - interval '1 day' where id = '${id}'`);
  return id;
}

function openRegistry() {
  const collected = collectLog();
  const settings = { db: payouts.db, sealer: createSealer(payouts.masterKey), publicBaseUrl: 'http://127.0.0.1:1' };
  return { collected, registry: createProviderRegistry({ ...settings, log: collected.log }) };
}

const attempt = (statement: string, ...values: readonly unknown[]) => eve.query(statement, [...values]);

/** Begins an act of one operator, as a command does. */
const begin = (act: Readonly<Record<string, unknown>>) =>
  attempt(
    'select id from begin_operator_action(jsonb_populate_record(null::operator_actions, $1), true)',
    JSON.stringify({ actor: 'operator:eve', via: 'cli', operator_id: eveId, ...act }),
  );

/** An approval of two operators, as while it is executed. */
const approved = (action: string, target: string, parameters: object, version: number | null = null) =>
  asSuperuser(payouts.db, {
    text: `insert into approvals
        (action, target, parameters, note, requested_by, status, decided_by, decided_at, expected_version)
      values ($1, $2, $3, 'x', $4, 'approved', $5, now(), $6)`,
    values: [action, target, parameters, dewi, budi, version],
  });

const NMID = 'ID1020021181745';
const ACCOUNT = `insert into provider_accounts (id, provider, adapter, base_url, sealed_server_key, status,
  key_fingerprint, nmid) values ($1, 'gopay', 'midtrans', 'https://own.test', 'v1.key.own', $2, 'own', '${NMID}')`;

/** Writes a payment as `lunas recover` does, with the terms of another one. */
const restore = (paymentId: string, changes: Readonly<Record<string, unknown>>) =>
  attempt(
    `insert into payments select (jsonb_populate_record(payments, $2)).* from payments where id = $1`,
    paymentId,
    JSON.stringify({ id: randomUUID(), reference_id: `LN${randomUUID()}`, ...changes }),
  );

describe('attack 1: the customers pay into the account of the operator', () => {
  it.each(['qris_payload', 'provider_transaction_id'])('%s of a payment is not replaced', async (column) => {
    const { terms } = await applyTransitions(ofPayments(payouts), ['issue']);
    const { paymentId } = terms;
    for (const value of ["'own'", 'null']) {
      await expect(attempt(`update payments set ${column} = ${value} where id = $1`, paymentId)).rejects.toMatchObject({
        code: DENIED,
      });
    }
  });

  it('only a worker writes the response of the provider, also of a payment that an operator has restored', async () => {
    const { terms } = await applyTransitions(ofPayments(payouts), []);
    const restored = randomUUID();
    await restore(terms.paymentId, { id: restored });
    await attempt(
      `insert into payment_transitions (payment_id, version, name, to_status, occurred_at, actor)
       values ($1, 1, 'create', 'created', now(), 'operator')`,
      restored,
    );
    for (const id of [terms.paymentId, restored]) {
      const issued = attempt(
        `update payments set status = 'pending', version = 2, qris_payload = 'own', provider_transaction_id = 'x'
         where status = 'created' and id = $1`,
        id,
      );
      await expect(issued).rejects.toMatchObject({ code: DENIED });
      const recorded = attempt(
        `insert into payment_transitions (payment_id, version, name, from_status, to_status, occurred_at, actor)
         values ($1, 2, 'issue', 'created', 'pending', now(), 'workflow')`,
        id,
      );
      await expect(recorded).rejects.toMatchObject({ code: RESTRICTED });
    }
  });

  it('a proposed account has no payment, and no process calls it', async () => {
    const { terms } = await applyTransitions(ofPayments(payouts), []);
    const id = randomUUID();
    await attempt(ACCOUNT, id, 'proposed');
    await expect(restore(terms.paymentId, { provider_account_id: id })).rejects.toMatchObject({
      code: RESTRICTED,
      message: `provider account ${id} is not approved`,
    });
    const statuses = [
      ['disabled', id],
      ['proposed', terms.providerAccountId],
    ];
    for (const [status, account] of statuses) {
      const changed = attempt('update provider_accounts set status = $2 where id = $1', account, status);
      await expect(changed).rejects.toMatchObject({ code: RESTRICTED });
    }
    const { registry } = openRegistry();
    await expect(registry.forAccount(id)).rejects.toThrow(`There is no provider account ${id}`);
    await registry.close();
  });

  it('a server key that does not have the fingerprint of its account is used for no call', async () => {
    const sealer = createSealer(payouts.masterKey);
    const { id, adapter, baseUrl } = await addAccount(payouts.db, sealer, {
      provider: 'gopay',
      adapter: 'midtrans',
      serverKey: 'SB-Mid-server-1',
      weight: 1,
      environment: 'sandbox',
    });
    const { registry, collected } = openRegistry();
    await registry.forAccount(id);
    // The first value has the id of another master key, as after a reseal.
    const own = sealer.seal('SB-Mid-server-own', ['provider-server-key', id, adapter, baseUrl]);
    const change = 'update provider_accounts set sealed_server_key = $2 where id = $1';
    for (const value of ['v1.other.x', own]) {
      await expect(attempt(change, id, value)).rejects.toMatchObject({ code: RESTRICTED });
    }
    await asSuperuser(payouts.db, { text: change, values: [id, own] });
    const failure = await eventually(
      () => registry.forAccount(id).then(() => '', messageOf),
      (message) => message !== '',
    );
    expect(failure).toContain(`The server key of provider account ${id} does not have the fingerprint`);
    expect(collected.lines()).toContainEqual(expect.objectContaining({ level: 50, accountId: id }));
    await expect(registry.forAccount(id)).rejects.toThrow(failure);
    await registry.close();
  });

  it('credentials of payouts that do not have the fingerprint of their account are used for no call', async () => {
    const sealer = createSealer(payouts.masterKey);
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const issued = (partnerId: string) =>
      JSON.stringify({
        clientId: 'client',
        clientSecret: 'secret',
        partnerId,
        channelId: '95221',
        privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }),
        sourceAccountNo: '1234567890',
      });
    const { id, adapter, baseUrl } = await addPayoutsAccount(payouts.db, sealer, {
      adapter: 'snap-midtrans',
      baseUrl: 'http://127.0.0.1:9',
      credentials: issued('ours'),
      environment: 'sandbox',
      isProposed: true,
    });
    await asSuperuser(payouts.db, `update provider_accounts set status = 'disabled' where id = '${id}'`);
    const { log } = collectLog();
    const registry = createPayoutRegistry({ db: payouts.context.db, sealer, log, slotsPerAccount: 1 });
    expect(await registry.findAccount(id)).toMatchObject({ accountId: id });
    const own = sealer.seal(issued('own'), ['provider-credentials', id, adapter, baseUrl]);
    const change = 'update provider_accounts set sealed_credentials = $2 where id = $1';
    for (const value of ['v1.other.x', own]) {
      await expect(attempt(change, id, value)).rejects.toMatchObject({ code: RESTRICTED });
    }
    await asSuperuser(payouts.db, { text: change, values: [id, own] });
    await expect(registry.findAccount(id)).rejects.toThrow('do not have the fingerprint of the account');
    await registry.close();
  });

  it('the row of an account has when it was last changed whose it is, or where it is', async () => {
    await setEnvironment(payouts.db, 'sandbox');
    const { rows } = await payouts.db.query<{ id: string }>(
      `insert into provider_accounts (id, provider, adapter, base_url, sealed_server_key)
       values (gen_random_uuid(), 'shopeepay', 'midtrans', 'http://127.0.0.1:9', 'v1.key.own') returning id`,
    );
    const id = rows[0]?.id;
    const isNoted = async (change: string) => {
      await asSuperuser(payouts.db, 'update provider_accounts set changed_at = null');
      await payouts.db.query(`update provider_accounts set ${change} where id = $1`, [id]);
      return (await payouts.db.query('select from provider_accounts where changed_at is not null')).rowCount === 1;
    };
    expect(await isNoted("base_url = 'https://own.test'")).toBe(true);
    expect(await isNoted("sealed_server_key = 'v1.key.other'")).toBe(true);
    expect(await isNoted("status = 'disabled'")).toBe(true);
    expect(await isNoted('calls_per_second = 7')).toBe(false);
    await setEnvironment(payouts.db, 'production');
  });

  it('an account is enabled only at the address that two operators have seen', async () => {
    const id = randomUUID();
    await attempt(ACCOUNT, id, 'proposed');
    const approve = (baseUrl: string) =>
      approved('account.create', 'gopay at https://api.midtrans.com', {
        account: id,
        adapter: 'midtrans',
        baseUrl,
        keyFingerprint: 'own',
        nmid: NMID,
      });
    const enable = () => attempt("update provider_accounts set status = 'enabled' where id = $1", id);
    await approve('https://api.midtrans.com');
    await expect(enable()).rejects.toMatchObject({ code: RESTRICTED });
    await approve('https://own.test');
    await enable();
    await asSuperuser(payouts.db, `update provider_accounts set status = 'disabled' where id = '${id}'`);
  });

  it('no account is enabled, and none gets another key', async () => {
    const id = randomUUID();
    await expect(attempt(ACCOUNT, id, 'enabled')).rejects.toMatchObject({ code: RESTRICTED });
    await attempt(ACCOUNT, id, 'proposed');
    await asSuperuser(
      payouts.db,
      "update provider_accounts set sealed_server_key = 'v1.key.ours' where provider = 'gopay'",
    );
    for (const change of [
      `status = 'enabled' where id = '${id}'`,
      "sealed_server_key = 'v1.key.own' where provider = 'gopay'",
      "key_fingerprint = 'own' where provider = 'gopay'",
      `nmid = '${NMID}' where provider = 'gopay' and nmid is null`,
      "sealed_credentials = 'own' where purpose = 'payouts'",
    ]) {
      const changed = attempt(`update provider_accounts set ${change}`);
      await expect(changed).rejects.toMatchObject({ code: RESTRICTED });
    }
  });
});

it('attack 1: an operator whose login is also a worker restores no payment as paid, and makes no member', async () => {
  const { terms } = await applyTransitions(ofPayments(payouts), []);
  const both = createPool(await urlOfOperator(payouts.database, 'worker_too'), { max: 1 });
  await payouts.db.query('grant lunas_worker to test_operator_worker_too');
  for (const statement of [
    `insert into payments select (jsonb_populate_record(payments, jsonb_build_object('id', gen_random_uuid(),
       'reference_id', 'LN-own', 'status', 'paid', 'version', 3))).* from payments where id = '${terms.paymentId}'`,
    `insert into members (merchant_id, user_id, role, invited_by, created_at)
     select '${payouts.merchantId}', gen_random_uuid(), 'owner', 'x', now()`,
  ]) {
    await expect(both.query(statement)).rejects.toMatchObject({ code: RESTRICTED });
  }
  await both.end();
});

describe('attack 1: a sealed value is replaced by another one', () => {
  const sealed = (binding: SealBinding, value: string) => createSealer(payouts.masterKey).seal(value, binding);
  const keyId = () => createSealer(payouts.masterKey).keys.current.id;

  /** The same key, then another one, and then there and back. The last value has the key id of the first. */
  async function expectUnchanged(table: string, column: string, id: string, own: string): Promise<void> {
    const change = `update ${table} set ${column} = $2 where ${table === 'payment_details' ? 'payment_id' : 'id'} = $1`;
    for (const value of [own, 'v1.00000000.AAAA', own, `v1.${keyId()}.AAAA`]) {
      await expect(attempt(change, id, value)).rejects.toMatchObject({ code: RESTRICTED });
    }
  }

  it.each(['pending_approval', 'active'] as const)(
    'the number and the holder of an account that is %s',
    async (status) => {
      await setEnvironment(payouts.db, 'sandbox');
      const { merchantId } = payouts;
      const id = await prepareBankAccount(payouts, merchantId, status);
      await setEnvironment(payouts.db, 'production');
      // It ends as the number that was approved, so that no page shows a difference.
      const own = sealed(['bank-account-number', id, merchantId, '014'], '6661117890');
      await expectUnchanged('bank_accounts', 'sealed_number', id, own);
      await expectUnchanged(
        'bank_accounts',
        'sealed_holder_name',
        id,
        sealed(['bank-account-holder', id], 'TOKO LAIN'),
      );
      await expect(attempt("update bank_accounts set number_hmac = 'own' where id = $1", id)).rejects.toMatchObject({
        code: DENIED,
      });
    },
  );

  it('the terms of a payout', async () => {
    await setEnvironment(payouts.db, 'sandbox');
    await addLines(payouts, [100_000]);
    const { payoutId } = await applyPayout(payouts, [], { by: { name: 'schedule' } });
    await setEnvironment(payouts.db, 'production');
    await expectUnchanged('payouts', 'sealed_terms', payoutId, sealed(['payout-terms', payoutId], '[]'));
  });

  it('the secret of an authenticator app', async () => {
    const user = await createMember(payouts.db, `${randomUUID()}@shop.test`, [[payouts.merchantId, 'owner']]);
    const { sealed: secret, hash } = fixValue(createSealer(payouts.masterKey), 'OWN', ['totp', user]);
    await payouts.db.query('update users set sealed_totp = $2, totp_hmac = $3 where id = $1', [user, secret, hash]);
    await expectUnchanged('users', 'sealed_totp', user, sealed(['totp', user], 'ANOTHER'));
    await expect(attempt('update users set sealed_totp = null where id = $1', user)).rejects.toMatchObject({
      code: '23514',
    });
    await expect(attempt("update users set totp_hmac = 'own' where id = $1", user)).rejects.toMatchObject({
      code: DENIED,
    });
  });

  it("a webhook secret, and a customer's data", async () => {
    const [endpoint, secret, payment] = [randomUUID(), randomUUID(), randomUUID()];
    await attempt(
      "insert into webhook_endpoints (id, merchant_id, url) values ($1, $2, 'https://shop.test')",
      endpoint,
      payouts.merchantId,
    );
    await attempt(
      'insert into webhook_secrets (id, endpoint_id, sealed_secret) values ($1, $2, $3)',
      secret,
      endpoint,
      sealed(['webhook-secret', secret], 'whsec_1'),
    );
    await expectUnchanged('webhook_secrets', 'sealed_secret', secret, sealed(['webhook-secret', secret], 'whsec_2'));
    await payouts.db.query("insert into payment_details (payment_id, fingerprint, sealed) values ($1, 'f', $2)", [
      payment,
      sealed(['payment-details', payment], '{}'),
    ]);
    await expectUnchanged(
      'payment_details',
      'sealed',
      payment,
      sealed(['payment-details', payment], '{"customer":{}}'),
    );
  });

  it('no value returns to a master key that is retired, also after a rotation that never was', async () => {
    const { merchantId, bankAccountId: id } = payouts;
    const retire = 'insert into retired_keys (key_id, label, sealed) values ($1, $2, $3)';
    await attempt(retire, keyId(), 'own', 'v1.00000000.AAAA');
    await attempt("update bank_accounts set sealed_number = 'v1.00000000.AAAA' where id = $1", id);
    await attempt(retire, '00000000', 'own', `v1.${keyId()}.AAAA`);
    const own = sealed(['bank-account-number', id, merchantId, '014'], '6661117890');
    await expect(attempt('update bank_accounts set sealed_number = $2 where id = $1', id, own)).rejects.toMatchObject({
      code: RESTRICTED,
    });
    await asSuperuser(payouts.db, "delete from retired_keys where label = 'own'");
  });

  it('the cool-down of a bank account does not end', async () => {
    for (const usableFrom of ["now() + interval '1 hour'", 'now()', 'null']) {
      await expect(attempt(`update bank_accounts set usable_from = ${usableFrom}`)).rejects.toMatchObject({
        code: RESTRICTED,
      });
    }
  });
});

describe('attack 2: one person is two', () => {
  const request = async (action: string, parameters: Readonly<Record<string, unknown>>): Promise<number> => {
    const { rows } = await attempt(
      `insert into approvals (action, target, parameters, note, requested_by) values ($1, 'x', $2, 'x', $3)
       returning id`,
      action,
      parameters,
      dewi,
    );
    return onlyRow<{ id: number }>(rows).id;
  };
  const decide = (id: number, status: string) =>
    attempt('update approvals set status = $2, decided_by = $3, decided_at = now() where id = $1', id, status, budi);

  it.each(['approved', 'executed'])('a request in the name of another operator does not become %s', async (status) => {
    const id = await request('catalog.set', { provider: 'gopay', channel: 'qris', feeBasisPoints: 0 });
    await expect(decide(id, status)).rejects.toMatchObject({ code: RESTRICTED });
    await expect(
      attempt(
        `insert into approvals (action, target, parameters, note, requested_by, requested_login)
         values ('catalog.set', 'x', '{}', 'x', $1, 'dewi')`,
        dewi,
      ),
    ).rejects.toMatchObject({ code: DENIED });
  });

  /** As the operator API writes it. @returns its id */
  async function requestThroughApi(requester: string): Promise<number> {
    const api = createPool(payouts.database.urlOf('lunas_local_api'), { max: 1 });
    const { rows } = await api.query<{ id: number }>(
      `insert into approvals (action, target, parameters, note, requested_by)
       values ('catalog.set', 'x', '{}', 'x', $1) returning id`,
      [requester],
    );
    await api.end();
    return onlyRow(rows).id;
  }

  it('a request of the own operator through the API is not decided by any name', async () => {
    const id = await requestThroughApi(eveId);
    for (const name of [eveId, dewi, budi]) {
      await expect(decideBy(eve, id, name)).rejects.toMatchObject({ code: RESTRICTED });
    }
  });

  const decideBy = (by: Pool, id: number, decider: string) =>
    by.query("update approvals set status = 'rejected', decided_by = $2, decided_at = now() where id = $1", [
      id,
      decider,
    ]);

  it('a request by another key of the same person is not decided', async () => {
    const other = createPool(await urlOfOperator(payouts.database, 'budi'), { max: 1 });
    for (const access of [{ login: 'test_operator_eve' }, { createdBy: eveId, login: 'test_operator_dewi' }]) {
      const key = { name: randomUUID(), environment: 'production', scopes: ['settle'], ...access } as const;
      const requester = await makeOld((await insertOperator(payouts.db, key)).id);
      const id = await requestThroughApi(requester);
      await expect(decideBy(eve, id, eveId)).rejects.toMatchObject({ code: RESTRICTED });
      expect(await decideBy(other, id, budi)).toMatchObject({ rowCount: 1 });
    }
    await other.end();
  });

  it('a key of no login is accepted only if it reads, and nothing that it requests is decided', async () => {
    const propose = (scopes: OperatorScope[]) =>
      insertOperator(eve, { name: randomUUID(), environment: 'production', scopes, isApproved: false });
    const accept = async ({ id, name, login }: Operator) => {
      await approved('operator.approve', name, { operator: id, login });
      return attempt('update operators set is_approved = true where id = $1', id);
    };
    await expect(accept(await propose(['read', 'settle']))).rejects.toMatchObject({
      code: RESTRICTED,
      message: expect.stringContaining('has no login'),
    });
    expect(await accept(await propose(['read']))).toMatchObject({ rowCount: 1 });
    const key = { name: randomUUID(), environment: 'production', scopes: ['settle'] } as const;
    const id = await requestThroughApi(await makeOld((await insertOperator(payouts.db, key)).id));
    await expect(decideBy(eve, id, eveId)).rejects.toMatchObject({ code: RESTRICTED });
  });

  it('no operator gets another login, or the key of another person', async () => {
    for (const column of ['login', 'secret_login']) {
      const changed = attempt(`update operators set ${column} = 'test_operator_eve'`);
      await expect(changed).rejects.toMatchObject({ code: DENIED });
    }
    const key = (id: string) => attempt("update operators set secret_sha256 = sha256('replaced') where id = $1", id);
    await expect(key(budi)).rejects.toMatchObject({ code: RESTRICTED });
    expect(await key(eveId)).toMatchObject({ rowCount: 1 });
  });

  it('a request with a key that this login has set is not decided', async () => {
    await asSuperuser(payouts.db, `update operators set secret_login = 'test_operator_eve' where id = '${budi}'`);
    const id = await requestThroughApi(budi);
    await expect(decideBy(eve, id, eveId)).rejects.toMatchObject({ code: RESTRICTED });
    await asSuperuser(payouts.db, `update operators set secret_login = 'test_operator_budi' where id = '${budi}'`);
    expect(await decideBy(eve, id, eveId)).toMatchObject({ rowCount: 1 });
  });

  it('the request of another login is decided, and has both logins', async () => {
    const id = await request('catalog.set', { provider: 'gopay', channel: 'qris', feeBasisPoints: 0 });
    const other = createPool(await urlOfOperator(payouts.database, 'budi'), { max: 1 });
    await decideBy(other, id, budi);
    await other.end();
    const { rows } = await attempt('select requested_login, decided_login from approvals where id = $1', id);
    expect(rows).toEqual([{ requested_login: 'test_operator_eve', decided_login: 'test_operator_budi' }]);
  });

  const key = (values: string) =>
    `insert into operators (id, name, secret_sha256, prefix, last_four, is_approved)
     values (gen_random_uuid(), 'mallory', sha256('own'), '', '', ${values})`;

  it.each([
    [
      'a policy',
      `insert into policies (id, provider, channel, version, fee_basis_points, fee_flat_rupiah, settlement_kind,
         settlement_delay_seconds, expires_in_seconds) values ('${ID}', 'gopay', 'qris', 9, 0, 0, 'automatic', 0, 60)`,
    ],
    [
      'a rule of approvals',
      'insert into approval_rules (action, item_rupiah, replaces_id) select action, 1e15, id from approval_rules',
    ],
    ['an operator', key('true')],
    ['an operator who was proposed', `${key('false')}; update operators set is_approved = true where name = 'mallory'`],
    ['the only operator', 'update operators set revoked_at = now()'],
    ['a limit of payouts', 'insert into payout_limits (cooldown_seconds) values (86400)'],
    [
      'a policy of payouts',
      `insert into payout_policies (rail, version, fee_rupiah, min_rupiah, opens_at, closes_at, days,
         expected_within_seconds, is_enabled) values ('bi_fast', 9, 0, 1, '00:00', '24:00', 'every', 60, true)`,
    ],
    [
      'another payer of the fee',
      "update merchants set fee_payer = case fee_payer when 'buyer' then 'merchant' else 'buyer' end",
    ],
    [
      'a rate',
      `insert into fee_schedules (id, class, version, valid_from, bands)
       values (gen_random_uuid(), 'UKE', 1, '2099-01-01', '[{"fromRupiah": 0, "basisPoints": 0}]')`,
    ],
    [
      'an agreed price',
      `insert into merchant_prices (id, merchant_id, version, valid_from, basis_points, flat_rupiah)
       select gen_random_uuid(), id, 1, '2099-01-01', 0, 0 from merchants`,
    ],
    ['the end of a hold', 'update merchants set held_at = now(); update merchants set held_at = null'],
    ['the end of a stop', "insert into payout_stops (is_stopped, changed_by, note) values (false, 'x', 'x')"],
    [
      'a bank account',
      "update bank_accounts set status = 'active', usable_from = now() where status = 'pending_approval'",
    ],
  ])('no statement makes %s', async (_, statement) => {
    await asSuperuser(
      payouts.db,
      `update bank_accounts set status = 'pending_approval' where id = '${payouts.bankAccountId}'`,
    );
    await expect(eve.query(statement)).rejects.toMatchObject({ code: RESTRICTED });
  });

  it('an operator is not made older, and none returns', async () => {
    await expect(attempt("insert into operators (created_at) values ('2020-01-01')")).rejects.toMatchObject({
      code: DENIED,
    });
    const eka = await addOperator('eka');
    await attempt('update operators set revoked_at = now() where id = $1', eka);
    for (const change of ['revoked_at = null', 'is_approved = false']) {
      await expect(attempt(`update operators set ${change} where id = $1`, eka)).rejects.toMatchObject({
        code: RESTRICTED,
      });
    }
  });

  it('no statement approves or sends a payout', async () => {
    await setEnvironment(payouts.db, 'sandbox');
    await addLines(payouts, [100_000, 200_000]);
    const { payoutId } = await applyPayout(payouts, [], { by: { name: 'schedule' } });
    await setEnvironment(payouts.db, 'production');
    for (const change of ["status = 'approved', approved_by = 'operator:budi'", 'send_count = 1']) {
      await expect(attempt(`update payouts set ${change} where id = $1`, payoutId)).rejects.toMatchObject({
        code: DENIED,
      });
    }
  });

  it('a new API key is a notice for the owners of its merchant', async () => {
    await attempt(
      `insert into api_keys (id, merchant_id, secret_sha256, prefix, last_four)
       values (gen_random_uuid(), $1, sha256('own'), '', '')`,
      payouts.merchantId,
    );
    const { rows } = await payouts.db.query('select kind from merchant_notices where merchant_id = $1', [
      payouts.merchantId,
    ]);
    expect(rows).toContainEqual({ kind: 'security.key_created' });
  });
});

describe('attack 2: one person signs in as a member of a merchant', () => {
  let owner: string;
  beforeEach(async () => {
    owner = await createMember(payouts.db, `${randomUUID()}@toko.example`, [[payouts.merchantId, 'owner']]);
  });

  /** In the name of an owner, where the kind has that. */
  const LINKS: readonly (readonly [string, string, string])[] = [
    ['reset', 'user_id, merchant_id, created_by', "$3::uuid, $4::uuid, 'user:' || $3::uuid"],
    ['development', 'user_id, created_by', "$3::uuid, 'operator:' || $4::uuid"],
    ['invitation', 'email, role, merchant_id, created_by', "'eve@own.test', 'owner', $4::uuid, 'user:' || $3::uuid"],
  ];

  it.each(LINKS)('no statement makes a link of the kind %s valid', async (kind, columns, values) => {
    const link = (id: string, expiresAt: string) =>
      attempt(
        `insert into sign_in_links (realm, kind, id, token_sha256, created_at, expires_at, ${columns})
         values ('merchant', $1, $2, sha256(gen_random_uuid()::text::bytea), now(), '${expiresAt}', ${values})`,
        kind,
        id,
        owner,
        payouts.merchantId,
      );
    await expect(link(randomUUID(), '2999-01-01')).rejects.toMatchObject({ code: RESTRICTED });
    const id = randomUUID();
    await link(id, '2020-01-01');
    await expect(attempt("update sign_in_links set expires_at = '2999-01-01' where id = $1", id)).rejects.toMatchObject(
      { code: RESTRICTED },
    );
  });

  it('an approval is only for the user whom it names, and for the token of its request', async () => {
    const other = await createMember(payouts.db, `${randomUUID()}@toko.example`, [[payouts.merchantId, 'viewer']]);
    const extend = async (user: string, hashOf: (own: Buffer) => Buffer = (own) => own) => {
      const { tokenSha256 } = createSignInToken('link');
      const linkId = randomUUID();
      await attempt(
        `insert into sign_in_links (realm, kind, id, token_sha256, created_at, expires_at, user_id, created_by)
         values ('merchant', 'reset', $1, $2, now(), '2020-01-01', $3, 'operator:eve')`,
        linkId,
        tokenSha256,
        owner,
      );
      await approved('user.reset', user, { linkId, user, tokenSha256: hashOf(tokenSha256).toString('hex') });
      return attempt("update sign_in_links set expires_at = '2999-01-01' where id = $1", linkId);
    };
    await expect(extend(other)).rejects.toMatchObject({ code: RESTRICTED });
    await expect(extend(owner, () => createSignInToken('link').tokenSha256)).rejects.toMatchObject({
      code: RESTRICTED,
    });
    expect(await extend(owner)).toMatchObject({ rowCount: 1 });
  });

  it('no statement makes a member or a session', async () => {
    await expect(
      attempt(
        `insert into members (merchant_id, user_id, role, invited_by, created_at)
         select $1, user_id, 'owner', 'x', now() from members limit 1`,
        payouts.merchantId,
      ),
    ).rejects.toMatchObject({ code: RESTRICTED });
    await expect(attempt('insert into sessions (id) values (gen_random_uuid())')).rejects.toMatchObject({
      code: DENIED,
    });
  });
});

describe('attack 2: one person has a key of a merchant', () => {
  const KEY = `insert into api_keys (id, merchant_id, secret_sha256, prefix, last_four, scopes, created_by,
      allowed_networks, expires_at)
    values ($1, $2, $3, 'sk_live_', 'abcd', $4, 'operator:eve', $5, $6)`;
  const ENDPOINT = 'insert into webhook_endpoints (id, merchant_id, url, events, expand) values ($1, $2, $3, $4, $5)';
  const SECRET = `insert into webhook_secrets (id, endpoint_id, sealed_secret, expires_at)
    values ($1, $2, 'v1.own.x', $3)`;
  const secretSha256 = createHash('sha256')
    .update(ID + 'key')
    .digest();
  const byMember = () => createMember(payouts.db, `${randomUUID()}@toko.example`, [[payouts.merchantId, 'owner']]);

  it('makes no key of a merchant with a member, but that of an approval', async () => {
    const { merchantId } = payouts;
    const insert = (scopes: string[], networks: string[], expiresAt: string | null) =>
      attempt(KEY, randomUUID(), merchantId, secretSha256, scopes, networks, expiresAt);
    const allowedNetworks = ['203.0.113.7', '10.1.2.3/16'];
    const [networks, expiresAt] = [['10.1.0.0/16', '203.0.113.7/32'], '2099-01-01T00:00:00.000Z'];
    await byMember();
    await expect(insert(['read'], networks, expiresAt)).rejects.toMatchObject({ code: RESTRICTED });
    const passedOn = { secretSha256: secretSha256.toString('hex') };
    const request = { merchant: merchantId, scopes: ['read'], allowedNetworks, expiresAt, passedOn };
    await approved('key.create', merchantId, request);
    await expect(insert(['read', 'refund'], networks, expiresAt)).rejects.toMatchObject({ code: RESTRICTED });
    await expect(insert(['read'], [], expiresAt)).rejects.toMatchObject({ code: RESTRICTED });
    await expect(insert(['read'], networks, null)).rejects.toMatchObject({ code: RESTRICTED });
    await insert(['read'], networks, expiresAt);
  });

  it('registers and moves no endpoint of a merchant with a member, but as approved', async () => {
    const { merchantId } = payouts;
    const id = randomUUID();
    const insert = (url: string, events: string[] | null = null, expand: string[] = [], endpointId = id) =>
      attempt(ENDPOINT, endpointId, merchantId, url, events, expand);
    const move = (url: string) => attempt('update webhook_endpoints set url = $2 where id = $1', id, url);
    await byMember();
    await expect(insert('https://own.test/')).rejects.toMatchObject({ code: RESTRICTED });
    const url = 'https://toko.example/';
    await approved('webhook.create', merchantId, { id, merchant: merchantId, url, events: [], expand: [] });
    await expect(insert('https://own.test/')).rejects.toMatchObject({ code: RESTRICTED });
    await expect(insert(url, ['payment.paid'])).rejects.toMatchObject({ code: RESTRICTED });
    await expect(insert(url, null, ['customer'])).rejects.toMatchObject({ code: RESTRICTED });
    await expect(insert(url, null, [], randomUUID())).rejects.toMatchObject({ code: RESTRICTED });
    await insert(url);
    await expect(move('https://own.test/')).rejects.toMatchObject({ code: RESTRICTED });
    await approved('webhook.set', id, { endpoint: id, url: 'https://toko.example/2' });
    await expect(move('https://own.test/')).rejects.toMatchObject({ code: RESTRICTED });
    await move('https://toko.example/2');
    for (const change of ["events = '{payment.paid}'", "expand = '{customer}'"]) {
      const changed = attempt(`update webhook_endpoints set ${change} where id = $1`, id);
      await expect(changed).rejects.toMatchObject({ code: RESTRICTED });
    }
    await approved('webhook.set', id, { endpoint: id, events: ['payment.paid', 'payment.settled'] });
    await attempt("update webhook_endpoints set events = '{payment.settled,payment.paid}' where id = $1", id);
    const end = "update webhook_endpoints set status = 'disabled', disabled_reason = 'manual', deleted_at = now()";
    await attempt(`${end} where id = $1`, id);
    await expect(attempt('update webhook_endpoints set deleted_at = null where id = $1', id)).rejects.toMatchObject({
      code: RESTRICTED,
    });
  });

  it('signs no webhook of a merchant with a member with another secret, but that of an approval', async () => {
    const { merchantId } = payouts;
    const id = randomUUID();
    await attempt(ENDPOINT, id, merchantId, 'https://toko.example/', null, []);
    const propose = async () => {
      const secret = randomUUID();
      await attempt(SECRET, secret, id, '-infinity');
      return secret;
    };
    const accept = (secret: string) => attempt('update webhook_secrets set expires_at = null where id = $1', secret);
    await byMember();
    for (const expiresAt of [null, '2999-01-01']) {
      await expect(attempt(SECRET, randomUUID(), id, expiresAt)).rejects.toMatchObject({ code: RESTRICTED });
    }
    const [own, other] = [await propose(), await propose()];
    await expect(accept(own)).rejects.toMatchObject({ code: RESTRICTED });
    await approved('webhook.rotate_secret', id, { endpoint: id, overlapSeconds: 0, secretId: other });
    await expect(accept(own)).rejects.toMatchObject({ code: RESTRICTED });
    const countNotices = async () => {
      const { rows } = await payouts.db.query<{ count: number }>(
        "select count from merchant_notices where target_id = $1 and kind = 'security.webhook_changed'",
        [id],
      );
      return onlyRow(rows).count;
    };
    // The registration of the endpoint.
    expect(await countNotices()).toBe(1);
    expect(await accept(other)).toMatchObject({ rowCount: 1 });
    expect(await countNotices()).toBe(2);
  });

  it('the endpoint of an approval has one secret of its own', async () => {
    const { merchantId } = payouts;
    const [id, url] = [randomUUID(), 'https://toko.example/'];
    await byMember();
    await approved('webhook.create', merchantId, { id, merchant: merchantId, url, events: [], expand: [] });
    await attempt(ENDPOINT, id, merchantId, url, null, []);
    await attempt(SECRET, randomUUID(), id, null);
    await expect(attempt(SECRET, randomUUID(), id, null)).rejects.toMatchObject({ code: RESTRICTED });
  });
});

describe('attack 2: one person invites, and waits until the merchant has money', () => {
  let dashboard: Pool;
  let token: string;
  let tokenSha256: string;
  let link: { readonly id: string; readonly merchantId: string; readonly email: string; readonly role: 'owner' };
  beforeAll(() => {
    dashboard = createPool(payouts.database.urlOf('lunas_local_dashboard'), { max: 1 });
  });
  afterAll(() => dashboard.end());
  beforeEach(() => {
    link = { id: randomUUID(), merchantId: payouts.merchantId, email: 'eve@own.test', role: 'owner' };
  });

  const invite = (createdBy: string, expiresAt: string) => {
    const created = createSignInToken('link');
    token = created.token;
    tokenSha256 = created.tokenSha256.toString('hex');
    return attempt(
      `insert into sign_in_links (realm, kind, id, token_sha256, created_at, expires_at, created_by, merchant_id,
         email, role)
       values ('merchant', 'invitation', $1, $2, now(), '${expiresAt}', $3, $4, $5, $6)`,
      link.id,
      created.tokenSha256,
      createdBy,
      link.merchantId,
      link.email,
      link.role,
    );
  };
  const isOpen = () => readInvitation(dashboard, token, new Date()).then(Boolean, () => false);
  const use = () => dashboard.query('update sign_in_links set used_at = now() where id = $1', [link.id]);
  const addOwner = () => createMember(payouts.db, `${randomUUID()}@toko.example`, [[link.merchantId, 'owner']]);
  const extend = () => attempt("update sign_in_links set expires_at = '2999-01-01' where id = $1", link.id);

  it('the invitation of a first member is for 72 hours, and ends when there is one', async () => {
    await invite('operator:eve', '2999-01-01');
    await extend();
    const { rows } = await attempt(
      `select expires_at <= clock_timestamp() + interval '72 hours' as "isShort" from sign_in_links where id = $1`,
      link.id,
    );
    expect([rows, await isOpen()]).toEqual([[{ isShort: true }], true]);
    await addOwner();
    expect(await isOpen()).toBe(false);
    await expect(use()).rejects.toMatchObject({ code: RESTRICTED });
  });

  it('an operator writes no invitation in the name of a user', async () => {
    await expect(invite(`user:${randomUUID()}`, '2999-01-01')).rejects.toMatchObject({ code: RESTRICTED });
  });

  it('two operators invite once the merchant has a payment, also beside its members', async () => {
    await applyTransitions(ofPayments(payouts), [], { merchantId: link.merchantId });
    await expect(invite('operator:eve', '2999-01-01')).rejects.toMatchObject({ code: RESTRICTED });
    await invite('operator:eve', '2020-01-01');
    await expect(extend()).rejects.toMatchObject({ code: RESTRICTED });
    const { id: linkId, merchantId: merchant, ...person } = link;
    const request = { linkId, merchant, ...person };
    const another = createSignInToken('link').tokenSha256.toString('hex');
    await approved('user.invite', merchant, { ...request, tokenSha256: another });
    await expect(extend()).rejects.toMatchObject({ code: RESTRICTED });
    await approved('user.invite', merchant, { ...request, tokenSha256 });
    await extend();
    await addOwner();
    expect(await isOpen()).toBe(true);
    expect(await use()).toMatchObject({ rowCount: 1 });
  });
});

describe('attack 3: a payment without money', () => {
  const WHAT_MAKES_MONEY: readonly (readonly [string, string, string?])[] = [
    ['a settled payment', "update payments set status = 'settled', version = 4 where id = $1", DENIED],
    ['a paid payment', "update payments set status = 'paid', version = 3 where id = $1", DENIED],
    [
      'another settled payment',
      `insert into payments select (jsonb_populate_record(payments, '{"id": "${ID}", "reference_id": "LNOWN",
         "status": "settled", "version": 4}')).* from payments where id = $1`,
    ],
    [
      'a paid payment that its worker settles',
      `insert into payments select (jsonb_populate_record(payments, '{"id": "${ID}", "reference_id": "LNOWN",
         "status": "created", "version": 1, "paid_at": "2026-01-01", "settlement_due_at": "2026-01-02"}')).*
       from payments where id = $1`,
    ],
    [
      'the transitions',
      `insert into payment_transitions (payment_id, version, name, from_status, to_status, occurred_at, actor)
       values ($1, 3, 'pay', 'pending', 'paid', now(), 'workflow')`,
    ],
  ];

  it('a payment without money is not written, has no balance and is not paid out', async () => {
    const { terms } = await applyTransitions(ofPayments(payouts), ['issue']);
    const { paymentId } = terms;
    for (const [name, statement, code = RESTRICTED] of WHAT_MAKES_MONEY) {
      const outcome = await attempt(statement, paymentId).catch((error: unknown) => error);
      expect({ name, outcome }).toMatchObject({ name, outcome: { code } });
    }
    const posting = `insert into ledger_postings
      (payment_id, payment_version, late_payment_step, merchant_id, occurred_at)
      values ($1, $2, $3, $4, now()) returning id`;
    const booked = (version: number | null, step: string | null) =>
      attempt(
        `with posting as (${posting})
         insert into ledger_entries select id, line, account, side, 49650 from posting,
           (values (1, 'suspense', 'debit'), (2, 'merchant_available', 'credit')) entry (line, account, side)`,
        paymentId,
        version,
        step,
        payouts.merchantId,
      );
    await expect(booked(2, null)).rejects.toMatchObject({ code: DENIED });
    await expect(booked(null, 'refund_manually')).rejects.toMatchObject({ code: DENIED });
    expect(await getBalance(payouts.db, payouts.merchantId)).toMatchObject({ availableRupiah: 0 });
    await expect(applyPayout(payouts, [])).rejects.toThrow('The request is rejected');
  });
});

const amountsOf = (totalRupiah: number) => ({
  totalRupiah,
  amountRupiah: totalRupiah,
  netRupiah: totalRupiah,
  feeRupiah: 0,
});

describe('attack 3: one person settles or refunds', () => {
  const REJECTED = ['issue', 'pay', 'request_refund', 'submit_refund', 'fail_refund'] as const;

  /** A payment after these transitions, and the step of its workflow that an operator has requested. */
  async function prepareStep(
    path: Parameters<typeof applyTransitions>[1],
    step: typeof settlePayment,
    totalRupiah: number,
  ) {
    const changes = { ...amountsOf(totalRupiah), settlementKind: 'manual' } as const;
    const { terms } = await applyTransitions(ofPayments(payouts), path, changes);
    const state = await readState(payouts.db, terms.paymentId);
    const acquirer = new FakeAcquirer();
    await acquirer.issueQris({ ...terms, createdAt: T0, expiresAt: T0 });
    acquirer.pay(terms.referenceId);
    const dependencies = activityDependencies({ ...payouts.paymentContext, db: worker }, acquirer);
    const request = { terms, state, atMs: Date.now(), createdAtMs: T0.getTime() };
    return { terms, state, attemptStep: () => new MockActivityEnvironment().run(() => step(dependencies, request)) };
  }

  let worker: Pool;
  beforeAll(() => {
    worker = createPool(payouts.database.urlOf('lunas_local_worker'), { max: 1 });
  });
  afterAll(() => worker.end());

  const REJECTION = 'The right people have not approved it.';
  const REJECTED_STEP = { rejection: REJECTION, attentionReason: REJECTION };

  it.each([
    ['payment.settle', ['issue', 'pay'], settlePayment, 5_000_001],
    ['refund.resolve_as_refunded', REJECTED, resolveRefundAsRefunded, 50_000],
    ['refund.resolve_as_paid', REJECTED, resolveRefundAsPaid, 50_000],
  ] as const)('one person neither settles nor refunds by Temporal: %s', async (action, path, step, totalRupiah) => {
    const { terms, state, attemptStep } = await prepareStep(path, step, totalRupiah);
    const { paymentId, referenceId } = terms;
    const { version } = state;
    expect(await attemptStep()).toEqual({ state, ...REJECTED_STEP });
    await approved(action, 'LN0', { payment: paymentId }, version);
    expect(await attemptStep()).toEqual({ state, ...REJECTED_STEP });
    await approved(action, referenceId, { payment: paymentId }, version);
    expect(await attemptStep()).toMatchObject({ state: { version: version + 1 } });
  });

  it('one person settles by Temporal only what was counted, with its amount', async () => {
    const { terms, state, attemptStep } = await prepareStep(['issue', 'pay'], settlePayment, 50_000);
    const { paymentId, merchantId } = terms;
    const act = { action: 'payment.settle', target: paymentId, merchant_id: merchantId };
    expect(await attemptStep()).toEqual({ state, ...REJECTED_STEP });
    await begin({ ...act, amount_rupiah: 1 });
    await begin({ ...act, amount_rupiah: 50_000, merchant_id: randomUUID() });
    await begin({ ...act, amount_rupiah: 50_000, target: randomUUID() });
    expect(await attemptStep()).toEqual({ state, ...REJECTED_STEP });
    await begin({ ...act, amount_rupiah: 50_000 });
    expect(await attemptStep()).toMatchObject({ state: { version: state.version + 1 } });
  });

  it('one person books only that late payment as refunded that was counted', async () => {
    const path = await applyTransitions(ofPayments(payouts), ['issue', 'expire']);
    const { merchantId, referenceId } = path.terms;
    await payLate(ofPayments(payouts), path, 50_000, 'manual_review');
    const [exception] = await listExceptionsOf(payouts.db, referenceId);
    const exceptionId = exception?.id ?? '';
    const refund = { exceptionId, at: new Date(), operator: 'operator:eve', note: 'sent back' } as const;
    await expect(refundLatePaymentManually(eve, refund)).rejects.toMatchObject({ code: RESTRICTED });
    const act = { action: 'exception.resolve_as_refunded', target: exceptionId, merchant_id: merchantId };
    await begin({ ...act, amount_rupiah: 50_000 });
    expect(await refundLatePaymentManually(eve, refund)).toBe(true);
  });

  it('acts of one login are those of one person, in any name and with any approval', async () => {
    const begun: unknown[] = [];
    for (const operator of [eveId, dewi, budi, dewi, budi, dewi]) {
      const act = { operator_id: operator, actor: randomUUID(), merchant_id: randomUUID(), approval_id: 1_000_000 };
      const { rows } = await begin({ ...act, action: 'payment.settle', target: 'x', amount_rupiah: 4_900_000 });
      begun.push(rows[0]?.id);
    }
    const id = expect.any(Number);
    expect(begun).toEqual([id, id, id, id, id, null]);
  });

  it('an approval of an earlier failure of the refund does not refund by Temporal', async () => {
    const { terms, state, attemptStep } = await prepareStep(REJECTED, resolveRefundAsPaid, 50_000);
    const { paymentId, referenceId } = terms;
    await approved('refund.resolve_as_paid', referenceId, { payment: paymentId }, state.version - 3);
    expect(await attemptStep()).toEqual({ state, ...REJECTED_STEP });
  });

  it('SQL neither books a late payment as refunded nor opens it again', async () => {
    const path = await applyTransitions(ofPayments(payouts), ['issue', 'expire']);
    const { paymentId, referenceId } = path.terms;
    await payLate(ofPayments(payouts), path, 5_000_001, 'manual_review');
    for (const isManual of [true, false]) {
      const refunded = attempt(
        "update late_payments set status = 'refunded', is_manual = $2 where payment_id = $1",
        paymentId,
        isManual,
      );
      await expect(refunded).rejects.toMatchObject({ code: RESTRICTED });
    }
    const posted = attempt(
      `insert into ledger_postings (payment_id, late_payment_step, merchant_id, occurred_at)
       values ($1, 'refund_manually', $2, now())`,
      paymentId,
      payouts.merchantId,
    );
    await expect(posted).rejects.toMatchObject({ code: DENIED });

    const [exception] = await listExceptionsOf(payouts.db, referenceId);
    const exceptionId = exception?.id ?? '';
    const refund = { exceptionId, at: new Date(), operator: 'operator:eve', note: 'sent back' } as const;
    await expect(refundLatePaymentManually(eve, refund)).rejects.toMatchObject({ code: RESTRICTED });
    const reopen = "update late_payments set status = 'received', finished_at = null where payment_id = $1";
    await expect(attempt(reopen, paymentId)).rejects.toMatchObject({ code: RESTRICTED });
    await approved('exception.resolve_as_refunded', exceptionId, { exception: exceptionId });
    expect(await refundLatePaymentManually(eve, refund)).toBe(true);
    const worker = createPool(payouts.database.urlOf('lunas_local_worker'), { max: 1 });
    await expect(worker.query(reopen, [paymentId])).rejects.toMatchObject({ code: RESTRICTED });
    await worker.end();
  });
});

it('attack 3: an archived payment does not return', async () => {
  const { terms } = await applyTransitions(ofPayments(payouts), []);
  const archived = { id: randomUUID(), reference_id: 'LNARCHIVED' };
  await asSuperuser(payouts.db, {
    text: `insert into archived_payments (payment_id, reference_id, merchant_id, batch_id, received_money)
      values ($1, $2, $3, 0, true)`,
    values: [archived.id, archived.reference_id, payouts.merchantId],
  });
  for (const same of [{ id: archived.id }, { reference_id: archived.reference_id }]) {
    await expect(restore(terms.paymentId, same)).rejects.toMatchObject({
      code: RESTRICTED,
      message: expect.stringContaining('is archived'),
    });
  }
});

it('attack 4: payments that are removed without a file leave their hash and the login in the audit log', async () => {
  const { terms } = await applyTransitions(ofPayments(payouts), ['issue', 'pay', 'settle']);
  const { paymentId } = terms;
  await asSuperuser(
    payouts.db,
    `update payments set updated_at = now() - interval '8 days' where id = '${paymentId}'`,
    `update payment_transitions set recorded_at = now() - interval '8 days' where payment_id = '${paymentId}'`,
    `update webhook_events set occurred_at = now() - interval '8 days' where payment_id = '${paymentId}'`,
    // The archive takes only what is invoiced.
    `insert into fee_periods (month, part, up_to_posting_id, issued_at)
     values (date_trunc('month', booking_day(now())), 1, (select max(id) from ledger_postings), now())`,
  );
  const { rows } = await attempt(
    'select payment_document(payments)::text as line from payments where id = $1',
    paymentId,
  );
  await attempt(`insert into ledger_verifications (is_full, recorded_until, posting_id, balances)
    values (true, now(), 1000000, '[]')`);
  await attempt(
    `with file as (
      insert into archive_files (day, completed_at, sha256, path)
      values ('2026-01-01', now(), sha256('no file'), '/none') returning id
    )
    insert into archive_batches (file_id, number, payment_count, created_from, created_to, sha256)
    select id, number, 1, now(), now(), hash
    from file, (values (1, sha256('own')), (2, sha256(convert_to($1, 'utf8')))) as own (number, hash)`,
    `${rows[0]?.line}\n`,
  );
  const remove = 'select archive_payments(array[$1::uuid], (select id from archive_batches where number = $2))';
  await expect(attempt(remove, paymentId, 1)).rejects.toMatchObject({ code: RESTRICTED });
  await attempt(remove, paymentId, 2);

  const removal = await payouts.db.query(
    `select action.detail::jsonb as detail, via, login, outcome from operator_actions action
     join audit_chain chain on chain.kind = 'action' and chain.action_id = action.id
     join operator_action_outcomes outcome on outcome.action_id = action.id where action = 'archive.remove'`,
  );
  const sha256 = createHash('sha256').update(`${rows[0]?.line}\n`).digest('hex');
  expect(removal.rows).toEqual([
    { detail: { payments: 1, sha256 }, via: 'database', login: 'test_operator_eve', outcome: 'succeeded' },
  ]);
});

it('attack 5: an action in the name of another operator has the login that wrote it', async () => {
  const { rows } = await attempt(
    'select id from begin_operator_action(jsonb_populate_record(null::operator_actions, $1), false)',
    JSON.stringify({ actor: 'operator:budi', via: 'cli', operator_id: budi, action: 'account.create', target: 'x' }),
  );
  const entry = await payouts.db.query("select login from audit_chain where kind = 'action' and action_id = $1", [
    rows[0]?.id,
  ]);
  expect(entry.rows).toEqual([{ login: 'test_operator_eve' }]);
  expect((await verifyAudit(payouts.db)).breaks).toEqual([]);
  await asSuperuser(payouts.db, `update audit_chain set login = 'budi' where action_id = ${rows[0]?.id}`);
  expect((await verifyAudit(payouts.db)).breaks).toContainEqual({ kind: 'changed', row: `action ${rows[0]?.id}` });
});
