import { createSealer } from '../../src/crypto/sealing';
import { SANDBOX_SERVER_KEY } from '../../src/sandbox/acquirers';
import { addAccount } from '../../src/services/provider-accounts/provider-accounts';
import type { RequestOutcome } from '../../src/temporal/payment-workflow-client';
import type { PayoutActionOutcome } from '../../src/temporal/payout-client';
import { paymentWorkflowId } from '../../workflows/ids';
import { statusOf } from '../support/created-payment';
import { eventually } from '../support/eventually';
import { recordHistory } from '../support/history';
import { startHoldingProxy, type HoldingProxy } from '../support/holding-proxy';
import { OPERATOR, ORDINARY, preparePayoutsAtBank, type PayoutsAtBank } from '../support/payouts-at-bank';
import { newNamespace, startTestService, type TestService } from '../support/service';

/* A request interrupts a step. It is performed only after the attempt in flight has ended, so that no two overlap. */

const CHARGE = '/v2/charge';
/** `PENDING_ACTIVITY_STATE_SCHEDULED`: no attempt is in flight. */
const IS_SCHEDULED = 1;
const TRANSFER = '/transfer-interbank';

let service: TestService;
let proxy: HoldingProxy;
let payouts: PayoutsAtBank;

beforeAll(async () => {
  service = await startTestService(await newNamespace());
  proxy = await startHoldingProxy(service.sandboxUrl);
  const { db, masterKey } = service;
  const account = { provider: 'gopay', adapter: 'midtrans', weight: 1, environment: 'sandbox' } as const;
  const { id } = await addAccount(db, createSealer(masterKey), {
    ...account,
    serverKey: SANDBOX_SERVER_KEY,
    baseUrl: proxy.url,
  });
  await db.query("update provider_accounts set status = 'disabled' where id <> $1", [id]);
  payouts = await preparePayoutsAtBank({ ...service, sandboxUrl: proxy.url });
});
afterAll(async () => {
  await service.close();
  await proxy.close();
});
afterEach(async () => {
  proxy.release();
  await service.clearFaults();
});

/** Until Temporal knows that the step in flight is interrupted. */
async function waitForInterruption(workflowId: string): Promise<void> {
  const handle = service.client.workflow.getHandle(workflowId);
  await eventually(
    async () => (await handle.fetchHistory()).events ?? [],
    (events) => events.some((event) => event.activityTaskCancelRequestedEventAttributes),
  );
}

interface OpenPayment {
  readonly id: string;
  readonly reference_id: string;
  readonly workflowId: string;
  /** The response of the request that creates it. */
  readonly created: Promise<{ readonly status: number }>;
}

async function startPayment(): Promise<OpenPayment> {
  const before = (await service.db.query<{ id: string }>('select id from payments')).rows.map(({ id }) => id);
  const created = service.call('POST', '/payments', { amount: 50_000 });
  const { rows } = await eventually(
    () => service.db.query<{ id: string; reference_id: string }>('select id, reference_id from payments'),
    (result) => result.rowCount === before.length + 1,
  );
  const row = rows.find(({ id }) => !before.includes(id));
  if (!row) throw new Error('There is no new payment');
  return { ...row, workflowId: paymentWorkflowId(row.id), created };
}

/** The creation of a payment, whose regular attempt has its charge on the way to the acquirer. */
async function startHeldPayment(): Promise<OpenPayment> {
  proxy.hold(CHARGE);
  const payment = await startPayment();
  await proxy.waitForHeld();
  proxy.reset();
  await eventually(
    async () => proxy.countOf(CHARGE, payment.reference_id),
    (count) => count === 2,
  );
  return payment;
}

const fail = ({ id }: OpenPayment): Promise<RequestOutcome> =>
  service.workflows.request({ id, version: 0 }, 'fail', OPERATOR);

