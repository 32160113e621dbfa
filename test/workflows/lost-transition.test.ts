import { findTerms } from '../../src/db/payments/find-terms';
import { setPolicy } from '../../src/services/provider-accounts/catalog';
import { PAYMENTS_TASK_QUEUE } from '../../workflows/ids';
import { eventually } from '../support/eventually';
import { newNamespace, startTestService, type TestService } from '../support/service';

/** An asynchronous standby took over by itself: PostgreSQL lost the newest transition, and the workflow still runs. */

let service: TestService;
beforeAll(async () => {
  service = await startTestService(await newNamespace());
  await setPolicy(service.db, { provider: 'gopay', channel: 'qris', expiresInSeconds: 7_200 });
});
afterAll(() => service.close());

interface Created {
  readonly id: string;
  readonly reference_id: string;
  readonly qris: { readonly payload: string };
}

async function create(): Promise<Created> {
  const { status, body } = await service.call('POST', '/payments', { amount: 50_000 });
  expect(status).toBe(201);
  return body.payment;
}

/** Removes the transition `issue`. The acquirer does not recognise the charge any more, and its status has no QR. */
async function loseIssue({ id }: Created): Promise<void> {
  const client = await service.db.connect();
  await client.query('set session_replication_role = replica');
  for (const table of ['webhook_deliveries', 'webhook_events']) {
    await client.query(`delete from ${table} where payment_id = $1 and payment_version = 2`, [id]);
  }
  await client.query('delete from payment_transitions where payment_id = $1 and version = 2', [id]);
  await client.query(
    `update payments set status = 'created', version = 1, qris_payload = null, provider_transaction_id = null
     where id = $1`,
    [id],
  );
  client.release(true);
  await service.injectFault('charge', 'forgotten_key', 1_000);
}
afterEach(() => service.clearFaults());

async function reachStatus({ id }: Created, status: string) {
  return eventually(
    async () => (await service.call('GET', `/payments/${id}`)).body.payment,
    (payment) => payment.status === status,
  );
}

it('the customer pays after PostgreSQL lost the QR: the payment is paid', async () => {
  const payment = await create();
  await loseIssue(payment);
  await service.pay(payment.reference_id);
  await reachStatus(payment, 'paid');
  expect(await service.transitionsOf(payment.id)).toEqual(['create', 'issue', 'pay']);
});

it('an unpaid payment is pending again with the QR that the merchant has', async () => {
  const payment = await create();
  await loseIssue(payment);
  await service.workflows.signalProviderUpdate(payment.id);
  expect((await reachStatus(payment, 'pending')).qris).toEqual(payment.qris);
});

it('a new run of a workflow that saw a lost refund requests the refund again', async () => {
  const payment = await create();
  await service.pay(payment.reference_id);
  await reachStatus(payment, 'paid');
  const workflowId = `payment-${payment.id}`;
  await service.client.workflow.getHandle(workflowId).terminate();
  const { rows } = await service.db.query('select version, created_at from payments where id = $1', [payment.id]);
  const resumeState = {
    state: { status: 'paid', version: rows[0].version },
    createdAtMs: rows[0].created_at.getTime(),
    hasLostRefund: true,
  };
  const args = [await findTerms(service.db, payment.id), resumeState];
  await service.client.workflow.start('payment', { workflowId, taskQueue: PAYMENTS_TASK_QUEUE, args });
  expect((await reachStatus(payment, 'refund_processing')).status).toBe('refund_processing');
});
