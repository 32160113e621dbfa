import { MockActivityEnvironment } from '@temporalio/testing';
import { syncPaidPayment } from '../../activities/sync-paid-payment';
import { syncFailedRefund } from '../../activities/sync-failed-refund';
import { acceptPayment } from '../../src/db/transitions/accept-payment';
import { cancelRefund } from '../../src/db/transitions/cancel-refund';
import { issuePayment } from '../../src/db/transitions/issue-payment';
import { payPayment } from '../../src/db/transitions/pay-payment';
import { refuseRefund } from '../../src/db/transitions/refuse-refund';
import { requestRefund } from '../../src/db/transitions/request-refund';
import { submitRefund } from '../../src/db/transitions/submit-refund';
import { MAX_REFUNDS, refundKeyOf } from '../../src/domain/refund';
import type { PaymentState, PaymentTerms } from '../../src/domain/payment';
import type { StepInput, StepResult } from '../../src/domain/workflow-step';
import { activityDependencies } from '../support/activity-dependencies';
import { creation, createTestLedger, type TestLedger } from '../support/payments';
import { FakeAcquirer } from './model/fake-acquirer';

/** Refunds that the provider has, and PostgreSQL has not: made in its dashboard, or lost with a restore. */

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
  await acceptPayment(ledger.context, creation(terms, AT));
  await issuePayment(ledger.context, stepAt(1), { qrisPayload: '000201', providerTransactionId: 'T' });
  ({ state } = await payPayment(ledger.context, stepAt(2), AT));
});

function stepAt(version: number) {
  return { paymentId: terms.paymentId, version, at: AT };
}

/** Runs the step that a report leads to. */
function recheck(
  activity: (dependencies: ReturnType<typeof activityDependencies>, step: StepInput) => Promise<StepResult>,
): Promise<StepResult> {
  const dependencies = activityDependencies(ledger.context, acquirer);
  const run = (): Promise<StepResult> =>
    activity(dependencies, { terms, state, atMs: AT.getTime(), createdAtMs: AT.getTime() });
  return new MockActivityEnvironment().run<[], StepResult, typeof run>(run);
}

async function keysOf(): Promise<string[]> {
  const { rows } = await ledger.db.query<{ key: string }>(
    'select refund_key as key from refunds where payment_id = $1 order by number',
    [terms.paymentId],
  );
  return rows.map(({ key }) => key);
}

it('a refund at the provider after twenty refunds is recorded as the twenty-first', async () => {
  for (let number = 1; number <= MAX_REFUNDS; number += 1) {
    const refund = { number, refundKey: refundKeyOf(terms.referenceId, number), holdSeconds: 60 };
    ({ state } = await requestRefund(ledger.context, stepAt(state.version), refund));
    ({ state } = await cancelRefund(ledger.context, stepAt(state.version), number));
  }
  acquirer.refundManually(terms.referenceId);
  const result = await recheck(syncPaidPayment);
  expect(result.state).toMatchObject({ status: 'refund_processing', refund: { number: MAX_REFUNDS + 1 } });
});

it('a refund of ours that a paid payment has lost keeps its number', async () => {
  const refundKey = refundKeyOf(terms.referenceId, 2);
  await acquirer.refundPayment({ ...terms, refundKey, reason: 'requested by the merchant' });
  const result = await recheck(syncPaidPayment);
  expect(result.state).toMatchObject({ status: 'refund_processing', refund: { number: 2 } });
  expect(await keysOf()).toEqual([refundKey]);
});

it('a retry of ours that a payment whose refund failed has lost is recorded as that retry', async () => {
  const refund = { number: 1, refundKey: refundKeyOf(terms.referenceId, 1), holdSeconds: 0 };
  await requestRefund(ledger.context, stepAt(3), refund);
  await submitRefund(ledger.context, stepAt(4), 1);
  ({ state } = await refuseRefund(ledger.context, stepAt(5), { number: 1, reason: 'an outage' }));
  const refundKey = refundKeyOf(terms.referenceId, 2);
  await acquirer.refundPayment({ ...terms, refundKey, reason: 'requested by the merchant' });
  const result = await recheck(syncFailedRefund);
  expect(result.state).toMatchObject({ status: 'refund_processing', refund: { number: 2, status: 'held' } });
  expect(await keysOf()).toEqual([refund.refundKey, refundKey]);
});
