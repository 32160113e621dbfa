import { settlePayment } from '../../activities/settle-payment';
import { acceptPayment } from '../../src/db/transitions/accept-payment';
import { issuePayment } from '../../src/db/transitions/issue-payment';
import { payPayment } from '../../src/db/transitions/pay-payment';
import { activityDependencies } from '../support/activity-dependencies';
import { acceptance, openLedger, type Ledgered } from '../support/payments';
import { PretendAcquirer } from './model/pretend-acquirer';

const PAID_AT = new Date('2026-11-21T10:00:00Z');
const MINUTE_MS = 60_000;

let ledger: Ledgered;
beforeAll(async () => {
  ledger = await openLedger();
});
afterAll(() => ledger.close());

/** Temporal's clock says that the settlement is due; the worker's is behind it. */
async function settle({ workerBehindMs }: { workerBehindMs: number }) {
  const terms = ledger.newTerms();
  const { paymentId } = terms;
  await acceptPayment(ledger.context, acceptance(terms, PAID_AT));
  const issued = { qrisPayload: '000201', providerTransactionId: 'T' };
  await issuePayment(ledger.context, { paymentId, version: 1, at: PAID_AT }, issued);
  const { state } = await payPayment(ledger.context, { paymentId, version: 2, at: PAID_AT }, PAID_AT);
  const dueAtMs = state.settlesAtMs ?? 0;
  const nowMs = () => dueAtMs - workerBehindMs;
  const dependencies = activityDependencies(ledger.context, new PretendAcquirer(), { nowMs });
  return settlePayment(dependencies, { terms, state, atMs: dueAtMs, createdAtMs: PAID_AT.getTime() });
}

it('does not settle while the clock of Temporal is ten minutes ahead of the worker', async () => {
  const { state, attention } = await settle({ workerBehindMs: 10 * MINUTE_MS });
  expect(state.status).toBe('paid');
  expect(attention).toContain('differ by 600 s');
});

it('settles where the clocks differ by seconds', async () => {
  const { state } = await settle({ workerBehindMs: 10_000 });
  expect(state.status).toBe('settled');
});
