import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { createSealer } from '../../src/crypto/sealing';
import type { Pool } from '../../src/db/connection/pool';
import { openException } from '../../src/db/operations/open-exception';
import type { StepActor } from '../../src/domain/actor';
import { OPERATOR_ENDPOINTS } from '../../src/servers/api-routes';
import { startApi } from '../../src/servers/api-server';
import { listApprovals } from '../../src/services/audit/list-approvals';
import type { DATABASE_APPROVALS, WORKFLOW_APPROVALS } from '../../src/services/operations/all';
import { listExceptions } from '../../src/services/payments/exceptions';
import { insertEndpoint, listEndpoints } from '../../src/services/webhooks/webhook-endpoints';
import { findNewestSecret } from '../../src/services/webhooks/webhook-secrets';
import { runLunas } from '../cli/run-lunas';
import { applyTransitions, type StepName } from '../services/ledger/transition-path';
import { prepareBankAccount } from '../support/bank-accounts';
import { SILENT } from '../support/collect-log';
import { eventually } from '../support/eventually';
import { identityFile } from '../support/identity';
import { companyFile, issueNow } from '../support/invoices';
import { freeListeners } from '../support/listeners';
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
import { NO_LIMITS } from '../support/service';

/* In production, what needs two people is executed by one of them through no door. */

let payouts: TestPayouts;
let db: Pool;
let dewi: Door;
let budi: Door;
let apiUrl: string;
let operatorIds: Readonly<Record<string, string>>;
let operatorUrl: string;
let closeApi: () => Promise<void>;

/** The doors of one operator. */
interface Door {
  lunas(...args: readonly string[]): ReturnType<typeof runLunas>;
  /** @returns the reason of the rejection */
  post(path: string, body: object): Promise<string | null>;
}

beforeAll(async () => {
  payouts = await createTestPayouts();
  ({ db } = payouts);
  const addresses = await freeListeners();
  const { listeners } = addresses;
  ({ apiUrl, operatorUrl } = addresses);
  await setEnvironment(db, 'production');
  const api = await startApi({
    ...listeners,
    ...NO_LIMITS,
    environment: 'production',
    databaseUrl: payouts.database.urlOf('lunas_local_api'),
    temporal: { address: '127.0.0.1:1', namespace: 'none', security: {} },
    masterKey: payouts.masterKey,
    log: SILENT,
  });
  closeApi = () => api.close();
  const [own, other] = [await addOperator('dewi'), await addOperator('budi')];
  dewi = await doorsOf('dewi', own.secret);
  budi = await doorsOf('budi', other.secret);
  operatorIds = { dewi: own.id, budi: other.id };
});
afterAll(async () => {
  await closeApi();
  await payouts.close();
});

async function addOperator(name: string) {
  const operator = await createOperatorWithLogin(payouts.database, db, name);
  await db.query("update operators set created_at = now() - interval '1 day' where id = $1", [operator.id]);
  return operator;
}

