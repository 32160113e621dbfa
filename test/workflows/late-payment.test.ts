import { scheduleStatusQuery } from '../../src/db/payments/notification-inbox';
import { toStepActor } from '../../src/domain/actor';
import { setPolicy } from '../../src/services/provider-accounts/catalog';
import { osUser } from '../support/actors';
import { waitForStatus } from '../support/created-payment';
import { eventually } from '../support/eventually';
import { recordHistory } from '../support/history';
import { signedNotification } from '../support/notification';
import { resolveByOperator } from '../support/resolve-exception';
import { newNamespace, startTestService, type TestService } from '../support/service';

let service: TestService;
beforeAll(async () => {
  service = await startTestService(await newNamespace(), { refundHoldSeconds: 0 });
  for (const provider of ['gopay', 'shopeepay'] as const) {
    await setPolicy(service.db, { provider, channel: 'qris', expiresInSeconds: 900, settlementDelaySeconds: 0 });
  }
});
afterAll(() => service.close());

beforeEach(() => service.clearFaults());

interface Created {
  readonly id: string;
  readonly reference_id: string;
}

async function createPayment(provider = 'gopay'): Promise<Created> {
  return (await service.call('POST', '/payments', { amount: 50_000, provider })).body.payment;
}

async function createCancelled(): Promise<Created> {
  const payment = await createPayment();
  expect((await service.call('POST', `/payments/${payment.id}/cancel`)).status).toBe(200);
  return payment;
}

async function createExpired(provider: 'gopay' | 'shopeepay'): Promise<Created> {
  await setPolicy(service.db, { provider, channel: 'qris', expiresInSeconds: 1 });
  const payment = await createPayment(provider);
  await setPolicy(service.db, { provider, channel: 'qris', expiresInSeconds: 900 });
  await waitForStatus(service, payment.id, 'expired');
  return payment;
}

async function waitForLatePayment(id: string, status: string) {
  return await eventually(
    async () => (await service.db.query('select * from late_payments where payment_id = $1', [id])).rows[0],
    (late) => late?.status === status,
  );
}

/** Waits until the workflow completes, and records its history. */
async function finish(id: string, status: string, name: string): Promise<void> {
  const workflow = service.client.workflow.getHandle(`late-payment-${id}`);
  expect(await workflow.result()).toBe(status);
  await recordHistory(service.client, workflow.workflowId, name);
}

async function openExceptions(referenceId: string, count: number) {
  const { rows } = await eventually(
    () => service.db.query('select * from exceptions where reference_id = $1 order by kind', [referenceId]),
    ({ rows }) => rows.length >= count,
  );
  expect(rows).toHaveLength(count);
  return rows;
}

async function openException(referenceId: string) {
  const [exception] = await openExceptions(referenceId, 1);
  return exception;
}

/** Credits less debits, in rupiah. */
async function balances(id: string): Promise<Record<string, number>> {
  const { rows } = await service.db.query(
    `select account, sum(case side when 'credit' then amount_rupiah else -amount_rupiah end) as balance
     from ledger_entries join ledger_postings on ledger_postings.id = posting_id
     where payment_id = $1 group by account`,
    [id],
  );
  return Object.fromEntries(rows.map(({ account, balance }) => [account, Number(balance)]));
}

/** What the open notifications report. */
async function openNotifications(referenceId: string): Promise<(string | null)[]> {
  const { rows } = await service.db.query(
    'select reported_status from provider_notifications where reference_id = $1 and closed_at is null order by id',
    [referenceId],
  );
  return rows.map(({ reported_status }) => reported_status);
}

async function waitForNoOpenNotification(referenceId: string): Promise<void> {
  await eventually(
    () =>
      service.db.query('select 1 from provider_notifications where reference_id = $1 and closed_at is null', [
        referenceId,
      ]),
    ({ rowCount }) => rowCount === 0,
  );
}

