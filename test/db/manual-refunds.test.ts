import { createPool } from '../../src/db/connection/pool';
import { findForReconciliation } from '../../src/db/operations/list-for-reconciliation';
import { refundLatePayment } from '../../src/db/transitions/late-payment-transitions';
import { transitionWriters } from '../../src/db/transitions/payment-transitions';
import { listExceptionsOf } from '../../src/services/payments/exceptions';
import { applyTransitions, payLate, T0 } from '../services/ledger/transition-path';
import { osUser } from '../support/actors';
import { createTestLedger } from '../support/payments';
import { resolveByOperator } from '../support/resolve-exception';

let ledger: Awaited<ReturnType<typeof createTestLedger>>;
beforeAll(async () => {
  ledger = await createTestLedger();
});
afterAll(() => ledger.close());

const SUBMITTED = ['issue', 'pay', 'request_refund', 'submit_refund'] as const;

async function isManuallyRefunded(paymentId: string): Promise<boolean | undefined> {
  return (await findForReconciliation(ledger.db, paymentId))?.recorded.isManuallyRefunded;
}

function stepOf({ terms, version }: Awaited<ReturnType<typeof applyTransitions>>) {
  return { paymentId: terms.paymentId, version, at: new Date(T0.getTime() + 60_000) };
}

describe('reconciliation counts a refund as manual', () => {
  it('reconciliation does not count a refund as manual if the provider confirmed it without a reference', async () => {
    const path = await applyTransitions(ledger, SUBMITTED);
    await transitionWriters.confirm_refund(ledger.context, {
      ...stepOf(path),
      refundNumber: 1,
      providerReference: null,
    });
    expect(await isManuallyRefunded(path.terms.paymentId)).toBe(false);
    const late = await applyTransitions(ledger, ['issue', 'expire']);
    await payLate(ledger, late, 50_000, 'received');
    await refundLatePayment(ledger.db, late.terms.paymentId, T0, null);
    expect(await isManuallyRefunded(late.terms.paymentId)).toBe(false);
  });

  it('reconciliation counts a refund as manual if an operator resolved it', async () => {
    const path = await applyTransitions(ledger, [...SUBMITTED, 'fail_refund']);
    await transitionWriters.resolve_refund_as_refunded(ledger.context, { ...stepOf(path), refundNumber: 1 });
    expect(await isManuallyRefunded(path.terms.paymentId)).toBe(true);

    for (const login of ['lunas_local_operator', 'lunas_local_api'] as const) {
      const late = await applyTransitions(ledger, ['issue', 'expire']);
      await payLate(ledger, late, 50_000, 'manual_review');
      const [exception] = await listExceptionsOf(ledger.db, late.terms.referenceId);
      const db = createPool(ledger.database.urlOf(login), { max: 1 });
      const resolution = { note: 'sent back', isRefunded: true };
      await resolveByOperator({ ...ledger, db }, osUser('test'), exception?.id ?? '', resolution);
      await db.end();
      expect(await isManuallyRefunded(late.terms.paymentId)).toBe(true);
    }
  });
});

it('posts a manual refund only together with the resolution of its exception', async () => {
  const late = await applyTransitions(ledger, ['issue', 'expire']);
  await payLate(ledger, late, 50_000, 'manual_review');
  const [exception] = await listExceptionsOf(ledger.db, late.terms.referenceId);
  const reject = "raise exception 'no space left'";
  await ledger.db.query(`
    create function fail() returns trigger language plpgsql as $$ begin ${reject}; end $$;
    create trigger fail before update on exceptions for each row execute function fail()`);
  const resolution = { note: 'sent back', isRefunded: true };
  await expect(resolveByOperator(ledger, osUser('test'), exception?.id ?? '', resolution)).rejects.toThrow(
    'no space left',
  );
  const { rows } = await ledger.db.query('select status from late_payments where payment_id = $1', [
    late.terms.paymentId,
  ]);
  expect(rows).toEqual([{ status: 'manual_review' }]);
  await ledger.db.query('drop trigger fail on exceptions');
});

describe('the exception of a late payment', () => {
  it('closes when the provider refunds the late payment', async () => {
    const late = await applyTransitions(ledger, ['issue', 'expire']);
    await payLate(ledger, late, 50_000, 'manual_review');
    await refundLatePayment(ledger.db, late.terms.paymentId, T0, 'B-1');
    expect(await listExceptionsOf(ledger.db, late.terms.referenceId)).toMatchObject([
      { resolvedBy: 'provider', resolvedAt: expect.any(Date) },
    ]);
  });

  it('the exception of a refunded late payment is not resolved as refunded: nothing would be posted', async () => {
    const late = await applyTransitions(ledger, ['issue', 'expire']);
    await payLate(ledger, late, 50_000, 'manual_review');
    const [exception] = await listExceptionsOf(ledger.db, late.terms.referenceId);
    await ledger.db.query("update late_payments set status = 'refunded' where payment_id = $1", [late.terms.paymentId]);
    const resolve = resolveByOperator(ledger, osUser('test'), exception?.id ?? '', {
      note: 'sent back',
      isRefunded: true,
    });
    await expect(resolve).rejects.toThrow('Lunas has this late payment as refunded already');
    expect(await listExceptionsOf(ledger.db, late.terms.referenceId)).toMatchObject([{ resolvedAt: null }]);
  });
});
