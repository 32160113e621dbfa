import { randomUUID } from 'node:crypto';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { createSealer } from '../../src/sealing';
import { MAX_TRIES } from '../../src/webhooks/retry-policy';
import { createTimeSkippingEnvironment } from '../support/engine';
import { recordHistory } from '../support/history';
import { startReceiver, verifySignature, type Receiver } from '../support/receiver';
import { startTestService, type TestService } from '../support/service';
import { until } from '../support/until';

const SECRET = 'whsec_retries';

let environment: TestWorkflowEnvironment;
let service: TestService;
let receiver: Receiver;

beforeAll(async () => {
  environment = await createTimeSkippingEnvironment();
  service = await startTestService({ address: environment.address, namespace: 'default', security: {} }, 0);
}, 60_000);

afterAll(async () => {
  await service.close();
  await environment.teardown();
});

beforeEach(async () => {
  receiver = await startReceiver();
  await service.db.query("update webhook_endpoints set status = 'disabled'");
  const endpointId = randomUUID();
  await service.db.query(
    "insert into webhook_endpoints (id, merchant_id, url, events) values ($1, $2, $3, '{payment.created}')",
    [endpointId, service.merchantId, receiver.url],
  );
  await service.db.query('insert into webhook_secrets (id, endpoint_id, sealed_secret) values ($1, $2, $3)', [
    randomUUID(),
    endpointId,
    createSealer(service.masterKey).seal(SECRET, 'webhook-secret'),
  ]);
});
afterEach(() => receiver.close());

/** A payment whose first webhook failed; answers the delivery once its workflow has it. */
async function failedDelivery(): Promise<string> {
  const { body } = await service.call('POST', '/payments', { amount: 10_000 });
  const row = await until(
    () => deliveryOf(body.payment.id),
    (delivery) => delivery?.handed_over_at !== null,
  );
  return row.id;
}

async function deliveryOf(paymentId: string) {
  const { rows } = await service.db.query(
    "select * from webhook_deliveries where payment_id = $1 and status <> 'dead' or id = $1",
    [paymentId],
  );
  return rows[0];
}

async function end(deliveryId: string, name: string): Promise<unknown> {
  const outcome = await environment.client.workflow.getHandle(`webhook-${deliveryId}`).result();
  await recordHistory(environment.client, `webhook-${deliveryId}`, `webhook-${name}`);
  return outcome;
}

describe('a webhook whose first try failed', () => {
  it('is tried again until the receiver is well, with the same delivery id and a fresh signature', async () => {
    let answers = 0;
    receiver.respond = (response) => {
      answers += 1;
      response.writeHead(answers < 4 ? 503 : 204).end();
    };
    const id = await failedDelivery();
    expect(await end(id, 'delivered')).toBe('delivered');
    expect(receiver.received).toHaveLength(4);
    expect(new Set(receiver.received.map(({ headers }) => headers['x-service-delivery']))).toEqual(new Set([id]));
    expect(new Set(receiver.received.map(({ rawBody }) => rawBody)).size).toBe(1);
    expect(receiver.received.every((webhook) => verifySignature(webhook, SECRET))).toBe(true);
    expect(await deliveryOf(id)).toMatchObject({ status: 'delivered', attempts: 4 });
  });

  it('is dead after twelve tries, all of them in the log', async () => {
    receiver.respond = (response) => response.writeHead(500).end('no');
    const id = await failedDelivery();
    expect(await end(id, 'dead')).toBe('dead');
    expect(receiver.received).toHaveLength(MAX_TRIES);
    const { rows } = await service.db.query('select * from webhook_deliveries where id = $1', [id]);
    expect(rows[0]).toMatchObject({ status: 'dead', dead_reason: 'tries_exhausted', attempts: MAX_TRIES });
    const log = await service.db.query('select * from webhook_attempts where delivery_id = $1', [id]);
    expect(log.rows.every((attempt) => attempt.status_code === 500 && attempt.response_excerpt === 'no')).toBe(true);
    expect(log.rowCount).toBe(MAX_TRIES);
  });

  it('is dead as soon as the receiver says that it is gone', async () => {
    receiver.respond = (response) => response.writeHead(receiver.received.length === 1 ? 500 : 410).end();
    const id = await failedDelivery();
    expect(await end(id, 'gone')).toBe('dead');
    expect(receiver.received).toHaveLength(2);
  });
});