describe('a late payment', () => {
  it.each([
    ['cancelled', createCancelled],
    ['expired', () => createExpired('gopay')],
  ])('a late payment for a payment that is %s goes to suspense, and is refunded once', async (status, create) => {
    const { id, reference_id } = await create();
    await service.pay(reference_id, { times: 3 });
    expect(await waitForLatePayment(id, 'refunded')).toMatchObject({
      total_rupiah: 50_000,
      submitted_at: expect.any(Date),
    });
    expect(await service.atProvider(reference_id)).toMatchObject({
      status: 'refund',
      refunds: [{ refund_key: `${reference_id}-LATE`, amount: 50_000, status: 'confirmed' }],
    });
    expect(await balances(id)).toEqual({ provider_receivable: 0, suspense: 0 });
    await finish(id, 'refunded', `late-payment-after-${status}`);
    await waitForStatus(service, id, status);
    await waitForNoOpenNotification(reference_id);
    expect((await service.db.query('select 1 from exceptions where payment_id = $1', [id])).rowCount).toBe(0);
  });

  it('a late payment that the provider cannot refund stays in suspense until an operator resolves it', async () => {
    const { id, reference_id } = await createExpired('shopeepay');
    await service.pay(reference_id);
    await waitForLatePayment(id, 'manual_review');
    expect(await openException(reference_id)).toMatchObject({
      kind: 'late_payment',
      payment_id: id,
      amount_rupiah: 50_000,
      detail: expect.stringMatching(/expired.*shopeepay has no refund/),
    });
    expect(await balances(id)).toEqual({ provider_receivable: -50_000, suspense: 50_000 });
    await waitForNoOpenNotification(reference_id);
    await finish(id, 'manual_review', 'late-payment-manual-review');

    const [{ id: exceptionId }] = (await service.db.query('select id from exceptions where payment_id = $1', [id]))
      .rows;
    const resolution = { note: 'bank transfer 4711', isRefunded: true };
    await resolveByOperator(service, osUser('dewi'), exceptionId, resolution);
    await waitForLatePayment(id, 'refunded');
    // The acquirer still owes us the amount: the operator refunded from our bank account.
    expect(await balances(id)).toEqual({ provider_receivable: -50_000, suspense: 0, cash: 50_000 });
  });

  it('a late payment whose refund is rejected requires manual review, until the provider refunds it', async () => {
    const { id, reference_id } = await createCancelled();
    await service.injectFault('refund', 'reject');
    await service.pay(reference_id);
    await waitForLatePayment(id, 'manual_review');
    expect(await openException(reference_id)).toMatchObject({ kind: 'late_payment' });
    await service.refundAtProvider(reference_id);
    await waitForLatePayment(id, 'refunded');
    expect(await balances(id)).toEqual({ provider_receivable: 0, suspense: 0 });
  });

  it('an exception is opened if the provider refunds a late payment that an operator has refunded', async () => {
    const { id, reference_id } = await createCancelled();
    await service.injectFault('refund', 'reject');
    await service.pay(reference_id);
    await waitForLatePayment(id, 'manual_review');
    const { id: late } = await openException(reference_id);
    await resolveByOperator(service, osUser('dewi'), late, { note: 'sent back by bank transfer', isRefunded: true });
    await service.refundAtProvider(reference_id);
    const [, twice] = await openExceptions(reference_id, 2);
    expect(twice).toMatchObject({ kind: 'refunded_twice', resolved_at: null });
    expect(await balances(id)).toEqual({ provider_receivable: -50_000, suspense: 0, cash: 50_000 });
  });

  it.each(['timeout', 'accept_then_reset', 'half_body'] as const)(
    'a late payment is refunded once while the provider fails: %s',
    async (kind) => {
      const { id, reference_id } = await createCancelled();
      await service.injectFault('refund', kind, 2);
      await service.injectFault('status', 'http_500', 2);
      await service.pay(reference_id);
      await waitForLatePayment(id, 'refunded');
      expect((await service.atProvider(reference_id))?.refunds).toHaveLength(1);
    },
  );
});

async function accountId(): Promise<string> {
  return (await service.db.query("select id from provider_accounts where provider = 'gopay'")).rows[0].id;
}

