import { randomBytes, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { parseOperatorKey } from '../../src/crypto/secret-key';
import { createPool, type Pool } from '../../src/db/connection/pool';
import { openException } from '../../src/db/operations/open-exception';
import { transitionWriters } from '../../src/db/transitions/payment-transitions';
import { operatorIdOf, type OperatorActor } from '../../src/domain/actor';
import { listApprovalRules } from '../../src/services/approvals/approval-rules';
import type { WorkflowNeeds } from '../../src/services/approvals/approvals';
import { beginAction } from '../../src/services/audit/audit';
import { listActions } from '../../src/services/audit/list-actions';
import { listApprovals } from '../../src/services/audit/list-approvals';
import { approvalRequired, storeApproval } from '../../src/services/audit/request-approval';
import { verifyAudit } from '../../src/services/audit/verify-audit';
import { readInvitation, readReset } from '../../src/services/identity/members';
import { findOperator, insertOperator } from '../../src/services/identity/operators';
import { changeMerchant, findMerchant } from '../../src/services/merchants/merchants';
import { releaseMerchant } from '../../src/services/merchants/release-merchant';
import type { PaymentActionDependencies } from '../../src/services/payments/actions/operator-action';
import { performPaymentAction } from '../../src/services/payments/actions/perform-action';
import { resolveRefundAsPaid, resolveRefundAsRefunded } from '../../src/services/payments/actions/resolve-refund';
import { settlePayment } from '../../src/services/payments/actions/settle-payment';
import { listExceptions } from '../../src/services/payments/exceptions';
import { listPolicies } from '../../src/services/provider-accounts/catalog';
import { runLunas } from '../cli/run-lunas';
import { applyTransitions, payLate } from '../services/ledger/transition-path';
import { operatorOf } from '../support/actors';
import { approve, reject, type Executors } from '../support/approve';
import { asSuperuser } from '../support/backdate';
import { createProductionDatabase, type TestDatabase } from '../support/database';
import { NOTHING_TO_SEAL } from '../support/deciding';
import { endOperatorKey } from '../support/keys';
import { NO_WORKFLOWS } from '../support/no-workflows';
import { createTestLedger, type TestLedger } from '../support/payments';
import { createMember, createShop } from '../support/people';
import { createOperatorWithLogin, urlOfOperator } from '../support/production';
import { resolveByOperator } from '../support/resolve-exception';

/* In production, one operator alone moves no money and changes no rule that moves money. */

let database: TestDatabase;
let db: Pool;
let dewi: Member;
let budi: Member;

const MASTER_KEY = randomBytes(32).toString('base64');

interface Member {
  readonly actor: OperatorActor;
  readonly secret: string;
  readonly lunas: (...args: readonly string[]) => ReturnType<typeof runLunas>;
}

beforeEach(async () => {
  database = await createProductionDatabase();
  db = createPool(database.url, { max: 8 });
  dewi = await addMember('dewi');
  budi = await addMember('budi');
});
afterEach(async () => {
  await db.end();
  await database.drop();
});

async function addMember(name: string): Promise<Member> {
  const { id, secret } = await createOperatorWithLogin(database, db, name);
  await db.query("update operators set created_at = now() - interval '1 day' where id = $1", [id]);
  return { actor: operatorOf({ id, name }), secret, lunas: await withKey(name, secret) };
}

async function withKey(name: string, secret: string): Promise<Member['lunas']> {
  const environment = {
    DATABASE_URL: await urlOfOperator(database, name),
    LUNAS_OPERATOR_KEY: secret,
    LUNAS_MASTER_KEY: MASTER_KEY,
    SERVER_KEY: 'Mid-server-1',
  };
  return (...args) => runLunas([...args, '--note', 'contract 12', '--json'], environment);
}

const SET_FEE = ['catalog', 'set', '--provider', 'gopay', '--channel', 'qris', '--fee-bps', '0'];

async function feesOf(provider: string): Promise<number[]> {
  const policies = await listPolicies(db);
  return policies.filter((policy) => policy.provider === provider).map(({ feeBasisPoints }) => feeBasisPoints);
}

/** @throws ConflictError `approval_required` */
async function askForSettlement(actor: OperatorActor, amountRupiah: number): Promise<void> {
  const request = {
    action: 'payment.settle',
    target: 'LN1',
    parameters: { payment: 'LN1' },
    amountRupiah,
    replaces: 3,
  };
  throw approvalRequired(await storeApproval({ db }, actor, request));
}

const rejectedFor = (reason: RegExp) => ({ exitCode: 1, stderr: expect.stringMatching(reason) });

/** Requests a link that resets a login. */
async function requestReset(userId: string) {
  const { exitCode, stdout } = await dewi.lunas('users', 'reset', userId);
  expect(exitCode).toBe(0);
  const { reset, approval_id: approvalId } = z
    .object({ reset: z.object({ link: z.string(), expires_at: z.null() }), approval_id: z.number() })
    .parse(JSON.parse(stdout));
  const token = reset.link.split('/').at(-1) ?? '';
  const isValid = (at = new Date()) => readReset(db, token, at).then(Boolean, () => false);
  return { token, isValid, approvalId: String(approvalId) };
}

it('the link that resets a login opens nothing before a second operator approves it', async () => {
  const userId = await createMember(db, 'sri@toko.example');
  const { token, isValid, approvalId } = await requestReset(userId);
  expect(await isValid()).toBe(false);
  expect(await dewi.lunas('approvals', 'approve', approvalId)).toMatchObject(rejectedFor(/another operator/));
  expect(await isValid()).toBe(false);
  const { rows: requests } = await db.query<{ text: string }>('select approvals::text as text from approvals');
  expect(requests.filter(({ text }) => text.includes(token))).toEqual([]);
  expect(await budi.lunas('approvals', 'approve', approvalId)).toMatchObject({ exitCode: 0 });
  expect([await isValid(), await isValid(new Date(Date.now() + 3_600_000))]).toEqual([true, false]);
  const { rows } = await db.query('select created_by from sign_in_links');
  expect(rows).toEqual([{ created_by: 'operator:dewi' }]);
});

it('a reset link replaces an earlier one when it is approved, and only then', async () => {
  const userId = await createMember(db, 'sri@toko.example');
  const [first, second] = [await requestReset(userId), await requestReset(userId)];
  await budi.lunas('approvals', 'approve', first.approvalId);
  expect([await first.isValid(), await second.isValid()]).toEqual([true, false]);
  await budi.lunas('approvals', 'approve', second.approvalId);
  expect([await first.isValid(), await second.isValid()]).toEqual([false, true]);
});

it('an operator invites the first member of a merchant alone, and the others with a second operator', async () => {
  const { id: merchantId } = await createShop(db);
  const invite = async (email: string) => {
    const args = ['users', 'invite', '--merchant', merchantId, '--email', email, '--role', 'owner'];
    const { invitation, approval_id: approvalId } = z
      .object({ invitation: z.object({ link: z.string() }), approval_id: z.number().optional() })
      .parse(JSON.parse((await dewi.lunas(...args)).stdout));
    const token = invitation.link.split('/').at(-1) ?? '';
    return { approvalId, isValid: () => readInvitation(db, token, new Date()).then(Boolean, () => false) };
  };
  const first = await invite('sri@toko.example');
  expect([first.approvalId, await first.isValid()]).toEqual([undefined, true]);
  await createMember(db, 'sri@toko.example', [[merchantId, 'owner']]);
  const { approvalId, isValid } = await invite('Eka@toko.example');
  expect(await isValid()).toBe(false);
  expect(await budi.lunas('approvals', 'approve', String(approvalId))).toMatchObject({ exitCode: 0, stderr: '' });
  expect(await isValid()).toBe(true);
});

it('a catalog change is executed by the approval of a second operator, and the audit log has both names', async () => {
  const before = await feesOf('gopay');
  expect(await dewi.lunas(...SET_FEE)).toMatchObject(rejectedFor(/^error: [^\n]*lunas approvals approve 1 [^\n]*\n$/));
  expect(await feesOf('gopay')).toEqual(before);

  expect(await listApprovals(db, { onlyOpen: true, limit: 9 })).toEqual([
    expect.objectContaining({
      action: 'catalog.set',
      target: 'gopay qris',
      parameters: { provider: 'gopay', channel: 'qris', feeBasisPoints: 0 },
      requestedBy: 'dewi',
      note: 'contract 12',
      status: 'pending',
    }),
  ]);
  expect(await dewi.lunas('approvals', 'approve', '1')).toMatchObject(rejectedFor(/another operator/));
  expect(await feesOf('gopay')).toEqual(before);

  const approved = await budi.lunas('approvals', 'approve', '1');
  expect({ ...approved, stdout: JSON.parse(approved.stdout) }).toMatchObject({
    exitCode: 0,
    stdout: { approval: { status: 'executed', requested_by: 'dewi', decided_by: 'budi' } },
  });
  expect(await feesOf('gopay')).toEqual([0]);
  const change = (await listActions(db, { limit: 20 })).find(({ action }) => action === 'catalog.set');
  const [, parameters = ''] = change?.detail?.split('approval 1, requested by operator:dewi ') ?? [];
  expect(change?.actor).toBe('operator:budi');
  expect(JSON.parse(parameters)).toEqual({ provider: 'gopay', channel: 'qris', feeBasisPoints: 0 });
  expect((await verifyAudit(db)).breaks).toEqual([]);
  expect(await budi.lunas('approvals', 'approve', '1')).toMatchObject(rejectedFor(/executed already/));
});

it('the payer of the fee of a merchant is changed by two operators, and its other settings by one', async () => {
  const { id, name } = await createShop(db);
  await changeMerchant(db, id, { feePayer: 'buyer' });
  const settings = ['--fee-payer', 'merchant', '--contact', 'halo@toko.example'];
  expect(await dewi.lunas('merchants', 'set', id, ...settings)).toMatchObject(
    rejectedFor(/lunas approvals approve 1 /),
  );
  expect(await findMerchant(db, id)).toMatchObject({ feePayer: 'buyer', contact: 'halo@toko.example' });
  expect(await listApprovals(db, { onlyOpen: true, limit: 9 })).toMatchObject([
    {
      action: 'merchant.set_fee_payer',
      target: `${name} (${id})`,
      parameters: { merchant: id, feePayer: 'merchant' },
    },
  ]);
  expect(await dewi.lunas('approvals', 'approve', '1')).toMatchObject(rejectedFor(/another operator/));
  expect(await findMerchant(db, id)).toMatchObject({ feePayer: 'buyer' });
  expect(await budi.lunas('approvals', 'approve', '1')).toMatchObject({ exitCode: 0, stderr: '' });
  expect(await findMerchant(db, id)).toMatchObject({ feePayer: 'merchant' });
  const change = (await listActions(db, { limit: 9 })).find(({ action }) => action === 'merchant.set_fee_payer');
  expect(change).toMatchObject({ actor: 'operator:budi', target: id, outcome: 'succeeded' });
});

describe('a policy or a limit', () => {
  const decided = async () => (await listApprovals(db, { onlyOpen: false, limit: 9 })).map(({ status }) => status);
  const setFee = (member: Member, feeBps: number) => member.lunas(...SET_FEE.slice(0, -1), String(feeBps));

  it('a policy or a limit is written with the outcome of its request, or not at all', async () => {
    const before = await feesOf('gopay');
    await dewi.lunas(...SET_FEE);
    await db.query(`create function lose_connection() returns trigger language plpgsql
      as 'begin raise exception ''lost''; end'`);
    await db.query(`create trigger lost before update on approvals for each row
      when (new.status = 'executed') execute function lose_connection()`);
    expect(await budi.lunas('approvals', 'approve', '1')).toMatchObject({ exitCode: 1 });
    expect([await decided(), await feesOf('gopay')]).toEqual([['pending'], before]);

    await db.query('drop trigger lost on approvals');
    expect(await budi.lunas('approvals', 'approve', '1')).toMatchObject({ exitCode: 0, stderr: '' });
    expect([await decided(), await feesOf('gopay')]).toEqual([['executed'], [0]]);
    expect((await verifyAudit(db)).breaks).toEqual([]);
  });

  it('a policy or a limit is not written if the request expires during its execution', async () => {
    const before = await feesOf('gopay');
    await dewi.lunas(...SET_FEE);
    await db.query(`create function expire() returns trigger language plpgsql as
      'begin new.expires_at = clock_timestamp(); return new; end'`);
    await db.query(`create trigger expire before update on approvals for each row
      when (new.status = 'approved') execute function expire()`);
    expect(await budi.lunas('approvals', 'approve', '1')).toMatchObject(rejectedFor(/is expired/));
    expect([await decided(), await feesOf('gopay')]).toEqual([['pending'], before]);
  });

  it.each(['approved', 'pending'])('no request that was %s replaces a newer policy or limit', async (status) => {
    await setFee(dewi, 50);
    await setFee(dewi, 70);
    if (status === 'approved') {
      await db.query(
        `update approvals set status = 'approved', decided_by = $1, decided_at = now(), leased_until = now()
         where id = 1`,
        [operatorIdOf(budi.actor)],
      );
    }
    expect(await budi.lunas('approvals', 'approve', '2')).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await budi.lunas('approvals', 'approve', '1')).toMatchObject(rejectedFor(/newer policy/));
    expect([await feesOf('gopay'), await decided()]).toEqual([[70], ['executed', 'failed']]);

    for (const limitRupiah of ['9000', '5000']) await dewi.lunas('approvals', 'set-limit', limitRupiah);
    expect(await budi.lunas('approvals', 'approve', '4')).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await budi.lunas('approvals', 'approve', '3')).toMatchObject(rejectedFor(/newer limit/));
    const { rows } = await db.query(
      "select item_rupiah from approval_rules where action = 'payment.settle' order by id desc limit 1",
    );
    expect(rows).toEqual([{ item_rupiah: 5000 }]);
  });

  it('only the later one of two requests for the same policy or limit can be approved', async () => {
    await setFee(dewi, 50);
    await setFee(dewi, 70);
    await budi.lunas('approvals', 'approve', '2');
    expect(await setFee(dewi, 50)).toMatchObject(rejectedFor(/lunas approvals approve 3 /));
    expect(await budi.lunas('approvals', 'approve', '3')).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await feesOf('gopay')).toEqual([50]);
  });
});

