import { MockActivityEnvironment } from '@temporalio/testing';
import { recheckPaid } from '../../activities/recheck-paid';
import { recheckRefund } from '../../activities/recheck-refund';
import { acceptPayment } from '../../src/db/transitions/accept-payment';
import { cancelRefund } from '../../src/db/transitions/cancel-refund';
import { issuePayment } from '../../src/db/transitions/issue-payment';
import { payPayment } from '../../src/db/transitions/pay-payment';
import { refuseRefund } from '../../src/db/transitions/refuse-refund';
import { requestRefund } from '../../src/db/transitions/request-refund';
import { submitRefund } from '../../src/db/transitions/submit-refund';
import { MAX_REFUND_ROUNDS, refundKeyOf } from '../../src/domain/refund';
import type { PaymentState, PaymentTerms } from '../../src/domain/payment';
import type { PaymentStep, StepResult } from '../../src/domain/payment-step';
import { activityDependencies } from '../support/activity-dependencies';
import { acceptance, openLedger, type Ledgered } from '../support/payments';
import { PretendAcquirer } from './model/pretend-acquirer';

/** Refunds that the provider has, and PostgreSQL has not: made in its dashboard, or lost with a restore. */

const AT = new Date('2026-11-21T10:00:00Z');

let ledger: Ledgered;
let acquirer: PretendAcquirer;
let terms: PaymentTerms;
let state: PaymentState;

beforeAll(async () => {
  ledger = await openLedger();
});
afterAll(() => ledger.close());

beforeEach(async () => {
  acquirer = new PretendAcquirer();
  terms = ledger.newTerms();
  const { referenceId, totalRupiah } = terms;
  await acquirer.issueQris({ provider: 'gopay', referenceId, totalRupiah, createdAt: AT, expiresAt: AT });
  acquirer.pay(referenceId);
  await acceptPayment(ledger.context, acceptance(terms, AT));
  await issuePayment(ledger.context, stepAt(1), { qrisPayload: '000201', providerTransactionId: 'T' });
  ({ state } = await payPayment(ledger.context, stepAt(2), AT));
});

function stepAt(version: number) {
  return { paymentId: terms.paymentId, version, at: AT };
}

/** Runs the step that a report leads to. */
function recheck(
  activity: (dependencies: ReturnType<typeof activityDependencies>, step: PaymentStep) => Promise<StepResult>,
): Promise<StepResult> {
  const dependencies = activityDependencies(ledger.context, acquirer);
  const run = (): Promise<StepResult> =>
    activity(dependencies, { terms, state, atMs: AT.getTime(), createdAtMs: AT.getTime() });
  return new MockActivityEnvironment().run<[], StepResult, typeof run>(run);
}

async function keysOf(): Promise<string[]> {
  const { rows } = await ledger.db.query<{ key: string }>(
    'select refund_key as key from refunds where payment_id = $1 order by round',
    [terms.paymentId],
  );
  return rows.map(({ key }) => key);
}

it('a refund at the provider after twenty refunds is recorded as the twenty-first', async () => {
  for (let round = 1; round <= MAX_REFUND_ROUNDS; round += 1) {
    const refund = { round, refundKey: refundKeyOf(terms.referenceId, round), holdSeconds: 60 };
    ({ state } = await requestRefund(ledger.context, stepAt(state.version), refund));
    ({ state } = await cancelRefund(ledger.context, stepAt(state.version), round));
  }
  acquirer.refundByHand(terms.referenceId);
  const result = await recheck(recheckPaid);
  expect(result.state).toMatchObject({ status: 'refund_processing', refund: { round: MAX_REFUND_ROUNDS + 1 } });
});

it('a refund of ours that a paid payment has lost keeps its number', async () => {
  const refundKey = refundKeyOf(terms.referenceId, 2);
  await acquirer.refundPayment({ ...terms, refundKey, reason: 'requested by the merchant' });
  const result = await recheck(recheckPaid);
  expect(result.state).toMatchObject({ status: 'refund_processing', refund: { round: 2 } });
  expect(await keysOf()).toEqual([refundKey]);
});

it('a retry of ours that a payment whose refund failed has lost is recorded as that retry', async () => {
  const refund = { round: 1, refundKey: refundKeyOf(terms.referenceId, 1), holdSeconds: 0 };
  await requestRefund(ledger.context, stepAt(3), refund);
  await submitRefund(ledger.context, stepAt(4), 1);
  ({ state } = await refuseRefund(ledger.context, stepAt(5), { round: 1, reason: 'an outage' }));
  const refundKey = refundKeyOf(terms.referenceId, 2);
  await acquirer.refundPayment({ ...terms, refundKey, reason: 'requested by the merchant' });
  const result = await recheck(recheckRefund);
  expect(result.state).toMatchObject({ status: 'refund_processing', refund: { round: 2, status: 'held' } });
  expect(await keysOf()).toEqual([refund.refundKey, refundKey]);
});