describe('a notification of a payment', () => {
  it('a notification between the expiry at the provider and its record is not closed by that record', async () => {
    await setPolicy(service.db, { provider: 'gopay', channel: 'qris', expiresInSeconds: 8 });
    const { id, reference_id } = await createPayment();
    await setPolicy(service.db, { provider: 'gopay', channel: 'qris', expiresInSeconds: 900 });
    const client = await service.db.connect();
    try {
      await client.query('begin');
      // The statement that records the expiry waits for this lock before it reads a row.
      await client.query('lock table payments in exclusive mode');
      await eventually(
        () => service.db.query("select 1 from pg_locks where relation = 'payments'::regclass and not granted"),
        ({ rowCount }) => rowCount !== 0,
      );
      await service.pay(reference_id);
      await eventually(
        () => openNotifications(reference_id),
        (reported) => reported.includes('paid'),
      );
      await client.query('commit');
    } finally {
      client.release();
    }
    await waitForLatePayment(id, 'refunded');
    expect(await service.transitionsOf(id)).toEqual(['create', 'issue', 'expire']);
    await waitForNoOpenNotification(reference_id);
  });

  it.each([
    [
      'does not know the order',
      "update payments set order_id = 'unknown' where order_id = $1",
      "update payments set order_id = $1 where order_id = 'unknown'",
    ],
    [
      'still reports the order as expired',
      "update payments set status = 'expire', paid_at = null where order_id = $1",
      "update payments set status = 'settlement', paid_at = now() where order_id = $1",
    ],
  ])('stays open while the provider %s', async (_name, lag, catchUp) => {
    await service.providerDb.query('alter table notifications disable trigger all');
    await service.providerDb.query('alter table payments disable trigger all');
    const { id, reference_id } = await createExpired('gopay');
    await service.pay(reference_id, { notify: false });
    await service.providerDb.query(lag, [reference_id]);
    const paid = signedNotification(reference_id, { gross_amount: '50000.00' });
    const path = `/provider-notifications/${await accountId()}`;
    expect((await service.call('POST', path, paid, { authorization: '' })).status).toBe(200);
    // The API signals after its response.
    const workflow = service.client.workflow.getHandle(`late-payment-${id}`);
    await eventually(
      () => workflow.describe().catch(() => undefined),
      (started) => started !== undefined,
    );
    expect(await workflow.result()).toBe('none');
    // That of the expiry may arrive late, and be open too.
    expect(await openNotifications(reference_id)).toContain('paid');

    await service.providerDb.query(catchUp, [reference_id]);
    await waitForLatePayment(id, 'refunded');
    await waitForNoOpenNotification(reference_id);
  });
});

