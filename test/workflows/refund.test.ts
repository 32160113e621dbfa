import { transitionWriters } from '../../src/db/transitions/payment-transitions';
import { toStepActor, type StepActor } from '../../src/domain/actor';
import { MERCHANT } from '../../src/domain/payment-actions';
import { setPolicy } from '../../src/services/provider-accounts/catalog';
import { eventually } from '../support/eventually';
import type { TestService } from '../support/service';
import { startTimeSkippingService, type TimeSkippingService } from '../support/time-skipping-service';

const DAY_MS = 86_400_000;
const HOLD_MS = 60_000;
const OPERATOR: StepActor = { name: 'operator:dewi', note: 'ticket 7' };

let timeSkipping: TimeSkippingService;
let service: TestService;

beforeAll(async () => {
  timeSkipping = await startTimeSkippingService();
  service = timeSkipping.service;
  await setPolicy(service.db, { provider: 'gopay', channel: 'qris', settlementDelaySeconds: (3 * DAY_MS) / 1_000 });
});

afterAll(() => timeSkipping.close());

beforeEach(() => service.clearFaults());

async function refund(id: string) {
  const { status, body } = await service.call('POST', `/payments/${id}/refund`);
  expect(body).toMatchObject({ payment: { status: 'refund_processing' } });
  expect(status).toBe(200);
}

/** Advances the clock to just after the hold. */
function letHoldPass(): Promise<void> {
  return timeSkipping.clock.advance(HOLD_MS + 1_000);
}

/** A payment whose refund the provider has rejected. */
async function createRejectedRefund() {
  const payment = await timeSkipping.createPaid();
  await service.injectFault('refund', 'reject', 1);
  await refund(payment.id);
  await letHoldPass();
  await timeSkipping.waitForStatus(payment.id, 'refund_failed');
  return payment;
}

async function refundsOf(id: string) {
  const { rows } = await service.db.query('select * from refunds where payment_id = $1 order by number', [id]);
  return rows;
}

async function namesOf(id: string): Promise<string[]> {
  return (await service.transitionsOf(id)).slice(3);
}

