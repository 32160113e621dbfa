import { createSealer } from '../../src/crypto/sealing';
import { PAYMENT_EVENTS } from '../../src/domain/events';
import { VERSION } from '../../src/package-info';
import { setPolicy } from '../../src/services/provider-accounts/catalog';
import { waitForStatus } from '../support/created-payment';
import { eventually } from '../support/eventually';
import { startReceiver, verifySignature, type ReceivedWebhook, type Receiver } from '../support/receiver';
import { newNamespace, startTestService, type TestService } from '../support/service';
import { registerEndpoint } from '../support/webhooks';

let service: TestService;
let receiver: Receiver;
let secret: string;

beforeAll(async () => {
  [service, receiver] = await Promise.all([
    newNamespace().then((temporal) => startTestService(temporal, { refundHoldSeconds: 0 })),
    startReceiver(),
  ]);
  ({ secret } = await registerEndpoint(service.db, createSealer(service.masterKey), {
    merchantId: service.merchantId,
    url: receiver.url,
    events: [],
  }));
});

afterAll(() => Promise.all([service.close(), receiver.close()]));

interface Payment {
  readonly id: string;
  readonly reference_id: string;
}

/** What the customer, the merchant or the provider does, and the statuses for which the merchant receives an event. */
interface Scenario {
  readonly expiresInSeconds?: number;
  readonly settlementDelaySeconds?: number;
  /** The provider rejects this operation. */
  readonly rejected?: 'charge' | 'refund';
  readonly happens?: (payment: Payment) => Promise<unknown>;
  readonly statuses: readonly string[];
}

const pay = ({ reference_id }: Payment) => service.pay(reference_id);
const payAndRefund = async (payment: Payment) => {
  await pay(payment);
  await waitForStatus(service, payment.id, 'paid');
  expect((await service.call('POST', `/payments/${payment.id}/refund`)).status).toBe(200);
};

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'is paid and settles': {
    settlementDelaySeconds: 1,
    happens: pay,
    statuses: ['created', 'pending', 'paid', 'settled'],
  },
  'expires unpaid': { expiresInSeconds: 1, statuses: ['created', 'pending', 'expired'] },
  'is cancelled': {
    happens: ({ id }) => service.call('POST', `/payments/${id}/cancel`),
    statuses: ['created', 'pending', 'cancelled'],
  },
  'is rejected by the provider': { rejected: 'charge', statuses: ['created', 'failed'] },
  'is refunded': {
    happens: payAndRefund,
    statuses: ['created', 'pending', 'paid', 'refund_processing', 'refunded'],
  },
  'is not refunded by the provider': {
    rejected: 'refund',
    happens: payAndRefund,
    statuses: ['created', 'pending', 'paid', 'refund_processing', 'refund_failed'],
  },
};

/** Headers with their names as received, without those of HTTP itself. */
function contractHeaders({ rawHeaders }: ReceivedWebhook): Record<string, string | undefined> {
  const own = new Set(['host', 'connection', 'content-length', 'transfer-encoding']);
  const pairs = rawHeaders.flatMap((name, index) => (index % 2 === 0 ? [[name, rawHeaders[index + 1]] as const] : []));
  return Object.fromEntries(pairs.filter(([name]) => !own.has(name.toLowerCase())));
}

/** The contract's payload, keys in its order. */
function expectedBody(payment: Record<string, unknown>, status: string, updatedAt: Date): string {
  return JSON.stringify({
    id: payment.id,
    event: `payment.${status}`,
    reference_id: payment.reference_id,
    merchant_reference_id: payment.merchant_reference_id,
    status,
    environment: 'sandbox',
    amount: 50_000,
    fee_amount: 350,
    net_amount: 49_650,
    total_amount: 50_000,
    currency: 'IDR',
    payment_method: 'qris',
    provider: 'gopay',
    created_at: payment.created_at,
    updated_at: updatedAt.toISOString(),
  });
}

describe('a merchant receives the events of a payment that', () => {
  const received = new Set<string>();

  it.each(Object.entries(SCENARIOS))('%s', async (name, scenario) => {
    const { expiresInSeconds = 900, settlementDelaySeconds = 86_400 } = scenario;
    await setPolicy(service.db, { provider: 'gopay', channel: 'qris', expiresInSeconds, settlementDelaySeconds });
    if (scenario.rejected) await service.injectFault(scenario.rejected, 'reject');
    const merchantReference = `PESANAN ${name} é 支付 "\\`;
    await service.call('POST', '/payments', { amount: 50_000, merchant_reference_id: merchantReference });
    const { body } = await service.call('GET', '/transactions?limit=1');
    const [{ id }] = body.transactions;
    const { payment } = (await service.call('GET', `/payments/${id}`)).body;
    expect(payment.merchant_reference_id).toBe(merchantReference);
    await scenario.happens?.(payment);

    const webhooks = await eventually(
      () => Promise.resolve(receiver.received.filter((webhook) => webhook.body.id === id)),
      (webhooks) => webhooks.length >= scenario.statuses.length,
    );
    webhooks.sort((one, other) => String(one.body.updated_at).localeCompare(String(other.body.updated_at)));
    const { rows: steps } = await service.db.query(
      `select to_status, occurred_at from payment_transitions
       where payment_id = $1 and from_status is distinct from to_status order by version`,
      [id],
    );
    expect(steps.map((step) => step.to_status)).toEqual(scenario.statuses);
    expect(webhooks.map(({ rawBody }) => rawBody)).toEqual(
      steps.map((step) => expectedBody(payment, step.to_status, step.occurred_at)),
    );
    const { rows: deliveries } = await service.db.query(
      'select id from webhook_deliveries where payment_id = $1 order by payment_version',
      [id],
    );
    expect(webhooks.map(contractHeaders)).toEqual(
      scenario.statuses.map((status, index) => ({
        'Content-Type': 'application/json',
        'User-Agent': `Lunas-Webhooks/${VERSION}`,
        'X-Service-Event': `payment.${status}`,
        'X-Service-Delivery': deliveries[index]?.id,
        'X-Service-Signature': expect.stringMatching(/^t=\d{10},v1=[0-9a-f]{64}$/),
        'webhook-id': deliveries[index]?.id,
        'webhook-timestamp': expect.stringMatching(/^\d{10}$/),
        'webhook-signature': expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
      })),
    );
    expect(webhooks.every((webhook) => verifySignature(webhook, secret))).toBe(true);
    for (const { body } of webhooks) received.add(String(body.event));
  });

  it('(together these are all ten events)', () => {
    expect([...received].sort()).toEqual([...PAYMENT_EVENTS].sort());
  });
});