it('a request that waits is not stored twice', async () => {
  await dewi.lunas(...SET_FEE);
  await dewi.lunas(...SET_FEE);
  expect(await listApprovals(db, { onlyOpen: false, limit: 9 })).toHaveLength(1);
});

it('attack: an operator who has the key of another one decides nothing with the own login', async () => {
  await dewi.lunas(...SET_FEE);
  const environment = { DATABASE_URL: await urlOfOperator(database, 'dewi'), LUNAS_OPERATOR_KEY: budi.secret };
  const decided = await runLunas(['approvals', 'approve', '1', '--note', 'stolen'], environment);
  expect(decided).toMatchObject(rejectedFor(/a login of their own/));
  expect(await budi.lunas('approvals', 'approve', '1')).toMatchObject({ exitCode: 0 });
});

it('a rejected or expired request cannot be approved', async () => {
  await dewi.lunas(...SET_FEE);
  expect(await dewi.lunas('approvals', 'reject', '1')).toMatchObject(rejectedFor(/another operator/));
  expect(await budi.lunas('approvals', 'reject', '1')).toMatchObject({ exitCode: 0 });
  expect(await budi.lunas('approvals', 'approve', '1')).toMatchObject(rejectedFor(/rejected already/));

  await db.query(
    `insert into approvals (action, target, parameters, note, requested_by, expires_at)
     select action, target, parameters, note, requested_by, now() from approvals`,
  );
  expect(await budi.lunas('approvals', 'approve', '2')).toMatchObject(rejectedFor(/is expired/));
  expect(await listApprovals(db, { onlyOpen: true, limit: 9 })).toEqual([]);
});

