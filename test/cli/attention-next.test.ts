import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { z } from 'zod';
import { openException } from '../../src/db/operations/open-exception';
import { failedRunReference } from '../../src/db/operations/reconciliation-findings';
import type { AccountStop, ExceptionCause, ExceptionKind } from '../../src/domain/exception-kinds';
import { monthInWib } from '../../src/domain/wib';
import { PACKAGE_ROOT } from '../../src/package-info';
import type { AttentionKind } from '../../src/services/attention';
import { setPolicy } from '../../src/services/provider-accounts/catalog';
import { connectClient } from '../../src/temporal/connection';
import { NO_PAYLOAD_KEYS } from '../../src/temporal/payload-codec';
import { PAYMENTS_TASK_QUEUE, paymentWorkflowId } from '../../workflows/ids';
import { asSuperuser } from '../support/backdate';
import { prepareBankAccount } from '../support/bank-accounts';
import { createPaid, type TestPayment } from '../support/created-payment';
import { eventually } from '../support/eventually';
import { cutNow, ensureCompany } from '../support/invoices';
import { freePorts, LUNAS, runBuiltLunas } from '../support/lunas-process';
import { ORDINARY, preparePayoutsAtBank, type PayoutsAtBank, type ShopPayout } from '../support/payouts-at-bank';
import { startReceiver, type Receiver } from '../support/receiver';
import { reconcile } from '../support/reconcile';
import { newNamespace, operatorEnvironment, startTestService, type TestService } from '../support/service';
import { runLunas } from './run-lunas';

/**
 * Each cause is planted, the command in NEXT is executed literally, and the cause is gone, not only its row. Where NEXT
 * shows what is wrong, the commands that its output or the page of the row names are executed too.
 */

let service: TestService;
let environment: NodeJS.ProcessEnv;
let home: string;
let atBank: PayoutsAtBank;
let receiver: Receiver;
beforeAll(async () => {
  service = await startTestService(await newNamespace(), { refundHoldSeconds: 0 });
  home = await mkdtemp(path.join(os.tmpdir(), 'lunas-attention-'));
  environment = {
    LUNAS_HOME: home,
    ...operatorEnvironment(service),
  };
  await setPolicy(service.db, { provider: 'gopay', channel: 'qris', expiresInSeconds: 900 });
  [atBank, receiver] = await Promise.all([preparePayoutsAtBank(service), startReceiver()]);
});
afterAll(async () => {
  await service.close();
  await receiver.close();
  await rm(home, { recursive: true });
});

const documentSchema = z.object({
  cases: z.array(
    z.object({
      kind: z.string(),
      subject: z.string().nullable(),
      cause: z.string().nullable(),
      next: z.string(),
      page: z.string().nullable(),
    }),
  ),
});

/** On a busy machine a half may take longer than its 2 s. */
async function attention() {
  return eventually(
    async () => {
      const { stdout } = await runLunas(['attention', '--json'], environment);
      return documentSchema.parse(JSON.parse(stdout)).cases;
    },
    (cases) => !cases.some(({ kind }) => kind === 'postgresql' || kind === 'temporal'),
  );
}

/** Runs the command of a row as it stands there. */
async function runNext(next: string, exitCode: 0 | 1 = 0) {
  const words = [...next.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '');
  expect(words[0]).toBe('lunas');
  const outcome = await runLunas(words.slice(1), environment);
  if (outcome.exitCode !== exitCode) throw new Error(`${next}: ${outcome.stdout}${outcome.stderr}`);
  return outcome.stdout;
}

const workflowOf = ({ id }: TestPayment) => service.client.workflow.getHandle(paymentWorkflowId(id));

