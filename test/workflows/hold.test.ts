import { changeHold } from '../../src/services/merchants/merchants';
import { setPolicy } from '../../src/services/provider-accounts/catalog';
import { eventually } from '../support/eventually';
import { startTimeSkippingService, type TimeSkippingService } from '../support/time-skipping-service';

const DELAY_MS = 600_000;
const HOLD_MS = 5 * 3_600_000;

let timeSkipping: TimeSkippingService;
beforeAll(async () => {
  timeSkipping = await startTimeSkippingService();
  const settlement = { settlementKind: 'automatic', settlementDelaySeconds: DELAY_MS / 1_000 } as const;
  await setPolicy(timeSkipping.service.db, { provider: 'gopay', channel: 'qris', ...settlement });
});
afterAll(() => timeSkipping.close());

async function statusQueries(referenceId: string): Promise<number> {
  const { rows } = await timeSkipping.service.providerDb.query<{ count: number }>(
    'select status_calls as count from payments where order_id = $1',
    [referenceId],
  );
  return rows[0]?.count ?? 0;
}

it('a hold of five hours costs no status query, and the payment settles within an hour of the release', async () => {
  const { service, clock } = timeSkipping;
  const { id, reference_id } = await timeSkipping.createPaid();
  const before = await statusQueries(reference_id);
  await changeHold(service.db, service.merchantId, true);
  await clock.advance(DELAY_MS + HOLD_MS);
  expect(await statusQueries(reference_id)).toBe(before);
  expect(await service.workflows.queryStatus(id)).toMatchObject({
    status: 'paid',
    waitingFor: expect.stringContaining('an operator to release the merchant'),
    attentionReason: expect.stringContaining('the merchant is on hold'),
  });
  // The signal of the release is lost.
  await changeHold(service.db, service.merchantId, false);
  await clock.advance(3_600_000);
  await eventually(
    () => service.transitionsOf(id),
    (names) => names.at(-1) === 'settle',
  );
});

it('a refund that is opened after a long hold is queried after seconds, not after hours', async () => {
  const { service, clock } = timeSkipping;
  await changeHold(service.db, service.merchantId, true);
  const { id } = await timeSkipping.createPaid();
  await clock.advance(DELAY_MS + HOLD_MS);
  const refunded = service.call('POST', `/payments/${id}/refund`);
  expect((await clock.advanceWhile(refunded)).body.payment.status).toBe('refund_processing');
  await clock.advance(10 * 60_000);
  await eventually(
    () => service.transitionsOf(id),
    (names) => names.at(-1) === 'confirm_refund',
  );
  await changeHold(service.db, service.merchantId, false);
});