it('a request expires with the key of its operator, who cannot approve it with a new key', async () => {
  await dewi.lunas(...SET_FEE);
  await endOperatorKey(db, operatorIdOf(dewi.actor) ?? '');
  const newKey = await addMember('dewi');
  for (const { lunas } of [newKey, budi]) {
    expect(await lunas('approvals', 'approve', '1')).toMatchObject(rejectedFor(/is expired/));
  }
  expect(await listApprovals(db, { onlyOpen: true, limit: 9 })).toEqual([]);

  expect(await budi.lunas(...SET_FEE)).toMatchObject(rejectedFor(/lunas approvals approve 2 /));
  expect(await newKey.lunas('approvals', 'approve', '2')).toMatchObject({ exitCode: 0, stderr: '' });
});

it('a new provider account is used for no payment before a second operator has approved it', async () => {
  const add = ['accounts', 'add', '--provider', 'gopay', '--adapter', 'midtrans', '--server-key-env', 'SERVER_KEY'];
  add.push('--nmid', 'ID1020021181745');
  const { account, approval_id: approvalId } = JSON.parse((await dewi.lunas(...add)).stdout);
  const statusOf = async () => {
    const { rows } = await db.query('select status from provider_accounts where id = $1', [account.id]);
    return rows[0]?.status;
  };
  expect(account.status).toBe('proposed');
  for (const change of ['enable', 'disable']) {
    expect(await dewi.lunas('accounts', change, account.id)).toMatchObject({ exitCode: 1 });
    expect(await statusOf()).toBe('proposed');
  }
  expect(await budi.lunas('approvals', 'approve', String(approvalId))).toMatchObject({ exitCode: 0, stderr: '' });
  expect(await statusOf()).toBe('enabled');
});

