import { MockActivityEnvironment } from '@temporalio/testing';
import * as activities from '../../activities/payment';
import { transitionWriters } from '../../src/db/transitions/payment-transitions';
import type { StepResult } from '../../src/domain/workflow-step';
import { verifyLedger } from '../../src/services/ledger/verify-ledger';
import { failPayment } from '../../src/services/payments/actions/fail-payment';
import { performPaymentAction } from '../../src/services/payments/actions/perform-action';
import { setPolicy } from '../../src/services/provider-accounts/catalog';
import { paymentWorkflowId } from '../../workflows/ids';
import { SEARCH_ATTRIBUTES } from '../../workflows/messages';
import { activityDependencies } from '../support/activity-dependencies';
import { osUser } from '../support/actors';
import { eventually } from '../support/eventually';
import { createTestLedger, creation } from '../support/payments';
import type { TestService } from '../support/service';
import { startTimeSkippingService, type TimeSkippingService } from '../support/time-skipping-service';
import { FakeAcquirer } from './model/fake-acquirer';

const DAY_MS = 86_400_000;

let timeSkipping: TimeSkippingService;
let service: TestService;

beforeAll(async () => {
  timeSkipping = await startTimeSkippingService();
  service = timeSkipping.service;
  for (const provider of ['gopay', 'shopeepay'] as const) {
    await setPolicy(service.db, { provider, channel: 'qris', settlementDelaySeconds: (3 * DAY_MS) / 1_000 });
  }
});
afterAll(() => timeSkipping.close());
beforeEach(() => service.clearFaults());

function fail(id: string) {
  return performPaymentAction(service, osUser('dewi'), { operation: failPayment, payment: id, note: 'ticket 7' });
}

/** The provider has the order over another amount than the payment's. */
async function changeAmount(referenceId: string): Promise<void> {
  await service.providerDb.query('update payments set gross_amount_rupiah = 40000 where order_id = $1', [referenceId]);
}

/** The provider has the order as another transaction than the one that it issued. */
async function changeTransaction(referenceId: string): Promise<void> {
  await service.providerDb.query("update payments set transaction_id = 'another' where order_id = $1", [referenceId]);
}

async function statusOfAccount(): Promise<string | undefined> {
  const { rows } = await service.db.query<{ status: string }>(
    "select status from provider_accounts where provider = 'gopay'",
  );
  return rows[0]?.status;
}

async function exceptionsOf(id: string): Promise<string[]> {
  const { rows } = await service.db.query<{ kind: string }>(
    'select kind from exceptions where payment_id = $1 order by kind',
    [id],
  );
  return rows.map(({ kind }) => kind);
}

async function suspenseOf(id: string): Promise<number> {
  const { rows } = await service.db.query<{ suspense: number }>(
    `select coalesce(sum(case side when 'credit' then amount_rupiah else -amount_rupiah end), 0)::bigint as suspense
     from ledger_entries join ledger_postings on ledger_postings.id = posting_id
     where payment_id = $1 and account = 'suspense'`,
    [id],
  );
  return rows[0]?.suspense ?? 0;
}

async function noticesOf(id: string): Promise<unknown[]> {
  const { rows } = await service.db.query('select kind, count from merchant_notices where target_id = $1', [id]);
  return rows;
}

async function needsAttention(id: string): Promise<boolean | undefined> {
  const { typedSearchAttributes } = await service.client.workflow.getHandle(paymentWorkflowId(id)).describe();
  return typedSearchAttributes.get(SEARCH_ATTRIBUTES.needsAttention);
}

it('paid by another transaction: is not paid, fails at its deadline, and the money is refunded', async () => {
  const { id, reference_id } = await timeSkipping.createPayment();
  await changeTransaction(reference_id);
  await service.pay(reference_id);
  await eventually(
    () => service.workflows.queryStatus(id),
    (report) => report?.attentionReason?.includes('has transaction another instead of') === true,
  );
  expect(await timeSkipping.runToEnd(id)).toBe('failed');
  await eventually(
    () => exceptionsOf(id),
    (kinds) => kinds.includes('paid_twice'),
  );
  expect(await suspenseOf(id)).toBe(0);
});

it('paid over another amount: fails at its deadline, and the money is a late payment in suspense', async () => {
  const { id, reference_id } = await timeSkipping.createPayment();
  await changeAmount(reference_id);
  await service.pay(reference_id);
  await eventually(
    () => service.workflows.queryStatus(id),
    (report) => report?.attentionReason?.includes('Rp 40.000 instead of Rp 50.000') === true,
  );
  expect(await timeSkipping.runToEnd(id)).toBe('failed');
  await eventually(
    () => exceptionsOf(id),
    (kinds) => kinds.length === 3,
  );
  expect(await exceptionsOf(id)).toEqual(['changed_amount', 'late_payment', 'wrong_amount']);
  expect(await suspenseOf(id)).toBe(40_000);
  expect(await noticesOf(id)).toEqual([{ kind: 'payment.other_amount', count: 1 }]);
});