describe('the exception of a workflow that is lost', () => {
  // On a busy machine, a payment that settles after ten seconds has settled before its workflow is terminated.
  const terms = { provider: 'gopay', channel: 'qris', settlementKind: 'automatic' } as const;
  beforeAll(() => setPolicy(service.db, { ...terms, settlementDelaySeconds: 86_400 }));
  afterAll(() => setPolicy(service.db, { ...terms, settlementDelaySeconds: 10 }));

  it('NEXT starts the workflow again, and closes the exception', async () => {
    const [payment, other] = [await createPaid(service), await createPaid(service)];
    for (const lost of [payment, other]) await workflowOf(lost).terminate('by hand');
    await reconcile(service);
    const found = (await attention()).find(({ next }) => next.includes(payment.reference_id));
    expect(found).toMatchObject({
      kind: 'exception',
      cause: 'reconciliation lost',
      next: `lunas recover ${payment.reference_id} --note "…"`,
    });
    const text = await runNext(found?.next ?? '');
    expect(text).toMatch(new RegExp(`${payment.reference_id} +started again +0 +1$`, 'm'));
    expect((await workflowOf(payment).describe()).status.name).toBe('RUNNING');
    expect((await attention()).filter(({ subject }) => subject === found?.subject)).toEqual([]);

    // A recovery of everything closes the exception of the other one too.
    expect((await workflowOf(other).describe()).status.name).toBe('TERMINATED');
    await runNext('lunas recover');
    expect((await workflowOf(other).describe()).status.name).toBe('RUNNING');
    expect((await attention()).filter(({ cause }) => cause === 'reconciliation lost')).toEqual([]);
  });
});

async function lunas(...args: readonly string[]): Promise<string> {
  const outcome = await runLunas(args, environment);
  expect(outcome).toMatchObject({ exitCode: 0 });
  return outcome.stdout;
}

const create = () => service.call('POST', '/payments', { amount: 50_000 });
const NOTE = ['--note', 'x'] as const;

/** What a row of the list stands for: its kind, and the cause of an exception. */
type RowName =
  | Exclude<AttentionKind, 'exception'>
  | `exception ${Exclude<ExceptionKind, AccountStop>}`
  | `exception reconciliation ${ExceptionCause}`;

interface Planted {
  /** @returns a part of the subject or of NEXT, by which the row is found; null: there is one row of the kind */
  readonly plant: () => Promise<string | null>;
  /** How NEXT ends: 1 if it reports what is wrong. */
  readonly exitCode?: 0 | 1;
  /** What an operator does after NEXT: the commands that its output or the page names, or the repair of a server. */
  readonly repair?: (output: string, sought: string) => Promise<unknown>;
  /** The cause itself: resolves when it is gone. */
  readonly isGone?: (sought: string) => Promise<unknown>;
}

/** Why a row is not planted here, with the test that has it. */
interface Elsewhere {
  readonly because: string;
  readonly test: string;
}

const statusOf = async (table: 'payments' | 'payouts', reference: string) =>
  (await service.db.query(`select status from ${table} where reference_id = $1`, [reference])).rows[0]?.status;
const paymentIs =
  (...statuses: readonly string[]) =>
  (reference: string) =>
    expectEventually(() => statusOf('payments', reference), statuses);
const payoutIs =
  (...statuses: readonly string[]) =>
  (reference: string) =>
    expectEventually(() => statusOf('payouts', reference), statuses);

async function expectEventually(read: () => Promise<string>, wanted: readonly string[]): Promise<void> {
  expect(wanted).toContain(await eventually(read, (status) => wanted.includes(status)));
}

/** A payout of a shop that an operator has to approve. */
async function requestPayout(): Promise<ShopPayout> {
  const shop = await atBank.newShop(ORDINARY);
  const output = await lunas('payouts', 'create', '--merchant', shop.merchantId, ...NOTE, '--json');
  const { payout } = z
    .object({ payout: z.object({ id: z.string(), reference_id: z.string() }) })
    .parse(JSON.parse(output));
  return { ...shop, payoutId: payout.id, referenceId: payout.reference_id };
}

/** An approved payout of a merchant on hold, for two hours. */
async function deferPayout(): Promise<ShopPayout> {
  const payout = await requestPayout();
  await lunas('merchants', 'hold', payout.merchantId, ...NOTE);
  await lunas('payouts', 'approve', payout.referenceId, ...NOTE);
  await asSuperuser(service.db, {
    text: "update payouts set updated_at = updated_at - interval '2 hours' where id = $1",
    values: [payout.payoutId],
  });
  return payout;
}

