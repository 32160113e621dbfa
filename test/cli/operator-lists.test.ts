import { randomBytes, randomUUID } from 'node:crypto';
import { createSealer } from '../../src/crypto/sealing';
import { listRecordedCases } from '../../src/db/operations/list-attention';
import { openException } from '../../src/db/operations/open-exception';
import { listSettleable } from '../../src/services/payments/actions/settle-payment';
import { listOverduePayments, listPayments } from '../../src/services/payments/list-payments';
import { listStuckRefunds } from '../../src/services/payments/list-stuck-refunds';
import { showPayment } from '../../src/services/payments/show-payment';
import { applyTransitions, payLate, T0 } from '../services/ledger/transition-path';
import { createTestLedger, type TestLedger } from '../support/payments';
import { registerEndpoint } from '../support/webhooks';

let ledger: TestLedger;
beforeAll(async () => {
  ledger = await createTestLedger();
});
afterAll(() => ledger.close());

const PAID = ['issue', 'pay'] as const;
const SUBMITTED = [...PAID, 'request_refund', 'submit_refund'] as const;
const DAY_SECONDS = 86_400;
const noWorkflow = () => Promise.resolve(null);

describe('payments that wait for manual settlement', () => {
  it('payments that wait for manual settlement are paid, have manual settlement, and their delay is over', async () => {
    const soon = Math.ceil((Date.now() - T0.getTime()) / 1_000) + DAY_SECONDS;
    const manual = { settlementKind: 'manual', settlementDelaySeconds: 60 } as const;
    const waiting = await applyTransitions(ledger, PAID, manual);
    await applyTransitions(ledger, PAID, { ...manual, settlementDelaySeconds: Math.max(soon, 60) });
    await applyTransitions(ledger, PAID, { settlementDelaySeconds: 60 });
    await applyTransitions(ledger, [...PAID, 'settle'], manual);
    await applyTransitions(ledger, SUBMITTED, manual);

    const { referenceId } = waiting.terms;
    const listed = await listPayments(ledger.db, { isSettlementDue: true, limit: 10 });
    expect(listed.map((payment) => payment.referenceId)).toEqual([referenceId]);

    const dueMs = T0.getTime() + 2_000 + 60_000;
    const settleable = (untilMs: number) => listSettleable(ledger.db, ledger.merchantId, new Date(untilMs));
    expect(await settleable(dueMs)).toEqual([referenceId]);
    expect(await settleable(dueMs - 1)).toEqual([]);
    expect(await settleable(Date.now() + 900 * DAY_SECONDS * 1_000)).toEqual([referenceId]);
    expect(await listSettleable(ledger.db, randomUUID(), new Date())).toEqual([]);
  });
});

describe('overdue payments', () => {
  const overdue = async (filter: Omit<Parameters<typeof listOverduePayments>[1], 'limit'> = {}, limit = 10) =>
    (await listOverduePayments(ledger.db, { ...filter, limit })).map(({ referenceId }) => referenceId);

  it('come the longest overdue first, also behind payments with manual settlement, without those on hold', async () => {
    await ledger.db.query("update payments set settlement_kind = 'manual' where status = 'paid'");
    const settling = await applyTransitions(ledger, PAID, { settlementKind: 'automatic', settlementDelaySeconds: 60 });
    const unissued = await applyTransitions(ledger, []);
    const manual = { settlementKind: 'manual', settlementDelaySeconds: 60 } as const;
    for (let index = 0; index < 20; index += 1) await applyTransitions(ledger, PAID, manual);
    const due = [unissued, settling].map(({ terms }) => terms.referenceId);

    expect(await overdue()).toEqual(due);
    expect(await overdue({}, 1)).toEqual(due.slice(0, 1));
    expect(await overdue({ status: 'paid' })).toEqual(due.slice(1));
    expect(await overdue({ status: 'settled' })).toEqual([]);
    expect(await overdue({ merchantId: randomUUID() })).toEqual([]);
    await ledger.db.query('update merchants set held_at = now()');
    expect(await overdue()).toEqual(due.slice(0, 1));
    await ledger.db.query('update merchants set held_at = null');
  });
});

describe('stuck refunds', () => {
  it('stuck refunds are rejected refunds, and refunds without a confirmation for a long time', async () => {
    const rejected = await applyTransitions(ledger, [...SUBMITTED, 'fail_refund']);
    const indeterminate = await applyTransitions(ledger, SUBMITTED);
    const fresh = await applyTransitions(ledger, SUBMITTED);
    await applyTransitions(ledger, [...PAID, 'request_refund']);
    await applyTransitions(ledger, [...SUBMITTED, 'confirm_refund']);
    await applyTransitions(ledger, [...SUBMITTED, 'fail_refund', 'retry_refund']);
    await applyTransitions(ledger, [...SUBMITTED, 'fail_refund', 'resolve_refund_as_paid']);
    const submittedAt = async (paymentId: string, minutesAgo: number) =>
      ledger.db.query("update refunds set submitted_at = now() - $2 * interval '1 minute' where payment_id = $1", [
        paymentId,
        minutesAgo,
      ]);
    await ledger.db.query("update refunds set submitted_at = now() where status = 'submitted'");
    await submittedAt(indeterminate.terms.paymentId, 11);
    await submittedAt(fresh.terms.paymentId, 9);

    const stuck = await listStuckRefunds(ledger.db, 10);
    expect(stuck).toHaveLength(2);
    expect(stuck).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          referenceId: rejected.terms.referenceId,
          paymentStatus: 'refund_failed',
          number: 1,
          status: 'rejected',
          failureReason: 'denied',
        }),
        expect.objectContaining({
          referenceId: indeterminate.terms.referenceId,
          paymentStatus: 'refund_processing',
          status: 'submitted',
        }),
      ]),
    );
    expect(await listStuckRefunds(ledger.db, 1)).toHaveLength(1);
  });
});