describe('a refund', () => {
  it('a refund is held for a minute, submitted, and confirmed once', async () => {
    const { id, reference_id } = await timeSkipping.createPaid();
    await refund(id);
    expect((await service.atProvider(reference_id))?.refunds).toEqual([]);
    expect(await timeSkipping.runToEnd(id, 'refunded')).toBe('refunded');

    expect(await namesOf(id)).toEqual(['request_refund', 'submit_refund', 'confirm_refund']);
    const [, , , requested, submitted] = await timeSkipping.transitions(id);
    expect((submitted?.at ?? 0) - (requested?.at ?? 0)).toBeGreaterThanOrEqual(HOLD_MS);
    expect(await service.atProvider(reference_id)).toMatchObject({
      status: 'refund',
      refunds: [{ refund_key: `${reference_id}-R1`, amount: 50_000, status: 'confirmed' }],
    });
    const [record] = await refundsOf(id);
    expect(record).toMatchObject({ status: 'confirmed', provider_reference: expect.any(String) });
  });

  it('a refund can be cancelled during its hold, and the payment settles at its original timestamp', async () => {
    const { id, reference_id } = await timeSkipping.createPaid();
    await refund(id);
    await timeSkipping.clock.waitUntilIdle();
    const { status, body } = await service.call('POST', `/payments/${id}/cancel`);
    expect([status, body.payment.status, body.payment.cancelled_at]).toEqual([200, 'paid', null]);

    expect(await timeSkipping.runToEnd(id, 'refund-cancelled')).toBe('settled');
    expect(await namesOf(id)).toEqual(['request_refund', 'cancel_refund', 'settle']);
    const [, , paid, , , settled] = await timeSkipping.transitions(id);
    expect((settled?.at ?? 0) - (paid?.at ?? 0)).toBeGreaterThanOrEqual(3 * DAY_MS);
    expect((settled?.at ?? 0) - (paid?.at ?? 0)).toBeLessThan(3 * DAY_MS + 60_000);
    expect((await service.atProvider(reference_id))?.refunds).toEqual([]);
  });

  it('a refund that is cancelled in PostgreSQL is not submitted by a workflow that is behind', async () => {
    const { id, reference_id } = await timeSkipping.createPaid();
    await timeSkipping.clock.waitUntilIdle();
    // As if the worker stops after each statement, before Temporal has the result.
    const context = { db: service.db, environment: 'sandbox', onDeliveries: () => undefined };
    const at = new Date(await timeSkipping.environment.currentTimeMs());
    const held = { refundNumber: 1, refundKey: `${reference_id}-R1`, holdSeconds: 60, requestedBy: 'lunas' as const };
    await transitionWriters.request_refund(context, { paymentId: id, version: 3, at, ...held });
    await transitionWriters.cancel_refund(context, { paymentId: id, version: 4, at, refundNumber: 1 });
    expect(await service.workflows.request({ id }, 'refund', MERCHANT)).toMatchObject({
      outcome: 'done',
      status: 'refund_processing',
    });
    await letHoldPass();
    expect(await service.atProvider(reference_id)).toMatchObject({ status: 'settlement', refunds: [] });
    expect(await service.workflows.queryStatus(id)).toMatchObject({ status: 'paid', version: 5 });
    expect(await timeSkipping.runToEnd(id)).toBe('settled');
  });

  it('a refund cannot be cancelled after it is submitted to the provider', async () => {
    const { id } = await timeSkipping.createPaid();
    await service.injectFault('refund', 'http_500', 10_000);
    await refund(id);
    await letHoldPass();
    await eventually(
      () => namesOf(id),
      (names) => names.includes('submit_refund'),
    );
    const { status, body } = await service.call('POST', `/payments/${id}/cancel`);
    expect([status, body.error.code]).toEqual([400, 'payment_cancel_failed']);
    expect(body.error.message).toMatch(/with the provider/);
    await service.clearFaults();
    expect(await timeSkipping.runToEnd(id, 'refund-indeterminate')).toBe('refunded');
  });

  it.each(['timeout', 'reset', 'http_500', 'accept_then_timeout', 'accept_then_reset', 'half_body'] as const)(
    'a refund is executed once if the provider is indeterminate: %s',
    async (kind) => {
      const { id, reference_id } = await timeSkipping.createPaid();
      await service.injectFault('refund', kind, 3);
      await refund(id);
      expect(await timeSkipping.runToEnd(id)).toBe('refunded');
      const taken = (await service.atProvider(reference_id))?.refunds ?? [];
      expect(taken).toEqual([expect.objectContaining({ refund_key: `${reference_id}-R1`, status: 'confirmed' })]);
    },
  );

  it('needs attention while the provider is indeterminate, and its status does not change', async () => {
    const { id } = await timeSkipping.createPaid();
    await service.injectFault('status', 'http_500', 10_000);
    await refund(id);
    await letHoldPass();
    const report = await eventually(
      () => service.workflows.queryStatus(id),
      (now) => typeof now?.attentionReason === 'string',
    );
    expect(report).toMatchObject({
      status: 'refund_processing',
      attentionReason: expect.stringMatching(/indeterminate/),
    });
    await service.clearFaults();
    expect(await timeSkipping.runToEnd(id)).toBe('refunded');
  });

  it('requested by a signal from the Web UI has the operator in its history', async () => {
    const { id } = await timeSkipping.createPaid();
    await timeSkipping.clock.waitUntilIdle();
    await timeSkipping.environment.client.workflow.getHandle(`payment-${id}`).signal('refund');
    await timeSkipping.waitForStatus(id, 'refund_processing');
    const { rows } = await service.db.query(
      "select actor, note from payment_transitions where payment_id = $1 and name = 'request_refund'",
      [id],
    );
    expect(rows).toEqual([{ actor: 'operator', note: 'signalled to the workflow' }]);
  });

  it('requested and cancelled by a user of the merchant has the user in its history', async () => {
    const { id } = await timeSkipping.createPaid();
    const user = toStepActor({ kind: 'merchant_user', id: '01a20ff4-3edf-722f-92a7-d6cdcb753327', door: 'dashboard' });
    const done = { outcome: 'done' };
    expect(await service.workflows.request({ id }, 'refund', user)).toEqual({ ...done, status: 'refund_processing' });
    expect(await service.workflows.request({ id }, 'cancel', user)).toEqual({ ...done, status: 'paid' });
    const { rows } = await service.db.query(
      'select name, actor from payment_transitions where payment_id = $1 and version > 3 order by version',
      [id],
    );
    expect(rows).toEqual([
      { name: 'request_refund', actor: user.name },
      { name: 'cancel_refund', actor: user.name },
    ]);
    expect(await service.workflows.request({ id }, 'settle', user)).toMatchObject({ outcome: 'rejected' });
  });

  it('made in the dashboard of the provider is recorded, and the payment does not settle', async () => {
    const { id, reference_id } = await timeSkipping.createPaid();
    await timeSkipping.clock.waitUntilIdle();
    await service.refundAtProvider(reference_id);
    await service.workflows.signalProviderUpdate(id);
    expect(await timeSkipping.runToEnd(id, 'refunded-at-provider')).toBe('refunded');
    expect(await namesOf(id)).toEqual(['request_refund', 'submit_refund', 'confirm_refund']);
    expect((await service.atProvider(reference_id))?.refunds).toHaveLength(1);
  });

  it('made in part at the provider blocks the settlement until an operator decides', async () => {
    const { id, reference_id } = await timeSkipping.createPaid();
    await timeSkipping.clock.waitUntilIdle();
    await service.refundAtProvider(reference_id, 20_000);
    await service.workflows.signalProviderUpdate(id);
    await eventually(
      () => service.workflows.queryStatus(id),
      (now) => typeof now?.attentionReason === 'string',
    );
    await timeSkipping.clock.advance(4 * DAY_MS);
    expect(await service.workflows.queryStatus(id)).toMatchObject({
      status: 'paid',
      attentionReason: expect.stringMatching(/Rp 20\.000 of Rp 50\.000/),
    });
  });
});

