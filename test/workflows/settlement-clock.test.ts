import { settlePayment } from '../../activities/settle-payment';
import { acceptPayment } from '../../src/db/transitions/accept-payment';
import { issuePayment } from '../../src/db/transitions/issue-payment';
import { payPayment } from '../../src/db/transitions/pay-payment';
import { activityDependencies } from '../support/activity-dependencies';
import { acceptance, openLedger, type Ledgered } from '../support/payments';
import { PretendAcquirer } from './model/pretend-acquirer';

const MINUTE_MS = 60_000;
const DELAY_MS = 86_400_000;

let ledger: Ledgered;
beforeAll(async () => {
  ledger = await openLedger();
});
afterAll(() => ledger.close());

/** Temporal's clock says that the settlement is due. By PostgreSQL's it is due in so long, by the worker's likewise. */
async function settle({ dueInMs, workerDueInMs = dueInMs }: { dueInMs: number; workerDueInMs?: number }) {
  const paidAt = new Date(Date.now() + dueInMs - DELAY_MS);
  const terms = ledger.newTerms();
  const { paymentId } = terms;
  await acceptPayment(ledger.context, acceptance(terms, paidAt));
  const issued = { qrisPayload: '000201', providerTransactionId: 'T' };
  await issuePayment(ledger.context, { paymentId, version: 1, at: paidAt }, issued);
  const { state } = await payPayment(ledger.context, { paymentId, version: 2, at: paidAt }, paidAt);
  const dueAtMs = state.settlesAtMs ?? 0;
  const nowMs = () => dueAtMs - workerDueInMs;
  const dependencies = activityDependencies(ledger.context, new PretendAcquirer(), { nowMs });
  return settlePayment(dependencies, { terms, state, atMs: dueAtMs, createdAtMs: paidAt.getTime() });
}

it('does not settle while the clock of Temporal is ten minutes ahead of both others', async () => {
  const { state, attention } = await settle({ dueInMs: 10 * MINUTE_MS });
  expect(state.status).toBe('paid');
  expect(attention).toContain('The clock of Temporal is ahead');
});

it.each([
  ['all clocks agree', { dueInMs: 0 }],
  ['the clocks differ by seconds', { dueInMs: 10_000 }],
  ["the worker's clock is ten minutes behind", { dueInMs: 0, workerDueInMs: 10 * MINUTE_MS }],
  ["PostgreSQL's clock is ten minutes behind", { dueInMs: 10 * MINUTE_MS, workerDueInMs: 0 }],
])('settles where %s', async (_, clocks) => {
  const { state } = await settle(clocks);
  expect(state.status).toBe('settled');
});