it('two operators cannot be one person: a third one needs approval', async () => {
  const unknown = await dewi.lunas('operators', 'create', '--name', 'mallory', '--login', 'test_unknown');
  expect(unknown).toMatchObject(rejectedFor(/no login test_unknown/));
  await urlOfOperator(database, 'mallory');
  const create = ['operators', 'create', '--name', 'mallory', '--login', 'test_operator_mallory'];
  const created = JSON.parse((await dewi.lunas(...create)).stdout);
  const mallory = await withKey('mallory', created.operator.secret);
  await dewi.lunas(...SET_FEE);
  expect(await mallory('approvals', 'approve', '2')).toMatchObject(rejectedFor(/LUNAS_OPERATOR_KEY/));
  expect(await budi.lunas('approvals', 'approve', String(created.approval_id))).toMatchObject({ exitCode: 0 });
  await budi.lunas('catalog', 'set', '--provider', 'shopeepay', '--channel', 'qris', '--fee-bps', '0');
  expect(await mallory('approvals', 'approve', '3')).toMatchObject({ exitCode: 0, stderr: '' });
});

describe('what books money', () => {
  let ledger: TestLedger;
  let eka: OperatorActor;
  beforeEach(async () => {
    ledger = await createTestLedger(createProductionDatabase);
    eka = operatorOf(await insertOperator(ledger.db, { name: 'eka', environment: 'production' }), 'api');
  });
  afterEach(() => ledger.close());

  const withoutTemporal = (): PaymentActionDependencies => ({ db: ledger.db, workflows: NO_WORKFLOWS });

  it.each([
    [
      'refund.resolve_as_refunded',
      resolveRefundAsRefunded,
      ['issue', 'pay', 'request_refund', 'submit_refund', 'fail_refund'],
      50_000,
    ],
    [
      'refund.resolve_as_paid',
      resolveRefundAsPaid,
      ['issue', 'pay', 'request_refund', 'submit_refund', 'fail_refund'],
      50_000,
    ],
    ['payment.settle', settlePayment, ['issue', 'pay'], 5_000_001],
  ] as const)('%s needs a second operator', async (action, operation, path, totalRupiah) => {
    const amounts = { totalRupiah, amountRupiah: totalRupiah, netRupiah: totalRupiah, feeRupiah: 0 };
    const { terms } = await applyTransitions(ledger, path, amounts);
    const request = { operation, payment: terms.paymentId, note: 'why' };
    await expect(performPaymentAction(withoutTemporal(), eka, request)).rejects.toThrow(/second operator/);
    const [approval] = await listApprovals(ledger.db, { onlyOpen: true, limit: 9 });
    expect(approval).toMatchObject({
      action,
      target: terms.referenceId,
      parameters: { payment: terms.paymentId },
      expectedVersion: path.length + 1,
      amountRupiah: totalRupiah,
      requestedBy: 'eka',
    });
  });

  it('a manual refund whose amount is not known needs a second operator', async () => {
    await openException(ledger.db, { kind: 'late_payment', referenceId: 'LN1', detail: 'no amount' });
    const [exception] = await listExceptions(ledger.db, { onlyOpen: true, limit: 9 });
    const resolution = { note: 'bank transfer 4711', isRefunded: true };
    await expect(resolveByOperator(ledger, eka, exception?.id ?? '', resolution)).rejects.toThrow(/second operator/);
    expect(await listApprovals(ledger.db, { onlyOpen: true, limit: 9 })).toMatchObject([{ amountRupiah: null }]);
  });

  it('a settlement up to the limit does not', async () => {
    const { terms } = await applyTransitions(ledger, ['issue', 'pay']);
    const request = { operation: settlePayment, payment: terms.paymentId };
    await expect(performPaymentAction(withoutTemporal(), eka, request)).rejects.toThrow('Temporal was called');
  });

  it.each([
    [5_000_001, 'waits for a second operator', 1],
    [5_000_000, 'is resolved', 0],
  ])('a late payment of %i rupiah that was refunded manually %s', async (lateRupiah, _, waiting) => {
    const path = await applyTransitions(ledger, ['issue', 'expire']);
    await payLate(ledger, path, lateRupiah, 'manual_review');
    const [exception] = await listExceptions(ledger.db, { onlyOpen: true, limit: 9 });
    const resolution = { note: 'bank transfer 4711', isRefunded: true };
    await resolveByOperator(ledger, eka, exception?.id ?? '', resolution).catch(() => undefined);
    expect(await listExceptions(ledger.db, { onlyOpen: true, limit: 9 })).toHaveLength(waiting);
    expect(await listApprovals(ledger.db, { onlyOpen: true, limit: 9 })).toHaveLength(waiting);
  });
});

