import { MockActivityEnvironment } from '@temporalio/testing';
import { refundPayment, retryRefund, submitRefund, syncFailedRefund, syncPaidPayment } from '../../activities/refund';
import { transitionWriters } from '../../src/db/transitions/payment-transitions';
import type { PaymentState, PaymentTerms } from '../../src/domain/payment';
import { MAX_REFUNDS, refundKeyOf } from '../../src/domain/refund';
import type { StepInput, StepResult } from '../../src/domain/workflow-step';
import { activityDependencies } from '../support/activity-dependencies';
import { createTestLedger, creation, type TestLedger } from '../support/payments';
import { FakeAcquirer } from './model/fake-acquirer';

/** Refunds that the provider has and PostgreSQL has not: made in the dashboard, or lost by a restore. */

const AT = new Date('2026-11-21T10:00:00Z');

let ledger: TestLedger;
let acquirer: FakeAcquirer;
let terms: PaymentTerms;
let state: PaymentState;

beforeAll(async () => {
  ledger = await createTestLedger();
});
afterAll(() => ledger.close());

beforeEach(async () => {
  acquirer = new FakeAcquirer();
  terms = ledger.newTerms();
  const { referenceId, totalRupiah } = terms;
  await acquirer.issueQris({ provider: 'gopay', referenceId, totalRupiah, createdAt: AT, expiresAt: AT });
  acquirer.pay(referenceId);
  await transitionWriters.create(ledger.context, creation(terms, AT));
  await transitionWriters.issue(ledger.context, { ...stepAt(1), qrisPayload: '000201', providerTransactionId: 'T' });
  ({ state } = await transitionWriters.pay(ledger.context, { ...stepAt(2), paidAt: AT }));
});

function stepAt(version: number) {
  return { paymentId: terms.paymentId, version, at: AT };
}

/** Runs a step of the workflow. */
function perform(
  activity: (dependencies: ReturnType<typeof activityDependencies>, step: StepInput) => Promise<StepResult>,
): Promise<StepResult> {
  const dependencies = activityDependencies(ledger.context, acquirer);
  const run = (): Promise<StepResult> =>
    activity(dependencies, { terms, state, atMs: AT.getTime(), createdAtMs: AT.getTime() });
  return new MockActivityEnvironment().run<[], StepResult, typeof run>(run).then((result) => {
    state = { ...state, ...result.state };
    return result;
  });
}

async function refundKeys(): Promise<string[]> {
  const { rows } = await ledger.db.query<{ key: string }>(
    'select refund_key as key from refunds where payment_id = $1 order by number',
    [terms.paymentId],
  );
  return rows.map(({ key }) => key);
}

it('a refund at the provider after twenty refunds is recorded as the twenty-first', async () => {
  for (let refundNumber = 1; refundNumber <= MAX_REFUNDS; refundNumber += 1) {
    const refund = {
      refundNumber,
      refundKey: refundKeyOf(terms.referenceId, refundNumber),
      holdSeconds: 60,
      requestedBy: 'lunas' as const,
    };
    ({ state } = await transitionWriters.request_refund(ledger.context, { ...stepAt(state.version), ...refund }));
    ({ state } = await transitionWriters.cancel_refund(ledger.context, { ...stepAt(state.version), refundNumber }));
  }
  acquirer.refundManually(terms.referenceId);
  const result = await perform(syncPaidPayment);
  expect(result.state).toMatchObject({ status: 'refund_processing', refund: { number: MAX_REFUNDS + 1 } });
});

it('a refund of ours that PostgreSQL has lost is recorded under its number', async () => {
  const refundKey = refundKeyOf(terms.referenceId, 2);
  await acquirer.refundPayment({ ...terms, issued: null, refundKey, reason: 'requested by the merchant' });
  const result = await perform(syncPaidPayment);
  expect(result.state).toMatchObject({ status: 'refund_processing', refund: { number: 2 } });
  expect(await refundKeys()).toEqual([refundKey]);
});

it('a retry of ours that PostgreSQL has lost is recorded under its number', async () => {
  const refund = {
    refundNumber: 1,
    refundKey: refundKeyOf(terms.referenceId, 1),
    holdSeconds: 0,
    requestedBy: 'lunas' as const,
  };
  await transitionWriters.request_refund(ledger.context, { ...stepAt(3), ...refund });
  await transitionWriters.submit_refund(ledger.context, { ...stepAt(4), refundNumber: 1 });
  ({ state } = await transitionWriters.fail_refund(ledger.context, {
    ...stepAt(5),
    refundNumber: 1,
    reason: 'an outage',
  }));
  const refundKey = refundKeyOf(terms.referenceId, 2);
  await acquirer.refundPayment({ ...terms, issued: null, refundKey, reason: 'requested by the merchant' });
  const result = await perform(syncFailedRefund);
  expect(result.state).toMatchObject({ status: 'refund_processing', refund: { number: 2, status: 'held' } });
  expect(await refundKeys()).toEqual([refund.refundKey, refundKey]);
});

describe('a refund that the provider shows, and later removes', () => {
  beforeEach(async () => {
    acquirer.refundManually(terms.referenceId);
    await perform(syncPaidPayment);
    await perform(submitRefund);
    acquirer.removeRefunds(terms.referenceId);
    await perform(refundPayment);
  });

  it('Lunas never requests a refund that the provider removed: it becomes refund_failed', async () => {
    expect(state).toMatchObject({ status: 'refund_failed', refund: { number: 1, status: 'rejected' } });
    expect(acquirer.orders.get(terms.referenceId)?.refunds).toEqual([]);
    const { rows } = await ledger.db.query('select failure_reason as reason from refunds where payment_id = $1', [
      terms.paymentId,
    ]);
    expect(rows).toEqual([{ reason: 'the provider does not list its refund any more' }]);
  });

  it('a refund that the provider removed is requested if an operator retries it', async () => {
    await perform(retryRefund);
    await perform(submitRefund);
    await perform(refundPayment);
    expect(state).toMatchObject({ status: 'refunded' });
    expect(acquirer.orders.get(terms.referenceId)?.refunds).toMatchObject([
      { refundKey: refundKeyOf(terms.referenceId, 2) },
    ]);
  });
});