it('open over another amount: expires at its deadline, and stops no account that was stopped for it', async () => {
  expect(await statusOfAccount()).toBe('disabled');
  await service.db.query("update provider_accounts set status = 'enabled' where provider = 'gopay'");
  const { id, reference_id } = await timeSkipping.createPayment();
  await changeAmount(reference_id);
  await service.workflows.signalProviderUpdate(id);
  expect(await timeSkipping.runToEnd(id)).toBe('expired');
  expect(await exceptionsOf(id)).toEqual(['wrong_amount']);
  expect(await statusOfAccount()).toBe('enabled');
});

it('refunded at the provider before the payment is recorded: paid, then refunded', async () => {
  const { id, reference_id } = await timeSkipping.createPayment();
  await service.pay(reference_id, { notify: false });
  await service.refundAtProvider(reference_id);
  expect(await timeSkipping.runToEnd(id)).toBe('refunded');
  expect(await service.transitionsOf(id)).toEqual([
    'create',
    'issue',
    'pay',
    'request_refund',
    'submit_refund',
    'confirm_refund',
  ]);
});

describe('an operator who requests to fail a payment', () => {
  it('fails a payment whose order the provider does not know', async () => {
    const { id, reference_id } = await timeSkipping.createPayment();
    await service.providerDb.query('delete from payments where order_id = $1', [reference_id]);
    await timeSkipping.clock.advance(16 * 60_000);
    expect(await service.workflows.queryStatus(id)).toMatchObject({
      status: 'pending',
      attentionReason: expect.stringContaining('does not know this order'),
    });
    expect(await fail(id)).toMatchObject({ status: 'failed' });
    const { rows } = await service.db.query(
      "select actor, note from payment_transitions where payment_id = $1 and to_status = 'failed'",
      [id],
    );
    expect(rows).toEqual([{ actor: 'cli:dewi', note: 'ticket 7' }]);
  });

  it('an operator cannot fail a payment while the provider has it as pending', async () => {
    const { id } = await timeSkipping.createPayment();
    await expect(fail(id)).rejects.toThrow(/has the order as pending/);
    await timeSkipping.waitForStatus(id, 'pending');
  });

  it('an operator cannot fail a payment that the customer paid, and the payment becomes paid', async () => {
    const { id, reference_id } = await timeSkipping.createPayment();
    await service.pay(reference_id, { notify: false });
    await expect(fail(id)).rejects.toThrow(/paid/);
    await timeSkipping.waitForStatus(id, 'paid');
  });

  it('interrupts a step that is being retried and needs attention', async () => {
    const { id } = await timeSkipping.createPayment();
    await service.injectFault('status', 'http_500', 10_000);
    await service.workflows.signalProviderUpdate(id);
    await timeSkipping.clock.advance(60_000);
    expect(await service.workflows.queryStatus(id)).toMatchObject({
      waitingFor: expect.stringContaining('retried'),
      attentionReason: expect.stringContaining('being retried: query the provider: is the order paid?'),
    });
    expect(await needsAttention(id)).toBe(true);
    await expect(timeSkipping.clock.advanceWhile(fail(id))).rejects.toThrow(/status is indeterminate/);
    await service.clearFaults();
    await service.workflows.signalProviderUpdate(id);
    const report = await eventually(
      () => service.workflows.queryStatus(id),
      (report) => report?.attentionReason === null,
    );
    expect(report).toMatchObject({ waitingFor: 'the provider to confirm the payment' });
    expect(await needsAttention(id)).toBe(false);
  });
});

describe('a provider whose status is indeterminate', () => {
  const CREATED_AT = new Date('2026-11-21T10:00:00Z');
  const REJECTED = { rejection: expect.stringContaining('no response') };
  const DEADLINE_AT_MS = CREATED_AT.getTime() + 900_000;

  it.each([
    ['a day after the deadline', DEADLINE_AT_MS + DAY_MS, 'failed'],
    ['before that', DEADLINE_AT_MS + DAY_MS - 1, 'pending'],
  ])('an operator fails the payment: %s it becomes %s', async (_, atMs, status) => {
    const ledger = await createTestLedger();
    const acquirer = new FakeAcquirer();
    const terms = ledger.newTerms();
    const { paymentId, referenceId } = terms;
    acquirer.behaviourOf(referenceId).losses.find.push('response');
    await transitionWriters.create(ledger.context, creation(terms, CREATED_AT));
    const issued = { qrisPayload: '000201', providerTransactionId: 'T' };
    await transitionWriters.issue(ledger.context, { paymentId, version: 1, at: CREATED_AT, ...issued });
    const dependencies = activityDependencies(ledger.context, acquirer);
    const step = { terms, state: { status: 'pending', version: 2 } as const, atMs, createdAtMs: CREATED_AT.getTime() };
    const run = (): Promise<StepResult> => activities.failPayment(dependencies, step);
    const result = await new MockActivityEnvironment().run<[], StepResult, typeof run>(run);
    expect(result).toMatchObject({ state: { status }, ...(status === 'pending' && REJECTED) });
    await ledger.close();
  });
});

it('the ledger of all these payments has no breaks', async () => {
  const { breaks, payments } = await verifyLedger(service.db);
  expect(payments).toBeGreaterThan(0);
  expect(breaks).toEqual([]);
});