describe('one person who has two keys', () => {
  const MALLORY = ['--name', 'mallory', '--login', 'test_operator_mallory'];
  const BOT = ['--name', 'bot', '--login', 'test_operator_mallory'];
  const idOf = ({ actor }: Member) => operatorIdOf(actor) ?? '';
  const makeOld = () => db.query("update operators set created_at = created_at - interval '1 day'");
  const isRevoked = async (member: Member) => {
    const { rows } = await db.query('select revoked_at from operators where id = $1', [idOf(member)]);
    return rows[0]?.revoked_at !== null;
  };
  const requestSettlement = (actor: OperatorActor) => askForSettlement(actor, 9e8);

  async function create(creator: Member, ...args: readonly string[]) {
    await urlOfOperator(database, 'mallory');
    const { stdout } = await creator.lunas('operators', 'create', ...args);
    const { operator, approval_id: approvalId } = JSON.parse(stdout);
    const secret = String(operator.secret);
    const lunas = await withKey(operator.name, secret);
    return { actor: operatorOf(operator), lunas, secret, approvalId: String(approvalId) };
  }

  it('attack A: their new key with scopes is accepted only after a second operator has approved it', async () => {
    const bot = await create(dewi, ...BOT, '--scopes', 'settle,resolve');
    const key = parseOperatorKey(bot.secret, 'production');
    const findBot = () => findOperator(db, key?.secretSha256 ?? Buffer.alloc(0), null);
    expect(await findBot()).toBeUndefined();
    expect(await dewi.lunas('approvals', 'approve', bot.approvalId)).toMatchObject(rejectedFor(/another operator/));
    expect(await findBot()).toBeUndefined();
    expect(await budi.lunas('approvals', 'approve', bot.approvalId)).toMatchObject({ exitCode: 0, stderr: '' });
    expect(await findBot()).toMatchObject({ name: 'bot', scopes: ['settle', 'resolve'] });
  });

  it('attack A: who created an operator decides nothing for it, also if a second operator approved it', async () => {
    const bot = await create(dewi, ...BOT, '--scopes', 'settle');
    await budi.lunas('approvals', 'approve', bot.approvalId);
    await makeOld();
    await expect(requestSettlement(bot.actor)).rejects.toThrow(/has to approve request 2\./);
    for (const decision of ['approve', 'reject']) {
      expect(await dewi.lunas('approvals', decision, '2')).toMatchObject(rejectedFor(/created the other/));
    }
    expect(await budi.lunas('approvals', 'reject', '2')).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it('attack A: an operator decides nothing for the one who created it', async () => {
    const mallory = await create(dewi, ...MALLORY);
    await budi.lunas('approvals', 'approve', mallory.approvalId);
    await makeOld();
    await dewi.lunas(...SET_FEE);
    expect(await mallory.lunas('approvals', 'approve', '2')).toMatchObject(rejectedFor(/created the other/));
    expect(await feesOf('gopay')).not.toContain(0);
    expect(await budi.lunas('approvals', 'approve', '2')).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it('attack A: who created the second operator decides nothing for its key until its person replaces it', async () => {
    await db.query('delete from operators where id = $1', [idOf(budi)]);
    const second = await create(dewi, '--name', 'budi', '--login', 'test_operator_budi');
    await expect(requestSettlement(second.actor)).rejects.toThrow(/has to approve request 1\./);
    for (const decision of ['approve', 'reject']) {
      expect(await dewi.lunas('approvals', decision, '1')).toMatchObject(rejectedFor(/replaced the key/));
    }
    const seen = await withKey('dewi', second.secret);
    expect(await seen('operators', 'replace-key')).toMatchObject(rejectedFor(/login of its operator/));
    const { operator } = JSON.parse((await second.lunas('operators', 'replace-key')).stdout);
    expect(await second.lunas('approvals', 'reject', '1')).toMatchObject(rejectedFor(/LUNAS_OPERATOR_KEY/));
    const own = await withKey('budi', operator.secret);
    expect(await own('approvals', 'reject', '1')).toMatchObject(rejectedFor(/another operator/));
    expect(await dewi.lunas('approvals', 'reject', '1')).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it.each([[], ['--scopes', 'payout,resolve'], ['--scopes', 'read,redeliver']])(
    'a key of no login only reads: not one with %p %p',
    async (...scopes) => {
      const created = await dewi.lunas('operators', 'create', '--name', 'backoffice', ...scopes);
      expect(created).toMatchObject(rejectedFor(/needs the --login .* --scopes read instead/));
    },
  );

  it('two operators accept the key of a program that only reads, which has no login', async () => {
    const { approvalId } = await create(dewi, '--name', 'backoffice', '--scopes', 'read');
    expect(await budi.lunas('approvals', 'approve', approvalId)).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it('attack B: the last but one operator who can decide is revoked by two persons', async () => {
    const eka = await addMember('eka');
    expect(await dewi.lunas('operators', 'revoke', idOf(eka))).toMatchObject({ exitCode: 0, stderr: '' });
    const revoked = await dewi.lunas('operators', 'revoke', idOf(budi));
    expect(revoked).toMatchObject(rejectedFor(/lunas approvals approve 1 /));
    expect(await isRevoked(budi)).toBe(false);
    const ownKey = await dewi.lunas('operators', 'revoke', idOf(dewi));
    expect(ownKey).toMatchObject(rejectedFor(/lunas approvals approve 2 /));
    expect(await budi.lunas('approvals', 'approve', '2')).toMatchObject({ exitCode: 0, stderr: '' });
    expect([await isRevoked(budi), await isRevoked(dewi)]).toEqual([false, true]);
  });

  it('attack B: two concurrent revocations leave two operators who can decide', async () => {
    const others = [budi, await addMember('eka'), await addMember('fitri')];
    await Promise.all(others.map((other) => dewi.lunas('operators', 'revoke', idOf(other))));
    const revoked = await Promise.all([dewi, ...others].map(isRevoked));
    expect(revoked.filter((each) => !each)).toHaveLength(2);
  });

  it('attack B: they decide nothing for an operator whom they created while they were alone', async () => {
    await db.query('update operators set expires_at = now() where id = $1', [idOf(budi)]);
    const mallory = await create(dewi, ...MALLORY);
    expect(mallory.approvalId).toBe('undefined');
    await mallory.lunas(...SET_FEE);
    for (const step of ['a new key', 'an old key']) {
      const refused = await dewi.lunas('approvals', 'approve', '1');
      expect({ step, ...refused }).toMatchObject({ step, ...rejectedFor(/created the other/) });
      await makeOld();
    }
  });

  it('a requester whose key is new and was not approved has to wait for a day', async () => {
    const eka = operatorOf(await createOperatorWithLogin(database, db, 'eka'));
    await expect(requestSettlement(eka)).rejects.toThrow(/has to approve request 1\./);
    expect(await budi.lunas('approvals', 'reject', '1')).toMatchObject(rejectedFor(/a day old/));
    await makeOld();
    expect(await budi.lunas('approvals', 'reject', '1')).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it('the keys that they created while they were alone do not decide for each other', async () => {
    await db.query('update operators set expires_at = now() where id = $1', [idOf(budi)]);
    const bot = await create(dewi, '--name', 'bot', '--login', 'test_operator_dewi', '--scopes', 'settle');
    const mallory = await create(dewi, ...MALLORY);
    expect([bot.approvalId, mallory.approvalId]).toEqual(['undefined', 'undefined']);
    await makeOld();
    await expect(requestSettlement(bot.actor)).rejects.toThrow(/has to approve request 1\./);
    expect(await mallory.lunas('approvals', 'approve', '1')).toMatchObject(rejectedFor(/created the other/));
  });

  it('the first operator has no scopes: its creator is not known', async () => {
    await db.query('update operators set revoked_at = now()');
    const args = ['operators', 'create', '--name', 'bot', '--scopes', 'settle', '--note', 'installation'];
    const environment = { DATABASE_URL: database.urlOf('lunas_local_operator') };
    expect(await runLunas(args, environment)).toMatchObject(rejectedFor(/without --scopes/));
  });
});

it('the limit is changed by two operators, and only what is above it needs them', async () => {
  expect(await dewi.lunas('approvals', 'set-limit', '5000')).toMatchObject({ exitCode: 1 });
  const mayAlone = async (amountRupiah: number) => {
    const act = { action: settlePayment, target: 'p', hasApproval: true, amountRupiah };
    return (await beginAction({ db }, dewi.actor, act)) !== null;
  };
  expect([await mayAlone(5_000_000), await mayAlone(5_000_001)]).toEqual([true, false]);
  expect(await budi.lunas('approvals', 'approve', '1')).toMatchObject({ exitCode: 0 });
  expect([await mayAlone(5_000), await mayAlone(5_001)]).toEqual([true, false]);
});

it('a rule is changed by two operators, as a whole, and the later one of two requests fails', async () => {
  const setRule = (...options: readonly string[]) => dewi.lunas('approvals', 'set-rule', 'payment.settle', ...options);
  expect(await setRule('--item', '7000000', '--operator-day', '9000000')).toMatchObject({ exitCode: 1 });
  expect(await setRule('--item', '8000000')).toMatchObject({ exitCode: 1 });
  expect(await budi.lunas('approvals', 'approve', '1')).toMatchObject({ exitCode: 0 });
  expect(await budi.lunas('approvals', 'approve', '2')).toMatchObject(rejectedFor(/newer rule/));
  const rules = await listApprovalRules(db);
  expect(rules.find(({ action }) => action === 'payment.settle')).toMatchObject({
    itemRupiah: 7_000_000,
    operatorDayRupiah: 9_000_000,
    merchantDayRupiah: null,
    operatorDayCount: null,
  });
  expect(await setRule('--item', '7000000', '--operator-day', '6000000')).toMatchObject({ exitCode: 1 });
  expect(await budi.lunas('approvals', 'approve', '3')).toMatchObject(rejectedFor(/more than the acts of a day/));
  const unknown = await dewi.lunas('approvals', 'set-rule', 'payment.paint', '--item', '1');
  expect(unknown).toMatchObject(rejectedFor(/lunas approvals rules/));
});

describe('actions of payments', () => {
  let ledger: TestLedger;
  let paymentId: string;
  const requested: unknown[] = [];
  beforeEach(async () => {
    requested.splice(0);
    ledger = await createTestLedger(() => Promise.resolve(database));
    const amounts = { totalRupiah: 5_000_001, amountRupiah: 5_000_001, netRupiah: 5_000_001, feeRupiah: 0 };
    ({ paymentId } = (
      await applyTransitions(ledger, ['issue', 'pay'], { ...amounts, settlementKind: 'manual' })
    ).terms);
  });
  afterEach(() => ledger.db.end());

  type Request = WorkflowNeeds['workflows']['request'];

  /** The workflow of the payment records what is requested, and settles nothing. */
  const record: Request = (payment, action, { name, note }) => {
    requested.push({ by: name, action, payment: payment.id, note });
    return Promise.resolve({ outcome: 'done', status: 'settled' });
  };
  const lost: Request = () => Promise.reject(new Error('lost'));

  const dependencies = (request = record): Executors => ({
    db,
    ...NOTHING_TO_SEAL,
    withWorkflows: (work) => work({ ...NO_WORKFLOWS, request }),
  });

  const requestSettlement = () => {
    const request = { operation: settlePayment, payment: paymentId, note: 'statement' };
    return performPaymentAction({ db, workflows: NO_WORKFLOWS }, dewi.actor, request).catch(() => undefined);
  };

  it('ten concurrent approvals execute it once', async () => {
    const others = [budi, ...(await Promise.all(['eka', 'fitri', 'gita'].map(addMember)))];
    await requestSettlement();
    const results = await Promise.allSettled(
      Array.from({ length: 10 }, (_, index) =>
        approve(dependencies(), others[index % others.length]?.actor ?? budi.actor, 1),
      ),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(requested).toEqual([
      expect.objectContaining({
        action: 'settle',
        payment: paymentId,
        note: 'statement (requested by operator:dewi)',
      }),
    ]);
  });

  it('an approval whose process died can be repeated after its lease, and not before', async () => {
    await requestSettlement();
    await expect(approve(dependencies(lost), budi.actor, 1)).rejects.toThrow('lost');
    await expect(approve(dependencies(), budi.actor, 1)).rejects.toThrow(/is being executed/);
    await expect(reject({ db }, budi.actor, 1)).rejects.toThrow(/is being executed/);
    await db.query('update approvals set leased_until = now()');
    const eka = await addMember('eka');
    const { status, decisions } = await approve(dependencies(), eka.actor, 1, 'again');
    expect(status).toBe('executed');
    expect(decisions).toMatchObject([
      { decision: 'approved', decidedBy: 'budi', note: null },
      { decision: 'approved', decidedBy: 'eka', note: 'again' },
    ]);
    expect(requested).toHaveLength(1);
  });

  it.each([
    ['it is expired', 'update approvals set expires_at = now(), leased_until = now()'],
    ['the key of its operator is revoked', 'update approvals set leased_until = now()'],
  ])('an approval whose process died is not repeated after %s, and can be rejected', async (reason, sql) => {
    await requestSettlement();
    await expect(approve(dependencies(lost), budi.actor, 1)).rejects.toThrow('lost');
    await db.query('alter table approvals disable trigger request_is_final');
    await db.query(sql);
    if (reason.includes('revoked')) await endOperatorKey(db, operatorIdOf(dewi.actor) ?? '');
    await expect(approve(dependencies(), budi.actor, 1)).rejects.toThrow(/can only be rejected/);
    expect(await listApprovals(db, { onlyOpen: true, limit: 9 })).toMatchObject([{ status: 'approved' }]);
    const rejected = await reject({ db }, budi.actor, 1, 'settled by hand');
    expect(rejected.decisions.map(({ decision }) => decision)).toEqual(['approved', 'rejected']);
    expect(await listApprovals(db, { onlyOpen: true, limit: 9 })).toEqual([]);
    expect(requested).toEqual([]);
  });

  it('an approval that was lost after the settlement is executed by its repeat, which settles nothing', async () => {
    await requestSettlement();
    const settleAndLose: Request = async ({ id: paymentId, version = 0 }) => {
      await transitionWriters.settle(ledger.context, { paymentId, version, at: new Date() });
      throw new Error('lost');
    };
    await expect(approve(dependencies(settleAndLose), budi.actor, 1)).rejects.toThrow('lost');
    await db.query('update approvals set leased_until = now()');
    expect(await approve(dependencies(), budi.actor, 1)).toMatchObject({ status: 'executed' });
    expect(requested).toEqual([]);
  });

  it('a payment that has changed since the request is not settled', async () => {
    await requestSettlement();
    const refund = { paymentId, at: new Date(), refundNumber: 1, refundKey: 'R1', requestedBy: 'lunas' } as const;
    await transitionWriters.request_refund(ledger.context, { ...refund, version: 3, holdSeconds: 60 });
    await transitionWriters.cancel_refund(ledger.context, { ...refund, version: 4 });
    await expect(approve(dependencies(), budi.actor, 1)).rejects.toMatchObject({ reason: 'superseded' });
    expect(await listApprovals(db, { onlyOpen: false, limit: 9 })).toMatchObject([
      { status: 'failed', failureReason: expect.stringContaining('has changed since the request') },
    ]);
    expect(requested).toEqual([]);
  });

  it('an approved release ends the hold that was seen, and no later one', async () => {
    const { merchantId } = ledger;
    const hold = (heldAt: string) =>
      asSuperuser(db, `update merchants set held_at = ${heldAt} where id = '${merchantId}'`);
    const isHeld = async () => (await findMerchant(db, merchantId)).heldAt !== null;
    await hold("now() - interval '1 hour'");
    const release = async () => {
      const call = { path: { merchant: merchantId }, input: {}, formId: randomUUID(), note: 'case 12' };
      return releaseMerchant.run({ db, workflows: NO_WORKFLOWS }, dewi.actor, call);
    };
    expect(await release()).toEqual({ outcome: 'waits', approvalId: 1 });
    await hold('now()');
    await expect(approve(dependencies(), budi.actor, 1)).rejects.toMatchObject({ reason: 'superseded' });
    expect(await isHeld()).toBe(true);
    expect(await release()).toEqual({ outcome: 'waits', approvalId: 2 });
    expect(await approve(dependencies(), budi.actor, 2)).toMatchObject({ status: 'executed' });
    expect(await isHeld()).toBe(false);
  });

  it('an execution that ends after its request was rejected is not recorded as executed', async () => {
    await requestSettlement();
    const slow: Request = async () => {
      await db.query('update approvals set leased_until = now()');
      await reject({ db }, (await addMember('eka')).actor, 1);
      return { outcome: 'done', status: 'settled' };
    };
    await expect(approve(dependencies(slow), budi.actor, 1)).rejects.toThrow(
      /was executed, but it was rejected meanwhile/,
    );
    expect(await listApprovals(db, { onlyOpen: false, limit: 9 })).toMatchObject([{ status: 'rejected' }]);
  });

  it('PostgreSQL rejects a change of what was requested, and an approval by the requester', async () => {
    await requestSettlement();
    const attacks = [
      `update approvals set parameters = '{"paymentId": "p2"}'`,
      `update approvals set expires_at = now() + interval '9 years'`,
      `update approvals set status = 'approved', decided_by = requested_by, decided_at = now()`,
      'delete from approvals',
      'truncate approvals cascade',
      'update approvals set amount_rupiah = 1',
      'update approvals set expected_version = 1',
      'update approval_rules set item_rupiah = 1000000000000',
    ];
    for (const attack of attacks) await expect(db.query(attack)).rejects.toThrow(/append-only|approvals_two_operators/);
    await reject({ db }, budi.actor, 1);
    for (const attack of ["update approvals set status = 'pending'", 'delete from approval_decisions']) {
      await expect(db.query(attack)).rejects.toThrow(/append-only/);
    }
  });
});