/** A payout that was sent long ago. */
async function sendPayout(number: string, notFoundSeconds: number): Promise<ShopPayout> {
  await service.db.query(
    `insert into payout_limits (cooldown_seconds, not_found_seconds, replaces_id)
     select 0, $1, max(id) from payout_limits`,
    [notFoundSeconds],
  );
  const payout = await atBank.requested(number);
  await eventually(
    () => atBank.rowOf(payout),
    ({ send_outcome: outcome }) => outcome !== null,
  );
  await asSuperuser(service.db, {
    text: "update payouts set last_sent_at = last_sent_at - interval '3 days' where id = $1",
    values: [payout.payoutId],
  });
  return payout;
}

/** An exception of a payment, which an operator compares with the acquirer and resolves. */
function exceptionOf(kind: ExceptionKind): Planted {
  return {
    async plant() {
      const { reference_id: referenceId, id: paymentId } = await createPaid(service);
      await openException(service.db, { kind, referenceId, paymentId, detail: 'Compare it.' });
      return referenceId;
    },
    repair: resolveNamed,
    isGone: isResolved,
  };
}

/** The output of `show` names the command, with the id of the exception. */
async function resolveNamed(output: string): Promise<void> {
  const [, id = ''] = /lunas exceptions resolve ([\da-f-]{36}) --note "…"/.exec(output) ?? [];
  await lunas('exceptions', 'resolve', id, ...NOTE);
}

async function isResolved(reference: string): Promise<void> {
  const { rows } = await service.db.query('select from exceptions where reference_id = $1 and resolved_at is null', [
    reference,
  ]);
  expect(rows).toEqual([]);
}

function exceptionOfPayout(kind: ExceptionKind): Planted {
  return {
    async plant() {
      const { referenceId } = await atBank.requested(ORDINARY);
      await openException(service.db, { kind, referenceId, detail: 'Compare it.' });
      return referenceId;
    },
    repair: resolveNamed,
    isGone: isResolved,
  };
}

/** An order or payout that is not here. */
function exceptionOfNothing(kind: ExceptionKind, referenceId: string): Planted {
  return {
    async plant() {
      await openException(service.db, { kind, referenceId, detail: 'Not here.' });
      const { rows } = await service.db.query('select id from exceptions where reference_id = $1', [referenceId]);
      return rows[0].id;
    },
    isGone: () => isResolved(referenceId),
  };
}

/** The acquirer did something that stops its account. */
function accountStop(kind: AccountStop): Planted {
  return {
    async plant() {
      const { id: paymentId, reference_id: referenceId } = await createPaid(service);
      const { rows } = await service.db.query('select provider_account_id as id from payments where id = $1', [
        paymentId,
      ]);
      const providerAccountId: string = rows[0].id;
      await openException(service.db, { kind, referenceId, paymentId, providerAccountId, detail: 'Not ours.' });
      await lunas('accounts', 'disable', providerAccountId, ...NOTE);
      return referenceId;
    },
    async repair(output, reference) {
      const { rows } = await service.db.query(
        'select provider_account_id as id from payments where reference_id = $1',
        [reference],
      );
      await lunas('accounts', 'enable', rows[0].id, ...NOTE);
      await resolveNamed(output);
    },
    async isGone(reference) {
      await isResolved(reference);
      expect((await eventually(create, ({ status }) => status === 201)).status).toBe(201);
    },
  };
}

