import { findForReconciliation } from '../../src/db/reads/list-for-reconciliation';
import { confirmRefund } from '../../src/db/transitions/confirm-refund';
import { refundLatePayment } from '../../src/db/transitions/late-payment';
import { resolveRefundAsRefunded } from '../../src/db/transitions/resolve-refund-as-refunded';
import { listExceptionsOf, resolveException } from '../../src/operator/exceptions';
import { payLate, T0, walkAlong } from '../operator/walk';
import { openLedger, type Ledgered } from '../support/payments';

let ledger: Ledgered;
beforeAll(async () => {
  ledger = await openLedger();
});
afterAll(() => ledger.close());

const SUBMITTED = ['issue', 'pay', 'request_refund', 'submit_refund'] as const;

async function isRefundedByHand(paymentId: string): Promise<boolean | undefined> {
  return (await findForReconciliation(ledger.db, paymentId))?.recorded.isRefundedByHand;
}

function stepOf({ terms, version }: Awaited<ReturnType<typeof walkAlong>>) {
  return { paymentId: terms.paymentId, version, at: new Date(T0.getTime() + 60_000) };
}

describe('reconciliation takes a refund for one that the provider does not know', () => {
  it('not if the provider confirmed it without a number', async () => {
    const walked = await walkAlong(ledger, SUBMITTED);
    await confirmRefund(ledger.context, stepOf(walked), { round: 1, providerReference: null });
    expect(await isRefundedByHand(walked.terms.paymentId)).toBe(false);
    const late = await walkAlong(ledger, ['issue', 'expire']);
    await payLate(ledger, late, 50_000, 'received');
    await refundLatePayment(ledger.db, late.terms.paymentId, T0, null);
    expect(await isRefundedByHand(late.terms.paymentId)).toBe(false);
  });

  it('if an operator resolved it', async () => {
    const walked = await walkAlong(ledger, [...SUBMITTED, 'refuse_refund']);
    await resolveRefundAsRefunded(ledger.context, stepOf(walked), 1);
    expect(await isRefundedByHand(walked.terms.paymentId)).toBe(true);

    const late = await walkAlong(ledger, ['issue', 'expire']);
    await payLate(ledger, late, 50_000, 'kept');
    const [exception] = await listExceptionsOf(ledger.db, late.terms.referenceId);
    const by = { name: 'cli:test', via: 'cli', operatorId: null } as const;
    await resolveException(ledger.db, by, exception?.id ?? '', { note: 'sent back', isRefunded: true });
    expect(await isRefundedByHand(late.terms.paymentId)).toBe(true);
  });
});
