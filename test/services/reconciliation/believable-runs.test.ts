import { changeHold } from '../../../src/services/merchants/merchants';
import { setPolicy } from '../../../src/services/provider-accounts/catalog';
import { createOpenPayments } from '../../support/bulk';
import { eventually } from '../../support/eventually';
import { reconcile } from '../../support/reconcile';
import { newNamespace, startTestService, type TestService } from '../../support/service';

/** What makes people believe in a run: it compares everything, and an exception is about something that exists. */

let service: TestService;
beforeAll(async () => {
  service = await startTestService(await newNamespace());
  const terms = { expiresInSeconds: 7_200, settlementDelaySeconds: 7_200 };
  await setPolicy(service.db, { provider: 'gopay', channel: 'qris', ...terms });
});
afterAll(() => service.close());

interface Created {
  readonly id: string;
  readonly reference_id: string;
}

async function create(count: number): Promise<Created[]> {
  return (await createOpenPayments(service, count, 50_000)).body.payments;
}

async function exceptionsOf(payments: readonly Created[]): Promise<{ detail: string; by: string | null }[]> {
  const { rows } = await service.db.query<{ detail: string; by: string | null }>(
    'select detail, resolved_by as by from exceptions where payment_id = any ($1) order by detail',
    [payments.map(({ id }) => id)],
  );
  return rows;
}

/** In PostgreSQL only: the workflow's timer has the true time. */
async function setDeadline(payments: readonly Created[], deadline: string): Promise<void> {
  const ids = payments.map(({ id }) => id);
  await service.db.query(`update payments set expires_at = ${deadline} where id = any ($1)`, [ids]);
}

async function failStatusQueries(times: number): Promise<void> {
  await service.injectFault('status', 'http_500', times);
}
afterEach(() => service.clearFaults());

it('compares every payment of an account that is limited to 20 calls a second', async () => {
  await create(50);
  await service.db.query('update provider_accounts set calls_per_second = 20');
  const { seen, compared, indeterminate, unasked } = await reconcile(service);
  await service.db.query('update provider_accounts set calls_per_second = null');
  expect(seen).toBeGreaterThanOrEqual(50);
  expect([compared, indeterminate, unasked]).toEqual([seen, 0, 0]);
});

it('a run is complete with an indeterminate order, and opens an exception for it in the third run', async () => {
  const [payment] = await create(1);
  if (!payment) throw new Error('No payment was created');
  await service.providerDb.query('alter table payments drop constraint payments_status_check');
  await service.providerDb.query("update payments set status = 'chargeback' where order_id = $1", [
    payment.reference_id,
  ]);
  for (let runs = 1; runs <= 3; runs += 1) {
    expect(await exceptionsOf([payment])).toEqual([]);
    expect(await reconcile(service)).toMatchObject({ indeterminate: 1, unasked: 0 });
    // An hour later.
    await service.db.query("update indeterminate_orders set last_run_at = last_run_at - interval '1 hour'");
  }
  expect(await exceptionsOf([payment])).toMatchObject([{ detail: expect.stringContaining('in 3 runs'), by: null }]);
  await service.providerDb.query("update payments set status = 'pending' where order_id = $1", [payment.reference_id]);
  await reconcile(service);
  expect(await exceptionsOf([payment])).toMatchObject([{ by: 'reconciliation' }]);
});

it('a run is not complete if a provider account is down', async () => {
  await create(50);
  await failStatusQueries(10_000);
  const { seen, compared, unasked } = await reconcile(service);
  expect(unasked).toBeGreaterThan(0);
  expect([compared, seen > unasked]).toEqual([0, true]);
});

it('an outage of an hour with overdue payments leaves no exception open a run later', async () => {
  const payments = await create(50);
  await setDeadline(payments, "now() - interval '30 minutes'");
  await failStatusQueries(10_000);
  const during = await reconcile(service);
  expect(during.breaks.filter(({ kind }) => kind === 'overdue')).toHaveLength(50);
  expect(await exceptionsOf(payments)).toEqual([]);
  await service.clearFaults();
  await setDeadline(payments, "now() - interval '2 hours'");
  await reconcile(service);
  expect((await exceptionsOf(payments)).filter(({ by }) => by === null)).toHaveLength(50);
  await setDeadline(payments, "now() + interval '1 hour'");
  await reconcile(service);
  expect((await exceptionsOf(payments)).filter(({ by }) => by !== 'reconciliation')).toEqual([]);
}, 240_000);

it('a settlement that the hold of its merchant delays is no break', async () => {
  const payments = await create(3);
  const ids = payments.map(({ id }) => id);
  for (const { reference_id } of payments) await service.pay(reference_id);
  await eventually(
    () => service.db.query("select from payments where id = any ($1) and status = 'paid'", [ids]),
    ({ rowCount }) => rowCount === 3,
  );
  await service.db.query("update payments set settlement_due_at = now() - interval '3 hours' where id = any ($1)", [
    ids,
  ]);
  await changeHold(service.db, service.merchantId, true);
  const { breaks } = await reconcile(service);
  await changeHold(service.db, service.merchantId, false);
  expect(breaks.filter(({ paymentId }) => ids.includes(paymentId))).toEqual([]);
  expect((await reconcile(service)).breaks.filter(({ paymentId }) => ids.includes(paymentId))).toHaveLength(3);
});