const ROWS: Readonly<Record<RowName, Planted | Elsewhere>> = {
  postgresql: { because: 'the service of this file needs it', test: 'test/services/attention.test.ts' },
  temporal: { because: 'the service of this file needs it', test: 'test/cli/write-commands.test.ts' },
  worker: { because: 'it has a stack of its own below', test: 'test/cli/attention-next.test.ts' },
  worker_version: { because: 'a version drains for three days', test: 'test/services/attention.test.ts' },
  approval: {
    because: 'only production asks for a second operator',
    test: 'test/services/payouts/payout-approvals.test.ts',
  },
  audit_breaks: {
    because: 'it ends only when the rows of the audit log are as they were',
    test: 'test/services/verification/verifications.test.ts',
  },
  'exception reconciliation failed_run': {
    async plant() {
      const { rows } = await service.db.query(
        "select id from provider_accounts where status = 'enabled' and provider = 'gopay'",
      );
      const accountId: string = rows[0].id;
      const referenceId = failedRunReference(accountId);
      const failed = { kind: 'reconciliation', cause: 'failed_run', detail: 'A run failed.' } as const;
      await openException(service.db, { ...failed, referenceId, providerAccountId: accountId });
      return 'lunas reconcile';
    },
  },
  recovery_mode: {
    plant: () => lunas('recovery', 'begin', ...NOTE).then(() => null),
    async repair(output) {
      expect(output).toMatch(/^Next +lunas recover, lunas reconcile, lunas recovery end$/m);
      await lunas('recover', ...NOTE);
      await lunas('reconcile', ...NOTE);
      await lunas('recovery', 'end', '--lost-nothing', ...NOTE);
    },
    isGone: async () => expect(await lunas('recovery', 'status')).toMatch(/^Recovery mode +off$/m),
  },
  ledger_breaks: {
    async plant() {
      const { id, reference_id: reference }: TestPayment = (await create()).body.payment;
      await lunas('payments', 'cancel', reference, ...NOTE);
      await asSuperuser(service.db, { text: "update payments set status = 'expired' where id = $1", values: [id] });
      expect((await runLunas(['ledger', 'verify'], environment)).exitCode).toBe(1);
      return null;
    },
    exitCode: 1,
    async repair(output) {
      const [id] = /[\da-f]{8}-[\da-f-]{27}/.exec(output) ?? [];
      await asSuperuser(service.db, { text: "update payments set status = 'cancelled' where id = $1", values: [id] });
      await lunas('ledger', 'verify');
    },
  },
  role_missing: {
    async plant() {
      await asSuperuser(
        service.db,
        `insert into role_heartbeats values ('dashboard', now() - interval '1 hour')
         on conflict (role) do update set seen_at = excluded.seen_at`,
      );
      return 'dashboard';
    },
    // A rule is broken beside it: the namespaces of tests keep a workflow for a day only.
    exitCode: 1,
    async repair(output) {
      expect(output).toMatch(/No process has the role dashboard any more\.\s.*`lunas dashboard`/s);
      const ports = await freePorts();
      const dashboard = spawn(process.execPath, [LUNAS, 'dashboard'], {
        env: { PATH: process.env.PATH, ...environment, ...ports, DATABASE_URL: service.dashboardDatabaseUrl },
      });
      const seen = () =>
        service.db.query(
          "select from role_heartbeats where seen_at > now() - interval '1 minute' and role = 'dashboard'",
        );
      await eventually(seen, ({ rowCount }) => rowCount === 1);
      dashboard.kill('SIGINT');
      await once(dashboard, 'exit');
    },
  },
  daily_run: {
    async plant() {
      await asSuperuser(
        service.db,
        `insert into daily_runs (kind, started_at, finished_at, failure)
         values ('retention', now(), now(), 'PostgreSQL is full')`,
      );
      return 'retention';
    },
    isGone: () =>
      expectEventually(
        async () =>
          String(
            (
              await service.db.query(
                "select is_complete from daily_runs where kind = 'retention' order by started_at desc limit 1",
              )
            ).rows[0].is_complete,
          ),
        ['true'],
      ),
  },
  workflow: {
    async plant() {
      const payment: TestPayment = (await create()).body.payment;
      await service.providerDb.query("update payments set order_id = order_id || '-hidden' where order_id = $1", [
        payment.reference_id,
      ]);
      await service.workflows.signalProviderUpdate(payment.id);
      return payment.reference_id;
    },
    async repair(output, reference) {
      expect(output).toMatch(/waits for .* because /);
      await service.providerDb.query('update payments set order_id = $1 where order_id = $2', [
        reference,
        `${reference}-hidden`,
      ]);
      await lunas('payments', 'cancel', reference, ...NOTE);
    },
    isGone: paymentIs('cancelled'),
  },
  payment_overdue: {
    async plant() {
      const payment: TestPayment = (await create()).body.payment;
      await workflowOf(payment).terminate('by hand');
      await asSuperuser(service.db, {
        text: `update payments set created_at = created_at - interval '2 hours',
          expires_at = expires_at - interval '2 hours' where id = $1`,
        values: [payment.id],
      });
      return payment.reference_id;
    },
    isGone: paymentIs('expired'),
  },
  refund_failed: {
    async plant() {
      const payment = await createPaid(service);
      await service.injectFault('refund', 'reject');
      await service.call('POST', `/payments/${payment.id}/refund`);
      await paymentIs('refund_failed')(payment.reference_id);
      await service.clearFaults();
      return payment.reference_id;
    },
    isGone: paymentIs('refunded'),
  },
  refund_unconfirmed: {
    async plant() {
      const payment = await createPaid(service);
      await service.injectFault('refund', 'accept_then_reset', 1_000);
      await service.injectFault('status', 'http_500', 1_000);
      await service.call('POST', `/payments/${payment.id}/refund`);
      const read = () => service.db.query('select status from refunds where payment_id = $1', [payment.id]);
      await eventually(read, ({ rows }) => rows[0]?.status === 'submitted');
      await asSuperuser(service.db, {
        text: "update refunds set submitted_at = submitted_at - interval '7 days' where payment_id = $1",
        values: [payment.id],
      });
      return payment.reference_id;
    },
    repair: () => service.clearFaults(),
    isGone: paymentIs('refunded'),
  },
  settlement_due: {
    async plant() {
      const terms = { provider: 'gopay', channel: 'qris' } as const;
      await setPolicy(service.db, { ...terms, settlementKind: 'manual', settlementDelaySeconds: 0 });
      const { reference_id: reference } = await createPaid(service);
      await setPolicy(service.db, { ...terms, settlementKind: 'automatic', settlementDelaySeconds: 10 });
      manual = reference;
      return service.merchantId;
    },
    async repair(output) {
      expect(output).toContain(manual);
      await lunas('payments', 'settle', manual, ...NOTE);
    },
    isGone: () => paymentIs('settled')(manual),
  },
  foreign_qris: accountStop('foreign_qris'),
  changed_amount: accountStop('changed_amount'),
  'exception late_payment': exceptionOf('late_payment'),
  'exception wrong_amount': exceptionOf('wrong_amount'),
  'exception paid_twice': exceptionOf('paid_twice'),
  'exception refunded_after_settlement': exceptionOf('refunded_after_settlement'),
  'exception refunded_twice': exceptionOf('refunded_twice'),
  'exception reconciliation': exceptionOf('reconciliation'),
  'exception reconciliation lost': {
    because: 'it is the first case of this file',
    test: 'test/cli/attention-next.test.ts',
  },
  'exception reconciliation overdue': {
    async plant() {
      const { id: paymentId, reference_id: referenceId } = await createPaid(service);
      await openException(service.db, {
        kind: 'reconciliation',
        cause: 'overdue',
        referenceId,
        paymentId,
        detail: 'Late.',
      });
      await service.client.workflow.getHandle(paymentWorkflowId(paymentId)).terminate('by hand');
      return referenceId;
    },
    async isGone(reference) {
      await isResolved(reference);
      await paymentIs('settled')(reference);
    },
  },
  'exception payout_conflict': exceptionOfPayout('payout_conflict'),
  'exception payout_amount': exceptionOfPayout('payout_amount'),
  'exception payout_source_balance': exceptionOfPayout('payout_source_balance'),
  'exception unknown_order': exceptionOfNothing('unknown_order', 'LN7'),
  'exception unknown_payout': exceptionOfNothing('unknown_payout', 'LP7'),
  'exception lost_payout': exceptionOfNothing('lost_payout', 'LP8'),
  merchant_pending: {
    async plant() {
      const { merchant } = JSON.parse(await lunas('merchants', 'create', '--name', 'Toko Baru', '--json'));
      return merchant.id;
    },
    async isGone(id) {
      const { rows } = await service.db.query('select status from merchants where id = $1', [id]);
      expect(rows).toEqual([{ status: 'approved' }]);
    },
  },
  merchant_unidentified: {
    because: 'only production needs an identity',
    test: 'test/services/merchants/identify-merchant.test.ts',
  },
  identity_expiring: {
    because: 'a file that an operator writes repairs it',
    test: 'test/services/merchants/identify-merchant.test.ts',
  },
  company_missing: {
    because: 'a file that an operator writes repairs it',
    test: 'test/services/invoices/issue-invoices.test.ts',
  },
  invoices_not_issued: {
    async plant() {
      await ensureCompany(service.db);
      await cutNow(service.db);
      return monthInWib(new Date());
    },
    async isGone() {
      const { rowCount } = await service.db.query('select from fee_periods where issued_at is null');
      expect(rowCount).toBe(0);
    },
  },
  merchant_on_hold: {
    plant: () => lunas('merchants', 'hold', service.merchantId, ...NOTE).then(() => service.merchantId),
    async isGone(id) {
      const { rows } = await service.db.query('select held_at from merchants where id = $1', [id]);
      expect(rows).toEqual([{ held_at: null }]);
    },
  },
  bank_account_to_approve: {
    plant: async () => prepareBankAccount(service, (await atBank.newShop(ORDINARY)).merchantId, 'pending_approval'),
    repair: (_output, id) => lunas('bank-accounts', 'approve', id, ...NOTE),
    isGone: (id) => bankAccountIs(id, 'active'),
  },
  bank_account_without_name: {
    async plant() {
      const id = await prepareBankAccount(service, (await atBank.newShop(ORDINARY)).merchantId, 'pending_inquiry');
      await asSuperuser(service.db, {
        text: "update bank_accounts set created_at = created_at - interval '1 hour' where id = $1",
        values: [id],
      });
      return id;
    },
    isGone: (id) => bankAccountIs(id, 'active', 'pending_approval'),
  },
  payouts_stopped: {
    plant: () => lunas('payouts', 'stop', ...NOTE).then(() => null),
    async isGone() {
      const { rows } = await service.db.query('select is_stopped from payout_stops order by id desc limit 1');
      expect(rows).toEqual([{ is_stopped: false }]);
    },
  },
  account_disabled: {
    async plant() {
      const { rows } = await service.db.query("select id from provider_accounts where provider = 'gopay'");
      await lunas('accounts', 'disable', rows[0].id, ...NOTE);
      return rows[0].id;
    },
    isGone: async () => expect((await eventually(create, ({ status }) => status === 201)).status).toBe(201),
  },
  payout_waiting_for_approval: {
    plant: async () => (await requestPayout()).referenceId,
    isGone: payoutIs('completed'),
  },
  payout_deferred: {
    async plant() {
      const payout = await deferPayout();
      held = payout.merchantId;
      return payout.referenceId;
    },
    async repair(output) {
      expect(output).toContain('lunas merchants release');
      await lunas('merchants', 'release', held, ...NOTE);
    },
    isGone: payoutIs('completed'),
  },
  payout_not_sent: {
    async plant() {
      const payout = await deferPayout();
      await atBank.workflowOf(payout).terminate('by hand');
      await asSuperuser(service.db, {
        text: 'update merchants set held_at = null where id = $1',
        values: [payout.merchantId],
      });
      return payout.referenceId;
    },
    async repair(output, reference) {
      expect(output).toContain(`lunas recover ${reference}`);
      await lunas('recover', reference, ...NOTE);
    },
    isGone: payoutIs('completed'),
  },
  payout_not_found: {
    plant: async () => (await sendPayout('9900000042', 0)).referenceId,
    async repair(output, reference) {
      expect(output).toMatch(/^Bank's status now +it does not know the payout$/m);
      await lunas('payouts', 'resend', reference, ...NOTE);
    },
    isGone: payoutIs('completed', 'failed'),
  },
  payout_indeterminate: {
    async plant() {
      await service.injectFault('transfer_status', 'http_500', 1_000);
      return (await sendPayout('9900000041', 30 * 86_400)).referenceId;
    },
    async repair(output, reference) {
      expect(output).toMatch(/^Bank's status now +indeterminate: /m);
      await service.clearFaults();
      await lunas('payouts', 'resolve', reference, '--as', 'failed', '--evidence', 'ticket 7 of the bank', ...NOTE);
    },
    isGone: payoutIs('failed'),
  },
  payout_overdue: {
    plant: async () => (await sendPayout('9900000020', 30 * 86_400)).referenceId,
    async repair(output, reference) {
      expect(output).toMatch(/^Bank's status now +pending/m);
      await lunas(
        'payouts',
        'resolve',
        reference,
        '--as',
        'completed',
        '--evidence',
        'line 12 of the statement',
        ...NOTE,
      );
    },
    isGone: payoutIs('completed'),
  },
  payout_returned: {
    async plant() {
      const payout = await atBank.requested('9900000030');
      await payoutIs('returned')(payout.referenceId);
      returnedTo = payout.bankAccountId;
      return payout.referenceId;
    },
    async repair(output) {
      expect(output).toContain(returnedTo);
      await lunas('bank-accounts', 'disable', returnedTo, ...NOTE);
    },
  },
  endpoint_failing: {
    async plant() {
      const id = await createEndpoint();
      await asSuperuser(service.db, {
        text: `update webhook_endpoints set failing_since = now(), consecutive_failures = 20,
          next_probe_at = now() + interval '1 hour' where id = $1`,
        values: [id],
      });
      return id;
    },
  },
  webhooks_dead: {
    async plant() {
      const id = await createEndpoint();
      await createPaid(service);
      await receiver.waitFor(1);
      await asSuperuser(service.db, {
        text: "update webhook_deliveries set status = 'dead', dead_reason = 'expired' where endpoint_id = $1",
        values: [id],
      });
      return service.merchantId;
    },
    async repair(output) {
      const [id = ''] = /[\da-f]{8}-[\da-f-]{27}/.exec(output) ?? [];
      expect(id).not.toBe('');
      const [since, until] = [new Date(Date.now() - 3_600_000), new Date(Date.now() + 60_000)].map((at) =>
        at.toISOString(),
      );
      await lunas('webhooks', 'redeliver', '--since', since ?? '', '--until', until ?? '', ...NOTE);
    },
  },
};

/** What a case has planted, if its row has another subject. */
let [manual, held, returnedTo] = ['', '', ''];

const bankAccountIs = (id: string, ...statuses: readonly string[]) =>
  expectEventually(
    async () => (await service.db.query('select status from bank_accounts where id = $1', [id])).rows[0].status,
    statuses,
  );

async function createEndpoint(): Promise<string> {
  const args = ['webhooks', 'create', '--merchant', service.merchantId, '--url', receiver.url] as const;
  await lunas('webhooks', 'list');
  return JSON.parse(await lunas(...args, '--json')).endpoint.id;
}

const isPlanted = (entry: readonly [string, Planted | Elsewhere]): entry is [string, Planted] => 'plant' in entry[1];

/** Each case runs some commands, and a list may have to be read again on a busy machine. */
const CASE_TIMEOUT_MS = 240_000;

describe('NEXT of a row', () => {
  it.each(Object.entries(ROWS).filter(isPlanted))(
    '%s',
    async (name, { plant, exitCode = 0, repair, isGone }) => {
      const sought = await plant();
      const [kind, ...cause] = name.split(' ');
      const isIt = (found: { kind: string; cause: string | null; subject: string | null; next: string }) =>
        found.kind === kind &&
        (kind !== 'exception' || found.cause === cause.join(' ')) &&
        (sought === null || `${found.subject} ${found.next}`.includes(sought));
      const cases = await eventually(attention, (cases) => cases.some(isIt));
      const found = cases.find(isIt);
      expect(found).toBeDefined();
      const output = await runNext(found?.next ?? '', exitCode);
      await repair?.(output, sought ?? '');
      await isGone?.(sought ?? '');
      expect((await eventually(attention, (cases) => !cases.some(isIt))).filter(isIt)).toEqual([]);
    },
    CASE_TIMEOUT_MS,
  );

  it.each(Object.entries(ROWS).filter((entry) => !isPlanted(entry)))('%s has a test elsewhere', (_name, row) => {
    expect('test' in row && existsSync(path.join(PACKAGE_ROOT, row.test))).toBe(true);
  });
});

describe('without a worker', () => {
  it('show, attention and actions name the task queue that no worker polls', async () => {
    const { payment } = (await service.call('POST', '/payments', { amount: 50_000 })).body;
    const { namespace } = await newNamespace();
    const alone = { ...environment, TEMPORAL_NAMESPACE: namespace };
    expect(await runBuiltLunas(['temporal', 'setup'], alone)).toMatchObject({ exitCode: 0 });
    const client = connectClient({ ...service.temporal, namespace }, NO_PAYLOAD_KEYS);
    const workflowId = paymentWorkflowId(payment.id);
    await client.workflow.start('payment', { workflowId, taskQueue: PAYMENTS_TASK_QUEUE, args: [] });
    await client.connection.close();
    // On a busy machine a command may not have the time to ask for the workers.
    const show = await eventually(
      () => runBuiltLunas(['payments', 'show', payment.reference_id], alone),
      ({ stdout }) => stdout.includes('no worker polls'),
    );
    const action = await runBuiltLunas(['payments', 'cancel', payment.reference_id, '--note', 'x'], alone);
    const list = await eventually(
      () => runLunas(['attention'], alone),
      ({ stdout }) => stdout.includes('no worker polls'),
    );
    expect(show.stdout).toMatch(/ because no worker polls lunas-payments\.$/m);
    expect(action.stderr).toMatch(/^error: No worker polls lunas-payments \(lunas doctor\): .*\n$/);
    expect(list.stdout).toMatch(/ worker +lunas doctor +no worker polls lunas-payments \(docs/);

    // A payment that PostgreSQL does not have yet: its workflow waits for its first task.
    const unstored = randomUUID();
    const alsoAlone = connectClient({ ...service.temporal, namespace }, NO_PAYLOAD_KEYS);
    await alsoAlone.workflow.start('payment', {
      workflowId: paymentWorkflowId(unstored),
      taskQueue: PAYMENTS_TASK_QUEUE,
      args: [],
    });
    await alsoAlone.connection.close();
    const found = await eventually(
      () => runBuiltLunas(['payments', 'show', unstored], alone),
      ({ stderr }) => stderr.includes('no worker polls'),
    );
    expect(found.stderr).toMatch(
      /^error: There is no payment \S+\. Workflow payment-\S+ was started at \S+ and waits: /,
    );
    expect(found.stderr).toContain(': no worker polls lunas-payments (lunas doctor).');
  });

  it('show has the request that failed to create a payment, and its workflow', async () => {
    await service.stopWorker();
    const failed = await create();
    const requestId = failed.headers.get('x-request-id') ?? '';
    const shown = await eventually(
      () => runBuiltLunas(['payments', 'show', requestId], environment),
      ({ stderr }) => stderr.includes('Workflow'),
    );
    await service.startWorker();
    expect(failed.status).toBe(500);
    expect(shown.exitCode).toBe(1);
    expect(shown.stderr).toMatch(/Request \S+ of \S+ was POST \/payments, 500: no QR in time for LN\w+ /);
    expect(shown.stderr).toMatch(/Workflow payment-\S+ was started at \S+ and (waits|runs)/);
  });
});
