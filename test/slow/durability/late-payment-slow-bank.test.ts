import { latePaymentWorkflowId } from '../../../workflows/ids';
import { eventually } from '../../support/eventually';
import type { TestService } from '../../support/service';
import { startTimeSkippingService, type TimeSkippingService } from '../../support/time-skipping-service';

const TEN_MINUTES_MS = 600_000;
const COPIES = 100;

let timeSkipping: TimeSkippingService;
let service: TestService;
beforeAll(async () => {
  timeSkipping = await startTimeSkippingService();
  service = timeSkipping.service;
});
afterAll(() => timeSkipping.close());

async function confirmRefundsAfter(seconds: number): Promise<void> {
  const response = await fetch(`${service.sandboxUrl}/simulator/bank`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ refund_confirms_after_seconds: seconds }),
  });
  expect(response.status).toBe(200);
}

async function statusOfLatePayment(id: string): Promise<string | undefined> {
  const { rows } = await service.db.query<{ status: string }>(
    'select status from late_payments where payment_id = $1',
    [id],
  );
  return rows[0]?.status;
}

/** The provider repeats the notification of the refund that it has accepted. */
async function sendCopies(referenceId: string): Promise<void> {
  const { rows } = await eventually(
    () =>
      service.db.query<{ accountId: string; body: string }>(
        `select provider_account_id as "accountId", body from provider_notifications
         where reference_id = $1 and body::json ->> 'transaction_status' = 'refund' limit 1`,
        [referenceId],
      ),
    ({ rowCount }) => rowCount === 1,
  );
  const { accountId, body } = rows[0] ?? { accountId: '', body: '' };
  for (let copies = 0; copies < COPIES; copies += 1) {
    const response = await fetch(`${service.apiUrl}/provider-notifications/${accountId}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    expect(response.status).toBe(200);
  }
}

it('a late payment whose bank takes ten minutes costs few status calls and events', async () => {
  await confirmRefundsAfter(3_600);
  const { id, reference_id } = await timeSkipping.createPayment();
  expect((await service.call('POST', `/payments/${id}/cancel`)).status).toBe(200);
  await service.pay(reference_id);
  await eventually(
    () => statusOfLatePayment(id),
    (status) => status === 'submitted',
  );
  const { status_calls: before } = (await service.atProvider(reference_id)) ?? { status_calls: 0 };
  await sendCopies(reference_id);
  await timeSkipping.clock.advance(TEN_MINUTES_MS);
  await confirmRefundsAfter(0);
  await eventually(
    () => statusOfLatePayment(id),
    (status) => status === 'refunded',
  );
  const workflow = service.client.workflow.getHandle(latePaymentWorkflowId(id));
  expect(await workflow.result()).toBe('refunded');
  const { events } = await workflow.fetchHistory();
  expect(events?.length).toBeLessThanOrEqual(60);
  const { status_calls: after, refunds } = (await service.atProvider(reference_id)) ?? {};
  expect(after).toBeGreaterThan(before);
  expect(after).toBeLessThanOrEqual(12);
  expect(refunds).toMatchObject([{ refund_key: `${reference_id}-LATE`, status: 'confirmed' }]);
});
