import { paymentWorkflowId } from '../../../workflows/ids';
import { eventually } from '../../support/eventually';
import { signedNotification as notification } from '../../support/notification';
import { newNamespace, NO_LIMITS, startTestService, type TestService } from '../../support/service';

let service: TestService;
let accountId: string;
beforeAll(async () => {
  service = await startTestService(await newNamespace());
  const { rows } = await service.db.query("select id from provider_accounts where provider = 'gopay'");
  accountId = rows[0].id;
});
afterAll(() => service.close());

async function createPayment(): Promise<{ id: string; reference_id: string }> {
  return (await service.call('POST', '/payments', { amount: 20_000 })).body.payment;
}

function notify(body: unknown, account = accountId) {
  return service.call('POST', `/provider-notifications/${account}`, body, { authorization: '' });
}

async function inbox(referenceId: string) {
  const { rows } = await service.db.query('select * from provider_notifications where reference_id = $1', [
    referenceId,
  ]);
  return rows;
}

async function signalsTo(paymentId: string): Promise<number> {
  const { events } = await service.client.workflow.getHandle(paymentWorkflowId(paymentId)).fetchHistory();
  return events?.filter((event) => event.workflowExecutionSignaledEventAttributes).length ?? 0;
}

describe('POST /provider-notifications/:account', () => {
  it('200: is stored, and closed by the step that it triggers', async () => {
    const { id, reference_id } = await createPayment();
    await service.pay(reference_id, { notify: false });
    expect((await notify(notification(reference_id))).status).toBe(200);
    await eventually(
      () => service.transitionsOf(id),
      (names) => names.includes('pay'),
    );
    const rows = await inbox(reference_id);
    expect(rows).toHaveLength(1);
    expect(rows[0].closed_at).not.toBeNull();
  });

  it('200: a hundred concurrent copies cause one payment and one row', async () => {
    const { id, reference_id } = await createPayment();
    await service.pay(reference_id, { notify: false });
    const responses = await Promise.all(Array.from({ length: 100 }, () => notify(notification(reference_id))));
    expect(responses.every(({ status }) => status === 200)).toBe(true);
    await eventually(
      () => service.transitionsOf(id),
      (names) => names.includes('pay'),
    );
    expect((await service.transitionsOf(id)).filter((name) => name === 'pay')).toHaveLength(1);
    expect(await inbox(reference_id)).toHaveLength(1);
  });

  it('200: a copy of an open notification does not signal the workflow again', async () => {
    const { id, reference_id } = await createPayment();
    const copies = 10;
    const startedMs = performance.now();
    for (let sent = 0; sent < copies; sent += 1) {
      expect((await notify(notification(reference_id))).status).toBe(200);
    }
    expect((await inbox(reference_id))[0].closed_at).toBeNull();
    // The first one, and those of the sweeper, which signals again after 5, 10, 20 … seconds.
    const seconds = (performance.now() - startedMs) / 1_000;
    expect(await signalsTo(id)).toBeLessThanOrEqual(2 + seconds / 5);
  });

  it('200: copies with other bytes are one row; variants cause one signal a second and a hundred rows', async () => {
    const { id, reference_id } = await createPayment();
    const text = JSON.stringify(notification(reference_id));
    for (let copy = 0; copy < 20; copy += 1) expect((await notify(text + ' '.repeat(copy))).status).toBe(200);
    expect(await inbox(reference_id)).toHaveLength(1);
    const startedMs = performance.now();
    await Promise.all(
      Array.from({ length: 150 }, (_, index) => notify(notification(reference_id, { transaction_id: `tx-${index}` }))),
    );
    const rows = await inbox(reference_id);
    expect(rows.length).toBeGreaterThanOrEqual(100);
    // Concurrent statements do not see each other's rows: there are as many as connections.
    expect(rows.length).toBeLessThan(100 + NO_LIMITS.databasePoolSize);
    // The first one, those of the API, and those of the sweeper, which signals an order every two seconds at most.
    const seconds = (performance.now() - startedMs) / 1_000;
    expect(await signalsTo(id)).toBeLessThanOrEqual(4 + 2 * seconds);
  });

  it('200: variants of one signed notification keep neither another code nor another status out', async () => {
    const { reference_id } = await createPayment();
    const created = { status_code: '201', transaction_status: 'pending' };
    for (let variant = 0; variant < 110; variant += 1) {
      await notify(notification(reference_id, { ...created, transaction_id: `tx-${variant}` }));
    }
    expect(await inbox(reference_id)).toHaveLength(100);
    await notify(notification(reference_id, { transaction_id: 'genuine' }));
    for (let variant = 0; variant < 110; variant += 1) {
      await notify(notification(reference_id, { transaction_id: `tx-${variant}` }));
    }
    await notify(notification(reference_id, { transaction_status: 'refund' }));
    const reported = (await inbox(reference_id)).map((row) => row.reported_status);
    const count = (status: string) => reported.filter((one) => one === status).length;
    expect([count('pending'), count('paid'), count('refunded')]).toEqual([100, 100, 1]);
  });

  it('400: 64 kB and no more are read, and nothing for an unknown account', async () => {
    const large = JSON.stringify({ ...notification('LN0000000000000002'), padding: 'x'.repeat(64 * 1_024) });
    const { status, body } = await notify(large);
    expect([status, body.error.message]).toEqual([400, 'The body is larger than 64 kB.']);
    expect((await notify(large, '01935b6c-7c00-7000-8000-000000000000')).status).toBe(404);
  });

  it('200: one with "paid" while the provider has "pending" changes nothing', async () => {
    const { id, reference_id } = await createPayment();
    expect((await notify(notification(reference_id))).status).toBe(200);
    await eventually(
      () => service.workflows.queryStatus(id),
      (report) => report !== undefined,
    );
    expect(await service.transitionsOf(id)).toEqual(['create', 'issue']);
  });

  it('200: the notification of a created order triggers no status query', async () => {
    const { reference_id } = await createPayment();
    await notify(notification(reference_id, { status_code: '201', transaction_status: 'pending' }));
    const [row] = await inbox(reference_id);
    expect(row.closed_at).not.toBeNull();
  });

  it('200: a status that is already recorded triggers no status query', async () => {
    const { id, reference_id } = await createPayment();
    await service.call('POST', `/payments/${id}/cancel`);
    await notify(notification(reference_id, { status_code: '200', transaction_status: 'cancel' }));
    // The sandbox notifies of it too.
    const rows = (await inbox(reference_id)).filter(({ body }) => JSON.parse(body).transaction_id === 'tx');
    expect(rows).toEqual([expect.objectContaining({ closed_at: expect.any(Date) })]);
  });

  it.each([
    ["at the deadline is stored, and left to the payment's own timer", '1 second', 0, 20],
    ['long before the deadline signals the workflow', '10 minutes', 1, 5],
    ['long after the deadline signals the workflow', '-10 minutes', 1, 5],
  ])('200: an expiry %s', async (_name, untilDeadline, signals, notifiedAgainAfterSeconds) => {
    const { id, reference_id } = await createPayment();
    await service.db.query('update payments set expires_at = now() + $2::interval where id = $1', [id, untilDeadline]);
    const expiry = { status_code: '202', transaction_status: 'expire' };
    expect((await notify(notification(reference_id, expiry))).status).toBe(200);
    expect(await signalsTo(id)).toBe(signals);
    const { rows } = await service.db.query(
      `select extract(epoch from next_notify_at - received_at)::integer as seconds from provider_notifications
       where reference_id = $1`,
      [reference_id],
    );
    expect(rows).toEqual([{ seconds: notifiedAgainAfterSeconds }]);
  });

  it('200: a notification of an unknown order is stored', async () => {
    expect((await notify(notification('LN0000000000000000'))).status).toBe(200);
    expect(await inbox('LN0000000000000000')).toHaveLength(1);
  });

  it.each([
    ['a forged signature', (order: string) => ({ ...notification(order), signature_key: 'ab'.repeat(64) }), 404],
    ['a signature for another amount', (order: string) => ({ ...notification(order), gross_amount: '1.00' }), 404],
    ['something else', () => ({ hello: 'world' }), 400],
    ['no JSON', () => '{', 400],
  ])('refuses %s and keeps nothing', async (_name, body, status) => {
    const { id, reference_id } = await createPayment();
    await service.pay(reference_id, { notify: false });
    expect((await notify(body(reference_id))).status).toBe(status);
    expect(await inbox(reference_id)).toHaveLength(0);
    expect(await service.transitionsOf(id)).toEqual(['create', 'issue']);
  });

  it.each(['01935b6c-7c00-7000-8000-000000000000', 'nonsense', '%00'])('404: account %s', async (account) => {
    expect((await notify(notification('LN0000000000000001'), account)).status).toBe(404);
  });
});