it('resend: its caller gets the result of the attempt, and a resolution requested meanwhile is outdated', async () => {
  await service.injectFault('transfer', 'reset');
  const payout = await payouts.requested(ORDINARY);
  const { version } = await eventually(
    () => payouts.rowOf(payout),
    (row) => row.send_outcome === 'indeterminate',
  );
  proxy.hold(TRANSFER);
  const perform = (action: 'resend' | 'resolveAsFailed'): Promise<PayoutActionOutcome> =>
    service.workflows.payouts.perform({ ...payout, version }, action, OPERATOR);
  const resent = perform('resend');
  await proxy.waitForHeld();
  const resolved = perform('resolveAsFailed');
  await waitForInterruption(payouts.workflowOf(payout).workflowId);
  expect(await payouts.rowOf(payout)).toMatchObject({ status: 'submitted', send_count: 2, send_outcome: null });
  proxy.release();
  expect(await resent).toMatchObject({ outcome: 'done', state: { status: 'submitted', version: version + 1 } });
  // The operator has seen the payout before it was sent again.
  expect(await resolved).toEqual({ outcome: 'outdated' });
  expect(await payouts.askUntil(payout, 'completed')).toMatchObject({ send_count: 2, send_outcome: 'accepted' });
  expect(await payouts.directionsOf(payout)).toEqual(['out']);
  const { workflowId } = payouts.workflowOf(payout);
  await payouts.workflowOf(payout).result();
  await recordHistory(service.client, workflowId, 'payout-interrupted-v2');
});

it('create: no second charge begins while the first one is on its way, and the payment gets its QR code', async () => {
  const payment = await startHeldPayment();
  await service.injectFault('status', 'http_500');
  const failed = fail(payment);
  await waitForInterruption(payment.workflowId);
  proxy.release();
  expect(await failed).toMatchObject({ outcome: 'rejected', reason: expect.stringMatching(/indeterminate/) });
  expect((await payment.created).status).toBe(201);
  expect(proxy.mostHeld).toBe(1);
  expect(await service.atProvider(payment.reference_id)).toMatchObject({ status: 'pending', charge_calls: 1 });
  expect(await statusOf(service, payment.id)).toBe('pending');
  const cancelled = await service.call('POST', `/payments/${payment.id}/cancel`);
  expect(cancelled.status).toBe(200);
  await service.client.workflow.getHandle(payment.workflowId).result();
  await recordHistory(service.client, payment.workflowId, 'payment-create-interrupted');
});

it('fail: a payment does not fail while a charge is on its way that creates its order', async () => {
  const payment = await startHeldPayment();
  const failed = fail(payment);
  await waitForInterruption(payment.workflowId);
  expect(await statusOf(service, payment.id)).toBe('created');
  proxy.release();
  expect(await failed).toMatchObject({ outcome: 'rejected', reason: expect.stringMatching(/order as pending/) });
  expect(await statusOf(service, payment.id)).toBe('pending');
  expect(await service.atProvider(payment.reference_id)).toMatchObject({ status: 'pending' });
});

it('an attempt that fails after the interruption is not repeated', async () => {
  const payment = await startHeldPayment();
  const failed = fail(payment);
  await waitForInterruption(payment.workflowId);
  proxy.reset();
  expect(await failed).toMatchObject({ outcome: 'done', status: 'failed' });
  expect(proxy.countOf(CHARGE, payment.reference_id)).toBe(2);
  await service.client.workflow.getHandle(payment.workflowId).result();
  await recordHistory(service.client, payment.workflowId, 'payment-interrupted-v2');
});

it('between two attempts nothing is waited for, and no further attempt is made', async () => {
  await service.injectFault('charge', 'http_500', 1_000);
  const payment = await startPayment();
  const handle = service.client.workflow.getHandle(payment.workflowId);
  await eventually(
    async () => (await handle.describe()).raw.pendingActivities?.[0],
    (pending) => pending?.attempt === 3 && Number(pending.state) === IS_SCHEDULED,
  );
  const charges = proxy.countOf(CHARGE, payment.reference_id);
  expect(await fail(payment)).toMatchObject({ outcome: 'done', status: 'failed' });
  expect(await handle.result()).toBe('failed');
  expect(proxy.countOf(CHARGE, payment.reference_id)).toBe(charges);
});
