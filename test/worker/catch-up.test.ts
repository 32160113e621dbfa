import { transitionWriters } from '../../src/db/transitions/payment-transitions';
import { cancelPayment } from '../../src/services/payments/actions/cancel-payment';
import { performPaymentAction } from '../../src/services/payments/actions/perform-action';
import { settlePayment } from '../../src/services/payments/actions/settle-payment';
import { setPolicy } from '../../src/services/provider-accounts/catalog';
import { recover } from '../../src/services/recovery/recover';
import { paymentWorkflowId } from '../../workflows/ids';
import { osUser } from '../support/actors';
import { createPayment, waitForStatus, type TestPayment } from '../support/created-payment';
import { eventually } from '../support/eventually';
import { newNamespace, startTestService, type TestService } from '../support/service';

/** Transitions in PostgreSQL that the workflow lacks: Temporal's database was restored, or an update was lost. */

let service: TestService;
beforeAll(async () => {
  service = await startTestService(await newNamespace(), { refundHoldSeconds: 0 });
  await setPolicy(service.db, { provider: 'gopay', channel: 'qris', settlementDelaySeconds: 900 });
});
afterAll(() => service.close());

/** PostgreSQL has the status before the workflow: `lunas recover` signals a workflow that is between the two. */
async function expectStatus(id: string, status: string): Promise<void> {
  await waitForStatus(service, id, status);
  await expectReport(id, { status });
}

/** The state of the payment in its workflow. */
async function expectReport(id: string, expected: object): Promise<void> {
  await eventually(
    () => service.workflows.queryStatus(id),
    (report) => isMatch(report, expected),
  );
  expect(await service.workflows.queryStatus(id)).toMatchObject(expected);
}

function isMatch(report: object | undefined, expected: object): boolean {
  return Object.entries(expected).every(([key, value]) => Reflect.get(report ?? {}, key) === value);
}

async function createPaid(): Promise<TestPayment> {
  const payment = await createPayment(service);
  await service.pay(payment.reference_id);
  await expectStatus(payment.id, 'paid');
  return payment;
}

async function createRejectedRefund(): Promise<TestPayment> {
  const payment = await createPaid();
  await service.injectFault('refund', 'reject');
  expect((await service.call('POST', `/payments/${payment.id}/refund`)).status).toBe(200);
  await expectStatus(payment.id, 'refund_failed');
  return payment;
}

function requestFirstRefund({ id, reference_id }: TestPayment, holdSeconds: number) {
  const refund = { refundNumber: 1, refundKey: `${reference_id}-R1`, holdSeconds, requestedBy: 'lunas' as const };
  return transitionWriters.request_refund(service.context, { paymentId: id, version: 3, at: new Date(), ...refund });
}

describe('after `lunas recover`', () => {
  it('a refund that is held in PostgreSQL is submitted', async () => {
    const payment = await createPaid();
    await requestFirstRefund(payment, 0);
    await expectReport(payment.id, { status: 'paid', version: 3 });
    const recovery = await recover(service.operatorContext, service.workflows);
    expect(recovery.payments.notified).toBe(1);
    await expectStatus(payment.id, 'refunded');
    expect((await service.atProvider(payment.reference_id))?.refunds).toHaveLength(1);
  });

  it('a refund that an operator has retried is submitted', async () => {
    const payment = await createRejectedRefund();
    const refund = {
      refundNumber: 2,
      refundKey: `${payment.reference_id}-R2`,
      holdSeconds: 0,
      requestedBy: 'lunas' as const,
    };
    const input = { paymentId: payment.id, version: 6, at: new Date(), ...refund };
    await transitionWriters.retry_refund(service.context, input);
    await recover(service.operatorContext, service.workflows);
    await expectStatus(payment.id, 'refunded');
  });

  it('a refund that an operator has resolved as paid stays resolved, also in the workflow', async () => {
    const payment = await createRejectedRefund();
    await transitionWriters.resolve_refund_as_paid(service.context, {
      paymentId: payment.id,
      version: 6,
      at: new Date(),
    });
    await recover(service.operatorContext, service.workflows);
    await expectReport(payment.id, { status: 'paid', version: 7 });
  });

  it('no workflow of a final payment runs', async () => {
    const { id } = await createPaid();
    await transitionWriters.settle(service.context, { paymentId: id, version: 3, at: new Date() });
    await recover(service.operatorContext, service.workflows);
    expect(await service.client.workflow.getHandle(paymentWorkflowId(id)).result()).toBe('settled');
  });

  it('consistent workflows are not signalled', async () => {
    const { id } = await createPaid();
    const recovery = await recover(service.operatorContext, service.workflows);
    expect(recovery.payments).toMatchObject({ notified: 0, rebuilt: 0 });
    expect(recovery.failures).toEqual([]);
    await expectReport(id, { status: 'paid', version: 3 });
  });
});

describe('without `lunas recover`', () => {
  it('a notification makes a workflow that waits in `paid` catch up', async () => {
    const payment = await createPaid();
    await requestFirstRefund(payment, 900);
    await service.workflows.signalProviderUpdate(payment.id);
    await expectReport(payment.id, { status: 'refund_processing', version: 4 });
  });

  it('a notification makes a workflow that holds a cancelled refund catch up', async () => {
    const payment = await createPaid();
    await requestFirstRefund(payment, 900);
    await service.workflows.signalProviderUpdate(payment.id);
    await expectReport(payment.id, { status: 'refund_processing', version: 4 });
    await transitionWriters.cancel_refund(service.context, {
      paymentId: payment.id,
      version: 4,
      at: new Date(),
      refundNumber: 1,
    });
    await service.workflows.signalProviderUpdate(payment.id);
    await expectReport(payment.id, { status: 'paid', version: 5 });
  });

  it('a merchant can cancel the refund', async () => {
    const payment = await createPaid();
    await requestFirstRefund(payment, 900);
    const { status, body } = await service.call('POST', `/payments/${payment.id}/cancel`);
    expect(body).toMatchObject({ payment: { status: 'paid' } });
    expect(status).toBe(200);
  });

  it('an operator can cancel the refund', async () => {
    const payment = await createPaid();
    await requestFirstRefund(payment, 900);
    const request = { operation: cancelPayment, payment: payment.id, note: 'the customer keeps it' };
    expect(await performPaymentAction(service, osUser('dewi'), request)).toMatchObject({ status: 'paid' });
    await expectReport(payment.id, { status: 'paid', version: 5 });
  });

  it('a request of an operator that the row rejects makes the workflow catch up', async () => {
    const payment = await createPaid();
    await requestFirstRefund(payment, 900);
    const request = { operation: settlePayment, payment: payment.id, note: 'statement' };
    await expect(performPaymentAction(service, osUser('dewi'), request)).rejects.toThrow('refund_processing');
    await expectReport(payment.id, { status: 'refund_processing', version: 4 });
  });
});