async function doorsOf(name: string, secret: string): Promise<Door> {
  const environment = {
    DATABASE_URL: await urlOfOperator(payouts.database, name),
    LUNAS_OPERATOR_KEY: secret,
    LUNAS_MASTER_KEY: payouts.masterKey,
    TEMPORAL_ADDRESS: '127.0.0.1:1',
    SERVER_KEY: 'Mid-server-1',
  };
  return {
    lunas: (...args) => runLunas([...args, '--note', 'case 12', '--json'], environment),
    async post(path, body) {
      const response = await fetch(`${operatorUrl}/operator${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...body, note: 'case 12' }),
      });
      return response.headers.get('x-error-reason');
    },
  };
}

const RICH = { totalRupiah: 9_000_000, amountRupiah: 9_000_000, netRupiah: 9_000_000, feeRupiah: 0 };

async function payment(...path: readonly StepName[]): Promise<string> {
  return (await applyTransitions(ofPayments(payouts), path, { ...RICH, settlementKind: 'manual' })).terms.referenceId;
}

async function payout(requestedBy: StepActor['name'], ...path: Parameters<typeof applyPayout>[1]): Promise<string> {
  await setEnvironment(db, 'sandbox');
  payouts = await withNewMerchant(payouts);
  await addLines(payouts, [100_000]);
  const { referenceId } = await applyPayout(payouts, path, { by: { name: requestedBy } });
  await setEnvironment(db, 'production');
  return referenceId;
}

async function bankAccount(status: 'pending_approval' | 'suspended'): Promise<string> {
  await setEnvironment(db, 'sandbox');
  const id = await prepareBankAccount(payouts, payouts.merchantId, status);
  await setEnvironment(db, 'production');
  return id;
}

async function lateException(): Promise<string> {
  await openException(db, { kind: 'late_payment', referenceId: 'LN1', detail: 'no amount' });
  return (await listExceptions(db, { onlyOpen: true, limit: 1 }))[0]?.id ?? '';
}

/** How one operator asks for it, at each door that has it. The operator API has no other endpoints for it. */
interface Attempt {
  readonly command: readonly string[];
  readonly request?: readonly [path: string, body: object];
}

type Approved = (typeof DATABASE_APPROVALS | typeof WORKFLOW_APPROVALS)[number]['name'];

/** A merchant with a member, who manages its keys and endpoints. */
async function ofAMember(): Promise<string> {
  const { merchantId } = payouts;
  await createMember(db, `${randomUUID()}@toko.example`, [[merchantId, 'owner']]);
  return merchantId;
}

async function endpointOfAMember() {
  await setEnvironment(db, 'sandbox');
  const endpoint = { merchantId: await ofAMember(), url: 'https://toko.example/', events: [] };
  const inserted = await insertEndpoint(db, createSealer(payouts.masterKey), endpoint);
  await setEnvironment(db, 'production');
  if (inserted === null) throw new Error('there is no endpoint');
  return inserted;
}

const KEY = ['--server-key-env', 'SERVER_KEY', '--nmid', 'ID1020021181745'];

const REFUND_FAILED = ['issue', 'pay', 'request_refund', 'submit_refund', 'fail_refund'] as const;

const resolveRefundAs = async (as: 'refunded' | 'paid'): Promise<Attempt> => {
  const id = await payment(...REFUND_FAILED);
  return { command: ['refunds', 'resolve', id, '--as', as], request: [`/payments/${id}/refund/resolve`, { as }] };
};

/** An operation that needs two people and has no row here does not compile. */
const ATTEMPTS: Readonly<Record<Approved, () => Promise<Attempt>>> = {
  'approval.set_limit': async () => ({ command: ['approvals', 'set-limit', '6000000'] }),
  'approval.set_rule': async () => ({ command: ['approvals', 'set-rule', 'payment.settle', '--item', '1'] }),
  'catalog.set': async () => ({
    command: ['catalog', 'set', '--provider', 'gopay', '--channel', 'qris', '--fee-bps', '0'],
  }),
  'fee.set_schedules': async () => ({
    command: ['fees', 'set', '--class', 'UKE', '--band', '0:0', '--valid-from', '2099-01-01'],
  }),
  'fee.agree': async () => ({
    command: ['fees', 'agree', payouts.merchantId, '--bps', '0', '--valid-from', '2099-01-01'],
  }),
  'company.set': async () => ({ command: ['company', 'set', '--file', await companyFile()] }),
  'invoice.credit': async () => {
    await setEnvironment(db, 'sandbox');
    await applyTransitions(ofPayments(payouts), ['issue', 'pay']);
    const [invoice] = await issueNow(db, payouts.masterKey);
    await setEnvironment(db, 'production');
    return { command: ['invoices', 'credit', invoice?.number ?? '', '--fee', '100'] };
  },
  'exception.resolve_as_refunded': async () => {
    const id = await lateException();
    return {
      command: ['exceptions', 'resolve', id, '--refunded'],
      request: [`/exceptions/${id}/resolve`, { refunded: true }],
    };
  },
  'payout.set_limits': async () => ({
    command: ['payouts', 'set-limit', '1', '--cooldown', '2d', '--not-found', '2d'],
  }),
  'payout.set_policy': async () => ({ command: ['payouts', 'policies', 'set', '--rail', 'bi_fast', '--fee', '0'] }),
  'operator.approve': async () => {
    await urlOfOperator(payouts.database, 'eve');
    return { command: ['operators', 'create', '--name', 'eve', '--login', 'test_operator_eve'] };
  },
  'operator.revoke': async () => ({ command: ['operators', 'revoke', operatorIds.budi ?? ''] }),
  'bank_account.approve': async () => ({
    command: ['bank-accounts', 'approve', await bankAccount('pending_approval')],
  }),
  'bank_account.reactivate': async () => ({ command: ['bank-accounts', 'reactivate', await bankAccount('suspended')] }),
  'merchant.set_identity': async () => ({
    command: ['merchants', 'identify', payouts.merchantId, '--file', await identityFile()],
  }),
  'merchant.set_fee_payer': async () => ({
    command: ['merchants', 'set', payouts.merchantId, '--fee-payer', 'merchant'],
  }),
  'user.invite': async () => {
    const { merchantId } = payouts;
    await createMember(db, 'sri@toko.example', [[merchantId, 'owner']]);
    return { command: ['users', 'invite', '--merchant', merchantId, '--email', 'eve@own.test', '--role', 'owner'] };
  },
  'user.reset': async () => ({ command: ['users', 'reset', await createMember(db, 'budi@toko.example')] }),
  'user.confirm': async () => {
    const id = await createMember(db, 'tuti@toko.example');
    await db.query("update users set link_shown_to = 'user:another' where id = $1", [id]);
    return { command: ['users', 'confirm', id] };
  },
  'key.create': async () => ({ command: ['keys', 'create', '--merchant', await ofAMember()] }),
  'webhook.create': async () => ({
    command: ['webhooks', 'create', '--merchant', await ofAMember(), '--url', 'https://toko.example/'],
  }),
  'webhook.set': async () => ({
    command: ['webhooks', 'set', (await endpointOfAMember()).id, '--url', 'https://toko.example/'],
  }),
  'webhook.rotate_secret': async () => ({ command: ['webhooks', 'rotate-secret', (await endpointOfAMember()).id] }),
  'account.create': async () => ({
    command: [...'accounts add --provider gopay --adapter midtrans'.split(' '), ...KEY],
  }),
  'account.set_key': async () => {
    const { rows } = await db.query<{ id: string }>(
      "select id from provider_accounts where purpose = 'payments' and status <> 'proposed' limit 1",
    );
    return { command: ['accounts', 'set-key', rows[0]?.id ?? '', ...KEY] };
  },
  'payment.settle': async () => {
    const id = await payment('issue', 'pay');
    return { command: ['payments', 'settle', id], request: [`/payments/${id}/settle`, {}] };
  },
  'payment.refund': async () => {
    const id = await payment('issue', 'pay');
    return { command: ['payments', 'refund', id], request: [`/payments/${id}/refund`, {}] };
  },
  'refund.resolve_as_refunded': () => resolveRefundAs('refunded'),
  'refund.resolve_as_paid': () => resolveRefundAs('paid'),
  'payout.approve': async () => {
    const id = await payout('cli:sari');
    return { command: ['payouts', 'approve', id], request: [`/payouts/${id}/approve`, {}] };
  },
  'payout.resend': async () => {
    const id = await payout('schedule', 'approve', 'submit');
    return { command: ['payouts', 'resend', id], request: [`/payouts/${id}/resend`, {}] };
  },
  'payout.resolve': async () => {
    const id = await payout('schedule', 'approve', 'submit');
    const body = { as: 'completed', evidence: 'line 12' };
    return {
      command: ['payouts', 'resolve', id, '--as', body.as, '--evidence', body.evidence],
      request: [`/payouts/${id}/resolve`, body],
    };
  },
  // Nothing of this merchant is settled or paid out after it.
  'merchant.release': async () => {
    const { merchantId } = payouts;
    expect(await dewi.lunas('merchants', 'hold', merchantId)).toMatchObject({ exitCode: 0 });
    return { command: ['merchants', 'release', merchantId], request: [`/merchants/${merchantId}/release`, {}] };
  },
  // Nothing pays out after it.
  'payout.start': async () => {
    expect(await dewi.lunas('payouts', 'stop')).toMatchObject({ exitCode: 0 });
    return { command: ['payouts', 'start'], request: ['/payouts/start', {}] };
  },
};

/** Commands that print what is passed on, and which works after the approval. */
const PASSES_ON: ReadonlySet<string> = new Set([
  'account.create',
  'key.create',
  'merchant.set_identity',
  'operator.approve',
  'user.invite',
  'user.reset',
  'webhook.rotate_secret',
]);

/** The requests of this action that wait. */
async function waiting(action: string): Promise<number[]> {
  const approvals = await listApprovals(db, { onlyOpen: true, limit: 100 });
  return approvals.filter((approval) => approval.action === action).map(({ id }) => id);
}

async function executed(action: string): Promise<number> {
  const { rowCount } = await db.query('select from operator_actions where action = $1', [action]);
  return rowCount ?? 0;
}

/** The paths of the operator API that the attempts have used. */
const used = new Set<string>();

/** What stops something, or what the provider decides. */
const BY_ONE = [
  '/operator/deliveries/:id/redeliver',
  '/operator/merchants/:id/hold',
  '/operator/payments/:id/cancel',
  '/operator/payments/:id/fail',
  '/operator/payments/:id/refund/retry',
  '/operator/payouts/:id/cancel',
  '/operator/payouts/stop',
];

it.each(Object.entries(ATTEMPTS))(
  '%s by one operator waits for another one, at every door',
  async (action, prepare) => {
    const { command, request } = await prepare();
    const stored = await dewi.lunas(...command);
    const [id] = await waiting(action);
    expect({ id, stored }).toEqual({ id: expect.any(Number), stored });
    expect(stored.stdout + stored.stderr).toMatch(PASSES_ON.has(action) ? /"approval_id"/ : `approvals approve ${id} `);
    const reasons = request ? [await dewi.post(...request)] : [];
    expect(reasons.filter((reason) => reason !== 'approval_required')).toEqual([]);
    if (request) used.add(request[0]);
    // The same request is stored once, whatever its door.
    expect(await waiting(action)).toEqual([id]);
    const own = await dewi.lunas('approvals', 'approve', String(id));
    expect(own).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/another operator/) });
    expect([await waiting(action), await executed(action)]).toEqual([[id], 0]);
  },
);

const createdSchema = z.object({ key: z.object({ secret: z.string() }), approval_id: z.number() });

it('a key of a merchant with a member works when two operators have decided it, and not before', async () => {
  const { stdout } = await dewi.lunas('keys', 'create', '--merchant', await ofAMember(), '--scopes', 'read');
  const { key, approval_id: approvalId } = createdSchema.parse(JSON.parse(stdout));
  const list = () => fetch(`${apiUrl}/transactions`, { headers: { authorization: `Bearer ${key.secret}` } });
  expect((await list()).status).toBe(401);
  expect(await budi.lunas('approvals', 'approve', String(approvalId))).toMatchObject({ exitCode: 0 });
  await eventually(list, ({ status }) => status === 200);
  const { rows } = await db.query("select from operator_actions where detail like '%' || $1 || '%'", [key.secret]);
  expect(rows).toEqual([]);
});

it('a credit note names the operator who has requested it, not the one who approved it', async () => {
  await setEnvironment(db, 'sandbox');
  payouts = await withNewMerchant(payouts);
  await applyTransitions(ofPayments(payouts), ['issue', 'pay'], { merchantId: payouts.merchantId });
  const issued = await issueNow(db, payouts.masterKey);
  const invoice = issued.find(({ merchantId }) => merchantId === payouts.merchantId);
  await setEnvironment(db, 'production');
  await dewi.lunas('invoices', 'credit', invoice?.number ?? '', '--fee', '50');
  const id = Math.max(...(await waiting('invoice.credit')));
  expect(await budi.lunas('approvals', 'approve', String(id))).toMatchObject({ stderr: '', exitCode: 0 });
  const { rows } = await db.query(
    `select requested_by from balance_adjustments join fee_invoices on number = invoice_number where corrects = $1`,
    [invoice?.number],
  );
  expect(rows).toEqual([{ requested_by: 'operator:dewi' }]);
});

it('webhooks of a merchant with a member go where two operators have decided, once', async () => {
  const merchantId = await ofAMember();
  const url = 'https://toko.example/hook';
  const asked = await dewi.lunas('webhooks', 'create', '--merchant', merchantId, '--url', url);
  expect(asked).toMatchObject({ exitCode: 1 });
  const own = async () => (await listEndpoints(db)).filter((endpoint) => endpoint.url.startsWith(url));
  expect(await own()).toEqual([]);
  const [created] = await waiting('webhook.create');
  expect(await budi.lunas('approvals', 'approve', String(created))).toMatchObject({ exitCode: 0 });
  const [endpoint] = await own();
  await dewi.lunas('webhooks', 'set', endpoint?.id ?? '', '--url', `${url}/2`);
  const [moved] = await waiting('webhook.set');
  expect(await budi.lunas('approvals', 'approve', String(moved))).toMatchObject({ exitCode: 0 });
  expect(await own()).toMatchObject([{ id: endpoint?.id, merchantId, url: `${url}/2` }]);
});

const rotatedSchema = z.object({ endpoint: z.object({ secret: z.string() }), approval_id: z.number() });

it('a secret of a merchant with a member signs when two operators have decided it, and not before', async () => {
  const { id, merchantId, secret: before } = await endpointOfAMember();
  const newest = () => findNewestSecret(db, createSealer(payouts.masterKey), merchantId);
  const { stdout } = await dewi.lunas('webhooks', 'rotate-secret', id, '--overlap', '0s');
  const { endpoint, approval_id: approvalId } = rotatedSchema.parse(JSON.parse(stdout));
  expect(await newest()).toBe(before);
  expect(await budi.lunas('approvals', 'approve', String(approvalId))).toMatchObject({ exitCode: 0, stderr: '' });
  expect(await newest()).toBe(endpoint.secret);
  const valid = await db.query('select from webhook_secrets where endpoint_id = $1 and expires_at is null', [id]);
  expect(valid.rowCount).toBe(1);
  const { rows } = await db.query(
    `select from operator_actions, approvals
     where concat(operator_actions.*::text, approvals.*::text) like '%' || $1 || '%'`,
    [endpoint.secret],
  );
  expect(rows).toEqual([]);
});

it('one operator sets up a merchant that has no member', async () => {
  await setEnvironment(db, 'sandbox');
  payouts = await withNewMerchant(payouts);
  await setEnvironment(db, 'production');
  const { merchantId } = payouts;
  expect(await dewi.lunas('keys', 'create', '--merchant', merchantId)).toMatchObject({ exitCode: 0 });
  const created = await dewi.lunas('webhooks', 'create', '--merchant', merchantId, '--url', 'https://toko.example/');
  expect(created).toMatchObject({ exitCode: 0 });
  const { endpoint } = z.object({ endpoint: z.object({ id: z.string() }) }).parse(JSON.parse(created.stdout));
  expect(await dewi.lunas('webhooks', 'rotate-secret', endpoint.id)).toMatchObject({ exitCode: 0 });
});

it('each endpoint of the operator API that writes is one of the above, or moves no money and needs one person', () => {
  const patternOf = (path: string) => path.replace(/LN\w+|LP\w+|[0-9a-f-]{36}/, ':id');
  const two = [...used].map((path) => `/operator${patternOf(path)}`);
  const all = OPERATOR_ENDPOINTS.filter(({ method }) => method === 'post').map(({ path }) => path);
  expect(new Set(all)).toEqual(new Set([...two, ...BY_ONE]));
});