describe('a refund that the provider rejects', () => {
  it('leads to refund_failed with the reason, and to no refund and no settlement', async () => {
    const { id, reference_id } = await createRejectedRefund();
    expect(await refundsOf(id)).toMatchObject([{ status: 'rejected', failure_reason: expect.any(String) }]);
    expect((await service.atProvider(reference_id))?.refunds).toMatchObject([{ status: 'rejected' }]);
    await timeSkipping.clock.advance(4 * DAY_MS);
    await timeSkipping.waitForStatus(id, 'refund_failed');
  });

  it('a rejected refund can be retried by an operator, under a new key', async () => {
    const { id, reference_id } = await createRejectedRefund();
    expect(await service.workflows.request({ id }, 'retryRefund', OPERATOR)).toMatchObject({ outcome: 'done' });
    expect(await timeSkipping.runToEnd(id, 'refund-retried')).toBe('refunded');
    expect(await service.atProvider(reference_id)).toMatchObject({
      refunds: [
        { refund_key: `${reference_id}-R1`, status: 'rejected' },
        { refund_key: `${reference_id}-R2`, status: 'confirmed' },
      ],
    });
    const { rows } = await service.db.query(
      "select actor, note from payment_transitions where payment_id = $1 and name = 'retry_refund'",
      [id],
    );
    expect(rows).toEqual([{ actor: OPERATOR.name, note: OPERATOR.note }]);
  });

  it('a rejected refund can be resolved as paid by an operator, and the payment settles', async () => {
    const { id } = await createRejectedRefund();
    expect(await service.workflows.request({ id }, 'resolveRefundAsPaid', OPERATOR)).toMatchObject({ outcome: 'done' });
    expect(await timeSkipping.runToEnd(id, 'refund-resolved-as-paid')).toBe('settled');
  });

  it('a rejected refund can be resolved as refunded by an operator', async () => {
    const { id } = await createRejectedRefund();
    expect(await service.workflows.request({ id }, 'resolveRefundAsRefunded', OPERATOR)).toMatchObject({
      outcome: 'done',
    });
    expect(await timeSkipping.runToEnd(id, 'refund-resolved-as-refunded')).toBe('refunded');
    expect((await namesOf(id)).at(-1)).toBe('resolve_refund_as_refunded');
  });

  it('a rejected refund cannot be resolved as paid while the provider shows a refund or does not respond', async () => {
    const { id, reference_id } = await createRejectedRefund();
    // Workflows of other tests may ask for a status too.
    await service.injectFault('status', 'http_500', 10_000);
    expect(await service.workflows.request({ id }, 'resolveRefundAsPaid', OPERATOR)).toMatchObject({
      outcome: 'rejected',
      reason: expect.stringMatching(/status is indeterminate/),
    });
    await service.clearFaults();
    await service.refundAtProvider(reference_id);
    expect(await service.workflows.request({ id }, 'resolveRefundAsPaid', OPERATOR)).toMatchObject({
      outcome: 'rejected',
      reason: expect.stringMatching(/shows a refund/),
    });
    await timeSkipping.waitForStatus(id, 'refunded');
  });

  it('a refund that the provider rejects and confirms later leads to refunded without an operator', async () => {
    const { id, reference_id } = await createRejectedRefund();
    await timeSkipping.clock.waitUntilIdle();
    await service.refundAtProvider(reference_id);
    expect(await timeSkipping.runToEnd(id, 'failed-refund-confirmed')).toBe('refunded');
    expect((await namesOf(id)).at(-1)).toBe('confirm_failed_refund');
  });

  it('allows no cancel, no refund and no settlement', async () => {
    const { id } = await createRejectedRefund();
    const refundAgain = await service.call('POST', `/payments/${id}/refund`);
    const cancelled = await service.call('POST', `/payments/${id}/cancel`);
    expect([refundAgain.body.error.code, cancelled.body.error.code]).toEqual([
      'payment_refund_failed',
      'payment_cancel_failed',
    ]);
    expect(await service.workflows.request({ id }, 'settle', OPERATOR)).toMatchObject({ outcome: 'rejected' });
  });
});

