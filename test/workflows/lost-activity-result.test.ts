import { applyProviderStatus } from '../../activities/provider-status';
import { transitionWriters } from '../../src/db/transitions/payment-transitions';
import type { ProviderPayment } from '../../src/providers/provider';
import { createTestLedger, creation, type TestLedger } from '../support/payments';

const AT = new Date('2026-11-21T10:00:00Z');
const PENDING = { status: 'pending', version: 2 } as const;

let ledger: TestLedger;
beforeAll(async () => {
  ledger = await createTestLedger();
});
afterAll(() => ledger.close());

/** The customer has paid, and the merchant has refunded at the acquirer, before the workflow queries the order. */
async function applyUnrecordedRefund({ isRecordedAsPaid }: { isRecordedAsPaid: boolean }) {
  const terms = ledger.newTerms();
  const { paymentId, totalRupiah } = terms;
  await transitionWriters.create(ledger.context, creation(terms, AT));
  const issued = { qrisPayload: '000201', providerTransactionId: 'T' };
  await transitionWriters.issue(ledger.context, { paymentId, version: 1, at: AT, ...issued });
  if (isRecordedAsPaid) await transitionWriters.pay(ledger.context, { paymentId, version: 2, at: AT, paidAt: AT });
  const providerPayment: ProviderPayment = { ...issued, status: 'refunded', totalRupiah, paidAt: AT, refunds: [] };
  const step = { terms, state: PENDING, atMs: AT.getTime(), createdAtMs: AT.getTime() };
  return applyProviderStatus(ledger.context, step, providerPayment);
}

it.each([true, false])(
  'records the payment and its refund in one step, whether or not PostgreSQL has it as paid (%s)',
  async (isRecordedAsPaid) => {
    const { state, attentionReason } = await applyUnrecordedRefund({ isRecordedAsPaid });
    expect(attentionReason).toBeUndefined();
    expect(state).toMatchObject({ status: 'refund_processing', version: 4, refund: { number: 1, status: 'held' } });
    // No hold: no settlement comes between the payment and its refund.
    expect(state.refund?.submitAtMs).toBe(AT.getTime());
  },
);
