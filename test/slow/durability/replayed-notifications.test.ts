import { createSealer } from '../../../src/crypto/sealing';
import { SANDBOX_SERVER_KEY } from '../../../src/sandbox/acquirers';
import { setPolicy } from '../../../src/services/provider-accounts/catalog';
import { addAccount } from '../../../src/services/provider-accounts/provider-accounts';
import { createPayment, waitForStatus } from '../../support/created-payment';
import { eventually } from '../../support/eventually';
import { signedNotification } from '../../support/notification';
import { newNamespace, startTestService, type TestService } from '../../support/service';
import { bySize } from '../../support/size';

const REPLAYS = bySize({ small: 12, full: 100 });

interface Payment {
  readonly id: string;
  readonly reference_id: string;
}

let service: TestService;
let accountId: string;
beforeAll(async () => {
  service = await startTestService(await newNamespace(), { refundHoldSeconds: 1 });
  const policy = { provider: 'gopay', channel: 'qris', settlementKind: 'manual', settlementDelaySeconds: 0 } as const;
  await setPolicy(service.db, policy);
  const { rows } = await service.db.query<{ id: string }>("select id from provider_accounts where provider = 'gopay'");
  accountId = rows[0]?.id ?? '';
});
afterAll(() => service.close());

const notify = (body: unknown, account = accountId) =>
  service.call('POST', `/provider-notifications/${account}`, body, { authorization: '' });

const inbox = async ({ reference_id }: Payment) =>
  (await service.db.query('select * from provider_notifications where reference_id = $1', [reference_id])).rows;

/** All that is recorded of a payment, apart from the inbox. */
async function recorded({ id }: Payment): Promise<unknown> {
  const tables = ['payment_transitions', 'ledger_postings', 'refunds', 'late_payments', 'webhook_events'];
  const rows = tables.map(async (table) => [
    table,
    (await service.db.query(`select * from ${table} where payment_id = $1 order by 1, 2, 3`, [id])).rows,
  ]);
  return [(await service.db.query('select * from payments where id = $1', [id])).rows, await Promise.all(rows)];
}

/** Every row of the inbox has caused a status query. One that the provider's status does not show stays open. */
const handled = (payment: Payment) =>
  eventually(
    () => inbox(payment),
    (rows) => rows.every(({ closed_at, notify_attempts }) => closed_at !== null || notify_attempts > 0),
  );

const paidNotification = ({ reference_id }: Payment) => signedNotification(reference_id);

async function pay(payment: Payment): Promise<void> {
  await service.pay(payment.reference_id, { notify: false });
  expect((await notify(paidNotification(payment))).status).toBe(200);
  await waitForStatus(service, payment.id, 'paid');
}

/** How a payment comes to an end, and the status that it has then. */
const ENDS: Readonly<Record<string, (payment: Payment) => Promise<void>>> = {
  async paid(payment) {
    await pay(payment);
  },
  async settled(payment) {
    await pay(payment);
    await service.workflows.request(payment, 'settle', { name: 'operator:dewi' });
  },
  async refunded(payment) {
    await pay(payment);
    await service.call('POST', `/payments/${payment.id}/refund`);
  },
  async cancelled(payment) {
    await service.call('POST', `/payments/${payment.id}/cancel`);
  },
};

describe('attack: a verified notification is sent again', () => {
  it.each(Object.entries(ENDS))(`${REPLAYS} times to a payment that is %s: nothing changes`, async (status, end) => {
    const payment = await createPayment(service);
    await end(payment);
    await waitForStatus(service, payment.id, status);
    expect((await notify(paidNotification(payment))).status).toBe(200);
    await handled(payment);
    const [before, rows] = [await recorded(payment), (await inbox(payment)).length];
    for (let sent = 0; sent < REPLAYS; sent += 1) {
      // The signature covers neither the spaces nor the time.
      const body = JSON.stringify({ ...paidNotification(payment), transaction_time: `${sent}` });
      expect((await notify(sent % 2 === 0 ? body : body + ' '.repeat(sent))).status).toBe(200);
    }
    expect(await inbox(payment)).toHaveLength(rows);
    await handled(payment);
    expect(await recorded(payment)).toEqual(before);
  });

  it('the signature of a notification does not fit another order or amount', async () => {
    const [paid, pending] = [await createPayment(service), await createPayment(service)];
    await pay(paid);
    const before = await recorded(pending);
    const captured = paidNotification(paid);
    const unknown = await notify(captured, '01935b6c-7c00-7000-8000-000000000000');
    for (const changes of [{ order_id: pending.reference_id }, { gross_amount: '1.00' }, { status_code: '201' }]) {
      const { status, text } = await notify({ ...captured, ...changes });
      expect([status, text]).toEqual([404, unknown.text]);
    }
    expect(await inbox(pending)).toEqual([]);
    expect(await recorded(pending)).toEqual(before);
  });
});

describe('attack: a verified notification is sent to another account', () => {
  async function addOther(serverKey: string): Promise<string> {
    const { id } = await addAccount(service.db, createSealer(service.masterKey), {
      provider: 'shopeepay',
      adapter: 'midtrans',
      serverKey,
      weight: 1,
      baseUrl: service.sandboxUrl,
      environment: 'sandbox',
    });
    return id;
  }

  it('a notification of another server key gets the response of an unknown account', async () => {
    const payment = await createPayment(service);
    const other = await addOther('SB-Mid-server-other');
    const unknown = await notify(paidNotification(payment), '01935b6c-7c00-7000-8000-000000000000');
    const { status, text } = await notify(paidNotification(payment), other);
    expect([status, text]).toEqual([404, unknown.text]);
    expect(await inbox(payment)).toEqual([]);
  });

  it("a notification to another account of the same key is stored, and the payment's account decides", async () => {
    const [payment, before] = await createPayment(service).then(async (made) => [made, await recorded(made)] as const);
    const other = await addOther(SANDBOX_SERVER_KEY);
    for (let sent = 0; sent < REPLAYS; sent += 1) {
      expect((await notify(paidNotification(payment), other)).status).toBe(200);
    }
    expect(await inbox(payment)).toHaveLength(1);
    expect(await recorded(payment)).toEqual(before);
    await pay(payment);
    expect(await service.transitionsOf(payment.id)).toEqual(['create', 'issue', 'pay']);
  });
});