describe('manual settlement', () => {
  it('waits for the settlement delay, then for an operator', async () => {
    await setPolicy(service.db, { provider: 'gopay', channel: 'qris', settlementKind: 'manual' });
    const { id } = await timeSkipping.createPaid();
    await timeSkipping.clock.waitUntilIdle();
    expect(await service.workflows.request({ id }, 'settle', OPERATOR)).toMatchObject({
      outcome: 'rejected',
      reason: expect.stringMatching(/not over before/),
    });
    await timeSkipping.clock.advance(3 * DAY_MS + 1_000);
    expect(await service.workflows.queryStatus(id)).toMatchObject({
      status: 'paid',
      waitingFor: expect.stringMatching(/an operator to settle/),
    });
    expect(await service.workflows.request({ id }, 'settle', OPERATOR)).toMatchObject({
      outcome: 'done',
      status: 'settled',
    });
    expect(await timeSkipping.runToEnd(id, 'settled-by-operator')).toBe('settled');
    const { rows } = await service.db.query(
      "select actor, note from payment_transitions where payment_id = $1 and name = 'settle'",
      [id],
    );
    expect(rows).toEqual([{ actor: OPERATOR.name, note: OPERATOR.note }]);
    await setPolicy(service.db, { provider: 'gopay', channel: 'qris', settlementKind: 'automatic' });
  });
});