describe('an exception is opened', () => {
  it('an exception is opened for a notification of an unknown order, once', async () => {
    const referenceId = 'LN0000000000000000';
    await scheduleStatusQuery(service.db, { accountId: await accountId(), referenceId });
    expect(await openException(referenceId)).toMatchObject({ kind: 'unknown_order', payment_id: null });
    await waitForNoOpenNotification(referenceId);
  });

  it('an exception is opened for an order paid over another amount, and the payment stays pending', async () => {
    const { id, reference_id } = await createPayment();
    await service.providerDb.query('update payments set gross_amount_rupiah = 40000 where order_id = $1', [
      reference_id,
    ]);
    await service.pay(reference_id);
    expect(await openExceptions(reference_id, 2)).toMatchObject([
      { kind: 'changed_amount', provider_account_id: await accountId() },
      { kind: 'wrong_amount', amount_rupiah: 40_000 },
    ]);
    await waitForStatus(service, id, 'pending');
    await service.db.query("update provider_accounts set status = 'enabled' where provider = 'gopay'");
  });

  it('an exception is opened for a second transaction of a settled payment', async () => {
    const { id, reference_id } = await createPayment();
    await service.pay(reference_id);
    await waitForStatus(service, id, 'settled');
    await service.providerDb.query("update payments set transaction_id = 'another' where order_id = $1", [
      reference_id,
    ]);
    await scheduleStatusQuery(service.db, { accountId: await accountId(), referenceId: reference_id });
    expect(await openException(reference_id)).toMatchObject({ kind: 'paid_twice' });
  });

  it('an exception is opened for a second transaction after a late payment, once', async () => {
    const { id, reference_id } = await createExpired('shopeepay');
    await service.pay(reference_id);
    await waitForLatePayment(id, 'manual_review');
    await service.providerDb.query("update payments set transaction_id = 'second' where order_id = $1", [reference_id]);
    const { rows } = await service.db.query("select id from provider_accounts where provider = 'shopeepay'");
    const order = { accountId: rows[0].id, referenceId: reference_id };
    const paidTwice = async () =>
      (
        await service.db.query("select * from exceptions where reference_id = $1 and kind = 'paid_twice'", [
          reference_id,
        ])
      ).rows;
    await scheduleStatusQuery(service.db, order);
    const [exception] = await eventually(paidTwice, (found) => found.length === 1);
    expect(exception).toMatchObject({ payment_id: id, detail: expect.stringContaining('second') });
    expect(await balances(id)).toEqual({ provider_receivable: -50_000, suspense: 50_000 });

    const resolution = { note: 'sent back by bank transfer', isRefunded: false };
    await resolveByOperator(service, osUser('dewi'), exception.id, resolution);
    await waitForNoOpenNotification(reference_id);
    await scheduleStatusQuery(service.db, order);
    await waitForNoOpenNotification(reference_id);
    expect(await paidTwice()).toHaveLength(1);
  });

  it('an exception is opened for a refund at the provider after the settlement', async () => {
    const { id, reference_id } = await createPayment();
    await service.pay(reference_id);
    await waitForStatus(service, id, 'settled');
    await service.refundAtProvider(reference_id);
    expect(await openException(reference_id)).toMatchObject({ kind: 'refunded_after_settlement' });
    await waitForStatus(service, id, 'settled');
  });
});

it('an exception is opened if the provider refunds a payment that an operator has refunded', async () => {
  const policy = { provider: 'gopay', channel: 'qris', expiresInSeconds: 900 } as const;
  await setPolicy(service.db, { ...policy, settlementDelaySeconds: 900 });
  const { id, reference_id } = await createPayment();
  await service.pay(reference_id);
  await waitForStatus(service, id, 'paid');
  await service.injectFault('refund', 'reject');
  expect((await service.call('POST', `/payments/${id}/refund`)).status).toBe(200);
  await waitForStatus(service, id, 'refund_failed');
  await service.workflows.request({ id }, 'resolveRefundAsRefunded', toStepActor(osUser('dewi'), 'sent back'));
  await waitForStatus(service, id, 'refunded');
  await service.refundAtProvider(reference_id);
  expect(await openException(reference_id)).toMatchObject({ kind: 'refunded_twice', payment_id: id });
  await setPolicy(service.db, { ...policy, settlementDelaySeconds: 0 });
});

describe('the sweeper', () => {
  it('signals the workflow for an open notification whose signal was lost', async () => {
    const { id, reference_id } = await createPayment();
    await service.pay(reference_id, { notify: false });
    const { rows } = await service.db.query("select id from provider_accounts where provider = 'gopay'");
    await scheduleStatusQuery(service.db, { accountId: rows[0].id, referenceId: reference_id });
    const names = await eventually(
      () => service.transitionsOf(id),
      (names) => names.includes('pay'),
    );
    expect(names.slice(0, 3)).toEqual(['create', 'issue', 'pay']);
    await waitForNoOpenNotification(reference_id);
  });

  it('closes a notification that has no effect', async () => {
    const { id, reference_id } = await createPayment();
    await service.pay(reference_id);
    await waitForStatus(service, id, 'settled');
    const { rows } = await service.db.query("select id from provider_accounts where provider = 'gopay'");
    await scheduleStatusQuery(service.db, { accountId: rows[0].id, referenceId: reference_id });
    await waitForNoOpenNotification(reference_id);
    expect((await service.db.query('select 1 from exceptions where payment_id = $1', [id])).rowCount).toBe(0);
  });
});
