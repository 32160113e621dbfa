import { randomUUID } from 'node:crypto';
import { createSealer } from '../../src/crypto/sealing';
import { showPayment } from '../../src/services/payments/show-payment';
import { setPolicy } from '../../src/services/provider-accounts/catalog';
import { paymentWorkflowId } from '../../workflows/ids';
import { collectLog } from '../support/collect-log';
import { eventually } from '../support/eventually';
import { startReceiver } from '../support/receiver';
import { newNamespace, startTestService, type TestService } from '../support/service';
import { registerEndpoint } from '../support/webhooks';

const collected = collectLog();
const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const TRACEPARENT = `00-${TRACE_ID}-b7ad6b7169203331-01`;

let service: TestService;
beforeAll(async () => {
  service = await startTestService(await newNamespace(), { refundHoldSeconds: 0, log: collected.log });
  await setPolicy(service.db, { provider: 'gopay', channel: 'qris', settlementDelaySeconds: 900 });
});
afterAll(() => service.close());

const requestId = (id: string) => ({ 'x-request-id': id });
const show = (given: string) => showPayment(service.db, async () => null, given);

async function create(headers: Record<string, string> = {}): Promise<{ id: string; reference_id: string }> {
  const { status, body } = await service.call('POST', '/payments', { amount: 50_000 }, headers);
  expect(status).toBe(201);
  return body.payment;
}

/** Waits for a line with these fields. */
async function expectLine(message: string, fields: Record<string, unknown>) {
  const [line] = await eventually(
    async () =>
      collected.lines(message).filter((line) => Object.entries(fields).every(([name, value]) => line[name] === value)),
    (lines) => lines.length > 0,
  );
  expect(line).toMatchObject(fields);
  return line;
}

describe('the payment of a request', () => {
  it('a payment is found by the request id that the caller chose', async () => {
    const { id } = await create(requestId('order-1042/attempt:1'));
    expect((await show('order-1042/attempt:1')).payment.id).toBe(id);
  });

  it('a payment is found by the request id that the service made', async () => {
    const { headers, body } = await service.call('POST', '/payments', { amount: 50_000 });
    expect((await show(headers.get('x-request-id') ?? '')).payment.id).toBe(body.payment.id);
  });

  it('a payment is found by the request of an action, and its history names each request', async () => {
    const { id } = await create(requestId('create-7'));
    expect((await service.call('POST', `/payments/${id}/cancel`, undefined, requestId('cancel-7'))).status).toBe(200);
    const { payment, transitions } = await show('cancel-7');
    expect(payment.id).toBe(id);
    expect(transitions.map(({ name, requestId }) => [name, requestId])).toEqual([
      ['create', 'create-7'],
      ['issue', 'create-7'],
      ['cancel', 'cancel-7'],
    ]);
  });

  it('the request of a bulk with several payments names them', async () => {
    const items = { payments: [{ amount: 50_000 }, { amount: 60_000 }] };
    const { body } = await service.call('POST', '/payments', items, requestId('bulk-1'));
    const [first, second] = body.payments;
    await expect(show('bulk-1')).rejects.toThrow(new RegExp(`${first.reference_id}|${second.reference_id}`));
    await expect(show('bulk-1')).rejects.toThrow('Several payments');
    const line = await expectLine('request', { requestId: 'bulk-1' });
    expect(line?.paymentIds).toEqual([first.id, second.id]);
  });

  it('a request id that is the id of another payment does not hide it', async () => {
    const victim = await create();
    const other = await create(requestId(victim.id));
    expect((await show(victim.id)).payment.id).toBe(victim.id);
    expect((await show(other.id)).payment.id).toBe(other.id);
  });

  it('a request id that no request had finds no payment', async () => {
    await expect(show(randomUUID())).rejects.toThrow('There is no payment');
  });
});

describe('log lines', () => {
  it('the log lines of API and worker have the ids of request, payment, workflow and trace', async () => {
    const { id } = await create({ ...requestId('create-8'), traceparent: TRACEPARENT });
    const ids = { requestId: 'create-8', paymentId: id, workflowId: paymentWorkflowId(id), traceId: TRACE_ID };
    await expectLine('request', { ...ids, method: 'POST', status: 201 });
    await expectLine('transition', { ...ids, transition: 'create', from: null, to: 'created', version: 1 });
    await expectLine('transition', { ...ids, transition: 'issue', from: 'created', to: 'pending', version: 2 });
  });

  it('the log lines of a transition that no request caused have the id of the creation', async () => {
    const { id, reference_id } = await create(requestId('create-9'));
    await service.pay(reference_id);
    const ids = { requestId: 'create-9', paymentId: id, workflowId: paymentWorkflowId(id) };
    await expectLine('transition', { ...ids, transition: 'pay', from: 'pending', to: 'paid', actor: 'workflow' });
    const refund = await service.call('POST', `/payments/${id}/refund`, undefined, requestId('refund-9'));
    expect(refund.status).toBe(200);
    await expectLine('transition', {
      ...ids,
      requestId: 'refund-9',
      transition: 'request_refund',
      to: 'refund_processing',
    });
    await expectLine('transition', { ...ids, transition: 'confirm_refund', to: 'refunded' });
    await expectLine('request', { method: 'POST', path: `/payments/${id}/refund`, ...ids, requestId: 'refund-9' });
    const logged = collected.lines('transition').filter(({ paymentId }) => paymentId === id);
    expect(logged.map(({ transition }) => transition)).toEqual(await service.transitionsOf(id));
  });

  it('the log lines of provider calls and webhook attempts say all that support asks for', async () => {
    const receiver = await startReceiver();
    const endpoint = { merchantId: service.merchantId, url: receiver.url, events: [] } as const;
    const { id: endpointId } = await registerEndpoint(service.db, createSealer(service.masterKey), endpoint);
    const { id, reference_id: referenceId } = await create(requestId('create-11'));
    const ids = { requestId: 'create-11', paymentId: id, referenceId };
    await expectLine('provider call', { ...ids, operation: 'issue_qris', outcome: 'accepted' });
    const first = { ...ids, endpointId, attempt: 1, maxAttempts: 12 };
    await expectLine('webhook attempt', { ...first, event: 'payment.created', statusCode: 200, decision: 'delivered' });
    receiver.respond = (response) => response.writeHead(500).end();
    await service.pay(referenceId);
    await expectLine('provider call', { ...ids, operation: 'find_payment', outcome: 'found', status: 'paid' });
    const failed = await expectLine('webhook attempt', { ...first, event: 'payment.paid', decision: 'retry' });
    expect(failed).toMatchObject({ statusCode: 500, failure: expect.any(String), durationMs: expect.any(Number) });
    expect(failed?.nextAttemptAt).toEqual(expect.stringMatching(/^20/));
    await receiver.close();
  });

  it("the log lines of Temporal's SDK have the ids too", async () => {
    const { id, reference_id } = await create(requestId('create-10'));
    await service.injectFault('status', 'http_500');
    await service.pay(reference_id);
    const ids = { requestId: 'create-10', paymentId: id, workflowId: paymentWorkflowId(id) };
    await expectLine('Activity failed', { ...ids, from: 'temporal', activityType: 'confirmPaid' });
  });

  it('the log lines of a notification name the payment', async () => {
    const { id, reference_id } = await create();
    await service.pay(reference_id);
    const path = { method: 'POST', paymentId: id, status: 200 };
    const line = await expectLine('request', path);
    expect(line?.path).toMatch(/^\/provider-notifications\//);
  });
});