describe('what waits for an operator', () => {
  const kindsOf = async (limit = 100) => (await listRecordedCases(ledger.db, limit)).map(({ kind }) => kind);

  it('comes the oldest first, with what its next command takes, and each kind ends at the limit', async () => {
    const rejected = await applyTransitions(ledger, [...SUBMITTED, 'fail_refund']);
    const endpoint = await registerEndpoint(ledger.db, createSealer(randomBytes(32).toString('base64')), {
      merchantId: ledger.merchantId,
      url: 'http://127.0.0.1:9/',
      events: [],
    });
    await applyTransitions(ledger, []);
    await ledger.db.query(
      `update webhook_deliveries set status = 'dead', dead_reason = 'exhausted', finished_at = now()
       where endpoint_id = $1`,
      [endpoint.id],
    );
    await ledger.db.query(
      `update webhook_endpoints
       set consecutive_failures = 20, failing_since = now() - interval '1 hour', next_probe_at = now() where id = $1`,
      [endpoint.id],
    );
    await ledger.db.query("update merchants set held_at = now() - interval '2 hours' where id = $1", [
      ledger.merchantId,
    ]);
    await openException(ledger.db, {
      kind: 'unknown_order',
      providerAccountId: null,
      paymentId: null,
      referenceId: 'LN7',
      amountRupiah: 1,
      detail: 'Not here.',
    });
    const cases = await listRecordedCases(ledger.db, 100);
    await ledger.db.query('update merchants set held_at = null');

    const { merchantId } = ledger;
    const since = expect.any(Date);
    const plain = { cause: null, about: null };
    expect(cases).toEqual(
      expect.arrayContaining([
        { kind: 'refund_failed', subject: rejected.terms.referenceId, since, merchantId, detail: 'denied', ...plain },
        {
          kind: 'webhooks_dead',
          subject: endpoint.id,
          since,
          merchantId,
          detail: '1 to http://127.0.0.1:9/',
          ...plain,
        },
        { kind: 'endpoint_failing', subject: endpoint.id, since, merchantId, detail: 'http://127.0.0.1:9/', ...plain },
        { kind: 'merchant_on_hold', subject: merchantId, since, merchantId, detail: expect.any(String), ...plain },
        expect.objectContaining({
          kind: 'exception',
          detail: 'unknown_order of LN7: Not here.',
          cause: 'unknown_order',
          about: 'LN7',
        }),
      ]),
    );
    const times = cases.map(({ since }) => since.getTime());
    expect(times).toEqual(times.toSorted((one, other) => one - other));
    const ofKind = await kindsOf(1);
    expect(new Set(ofKind)).toHaveProperty('size', ofKind.length);
    expect(await kindsOf()).not.toContain('merchant_on_hold');
  });
});

describe('showPayment', () => {
  it('returns every refund', async () => {
    const steps = [...SUBMITTED, 'fail_refund', 'retry_refund', 'submit_refund', 'confirm_refund'] as const;
    const { terms } = await applyTransitions(ledger, steps);
    const { refunds, latePayment, exceptions } = await showPayment(ledger.db, noWorkflow, terms.referenceId);
    expect(refunds).toMatchObject([
      { number: 1, status: 'rejected', failureReason: 'denied', providerReference: null, finishedAt: expect.any(Date) },
      {
        number: 2,
        status: 'confirmed',
        refundKey: `${terms.paymentId}-R2`,
        providerReference: '7',
        amountRupiah: 50_000,
      },
    ]);
    expect([latePayment, exceptions]).toEqual([null, []]);
  });

  it('returns the late payment with its postings, and its exceptions', async () => {
    const path = await applyTransitions(ledger, ['issue', 'expire']);
    await payLate(ledger, path, 40_000, 'refunded after manual review');
    const { paymentId, referenceId } = path.terms;
    const exception = { providerAccountId: null, paymentId: null, amountRupiah: 1, detail: 'Another amount.' };
    await openException(ledger.db, { ...exception, kind: 'wrong_amount', referenceId });
    const details = await showPayment(ledger.db, noWorkflow, paymentId);
    expect(details.latePayment).toMatchObject({ status: 'refunded', totalRupiah: 40_000, providerReference: '7' });
    expect(
      details.ledger.map(({ version, latePaymentStep, account, side }) => [version, latePaymentStep, account, side]),
    ).toEqual([
      [null, 'receive', 'provider_receivable', 'debit'],
      [null, 'receive', 'suspense', 'credit'],
      [null, 'refund', 'suspense', 'debit'],
      [null, 'refund', 'provider_receivable', 'credit'],
    ]);
    expect(details.exceptions.map(({ kind }) => kind)).toEqual(['late_payment', 'wrong_amount']);
  });
});
