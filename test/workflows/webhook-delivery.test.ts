import { randomUUID } from 'node:crypto';
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import { createSealer } from '../../src/crypto/sealing';
import { findEndpoint } from '../../src/services/webhooks/webhook-endpoints';
import { EncryptingCodec } from '../../src/temporal/payload-codec';
import { PaymentWorkflowClient } from '../../src/temporal/payment-workflow-client';
import { MAX_ATTEMPTS } from '../../src/webhooks/retry-policy';
import { eventually } from '../support/eventually';
import { recordHistory } from '../support/history';
import { payloadKeysOf } from '../support/payload-keys';
import { startReceiver, verifySignature, type Receiver } from '../support/receiver';
import { newMasterKey, startTestService, type TestService } from '../support/service';
import { createTimeSkippingEnvironment } from '../support/temporal';
import { disable, enable, redeliverAs } from '../support/webhooks';

const SECRET = 'whsec_retries';

let environment: TestWorkflowEnvironment;
let service: TestService;
let receiver: Receiver;
let endpointId: string;

beforeAll(async () => {
  const masterKey = newMasterKey();
  const codec = new EncryptingCodec(payloadKeysOf(masterKey), 'default');
  environment = await createTimeSkippingEnvironment([codec]);
  service = await startTestService(
    { address: environment.address, namespace: 'default', security: {} },
    { maxCachedWorkflows: 0, masterKey },
  );
});

afterAll(async () => {
  await service.close();
  await environment.teardown();
});

beforeEach(async () => {
  receiver = await startReceiver();
  await service.db.query("update webhook_endpoints set status = 'disabled'");
  endpointId = randomUUID();
  await service.db.query(
    "insert into webhook_endpoints (id, merchant_id, url, events) values ($1, $2, $3, '{payment.created}')",
    [endpointId, service.merchantId, receiver.url],
  );
  const secretId = randomUUID();
  await service.db.query('insert into webhook_secrets (id, endpoint_id, sealed_secret) values ($1, $2, $3)', [
    secretId,
    endpointId,
    createSealer(service.masterKey).seal(SECRET, ['webhook-secret', secretId]),
  ]);
});
afterEach(() => receiver.close());

/** A payment whose first webhook failed. @returns the delivery's id, once its retry workflow is started */
async function failedDelivery(): Promise<string> {
  const { body } = await service.call('POST', '/payments', { amount: 10_000 });
  const row = await eventually(
    () => deliveryOf(body.payment.id),
    (delivery) => delivery?.retry_workflow_started_at !== null,
  );
  return row.id;
}

/** @param id of the delivery, or of its payment */
async function deliveryOf(id: string) {
  const { rows } = await service.db.query(
    'select * from webhook_deliveries where payment_id = $1 and endpoint_id = $2 or id = $1',
    [id, endpointId],
  );
  return rows[0];
}

async function finish(deliveryId: string, name: string): Promise<unknown> {
  const outcome = await environment.client.workflow.getHandle(`webhook-${deliveryId}`).result();
  await recordHistory(environment.client, `webhook-${deliveryId}`, `webhook-${name}`);
  return outcome;
}

describe('a delivery whose first attempt failed', () => {
  it('a delivery is retried until the endpoint succeeds, with the same delivery id and a new signature', async () => {
    let responses = 0;
    receiver.respond = (response) => {
      responses += 1;
      response.writeHead(responses < 4 ? 503 : 204).end();
    };
    const id = await failedDelivery();
    expect(await finish(id, 'delivered')).toBe('delivered');
    expect(receiver.received).toHaveLength(4);
    expect(new Set(receiver.received.map(({ headers }) => headers['x-service-delivery']))).toEqual(new Set([id]));
    expect(new Set(receiver.received.map(({ rawBody }) => rawBody)).size).toBe(1);
    expect(receiver.received.every((webhook) => verifySignature(webhook, SECRET))).toBe(true);
    expect(await deliveryOf(id)).toMatchObject({ status: 'delivered', attempts_total: 4 });
  });

  it('a delivery is dead after twelve attempts, all of them logged', async () => {
    receiver.respond = (response) => response.writeHead(500).end('no');
    const id = await failedDelivery();
    expect(await finish(id, 'dead')).toBe('dead');
    expect(receiver.received).toHaveLength(MAX_ATTEMPTS);
    const { rows } = await service.db.query('select * from webhook_deliveries where id = $1', [id]);
    expect(rows[0]).toMatchObject({ status: 'dead', dead_reason: 'attempts_exhausted', attempts_total: MAX_ATTEMPTS });
    const log = await service.db.query('select * from webhook_attempts where delivery_id = $1', [id]);
    expect(log.rows.every((attempt) => attempt.status_code === 500 && attempt.response_excerpt === 'no')).toBe(true);
    expect(log.rowCount).toBe(MAX_ATTEMPTS);
  });

  it('a delivery is dead after a response 410, and its endpoint is disabled', async () => {
    receiver.respond = (response) => response.writeHead(receiver.received.length === 1 ? 500 : 410).end();
    const id = await failedDelivery();
    expect(await finish(id, 'endpoint-gone')).toBe('dead');
    expect(receiver.received).toHaveLength(2);
    expect(await findEndpoint(service.db, 'all', endpointId)).toMatchObject({
      status: 'disabled',
      disabledReason: 'gone',
    });
  });

  it('a delivery is dead without another request if an operator disables the endpoint', async () => {
    receiver.respond = (response) => response.writeHead(500).end();
    const id = await failedDelivery();
    await disable(service.db, endpointId);
    expect(await finish(id, 'endpoint-disabled')).toBe('dead');
    expect(receiver.received).toHaveLength(1);
    expect(await deliveryOf(id)).toMatchObject({ status: 'dead', dead_reason: 'endpoint_disabled', attempts_total: 1 });
  });

  it('a delivery is not attempted for a disabled endpoint, even while it is pending', async () => {
    receiver.respond = (response) => response.writeHead(500).end();
    const id = await failedDelivery();
    await service.db.query("update webhook_endpoints set status = 'disabled' where id = $1", [endpointId]);
    expect(await finish(id, 'endpoint-disabled')).toBe('dead');
    expect(receiver.received).toHaveLength(1);
    expect(await deliveryOf(id)).toMatchObject({ status: 'dead', dead_reason: 'endpoint_disabled', attempts_total: 1 });
  });

  it('starts a new retry cycle if it is redelivered after it was dead', async () => {
    receiver.respond = (response) => response.writeHead(500).end();
    const id = await failedDelivery();
    expect(await finish(id, 'dead')).toBe('dead');
    await enable(service.db, endpointId); // resets the circuit breaker
    await redeliverAs(service.db, [id]);
    await eventually(
      () => deliveryOf(id),
      (delivery) => delivery.retry_workflow_started_at !== null,
    );
    expect(await finish(id, 'redelivered')).toBe('dead');
    expect(receiver.received).toHaveLength(2 * MAX_ATTEMPTS);
    expect(await deliveryOf(id)).toMatchObject({ dead_reason: 'attempts_exhausted', attempts_total: 2 * MAX_ATTEMPTS });
  });

  it('starts a new retry cycle if it is redelivered while its retry workflow runs', async () => {
    receiver.respond = (response) => response.writeHead(500).end();
    const id = await failedDelivery();
    const runOf = async () => (await environment.client.workflow.getHandle(`webhook-${id}`).describe()).runId;
    const before = await runOf();
    await disable(service.db, endpointId);
    await enable(service.db, endpointId);
    await redeliverAs(service.db, [id]);
    await eventually(
      () => deliveryOf(id),
      (delivery) => delivery.retry_workflow_started_at !== null,
    );
    expect(await runOf()).not.toBe(before);
    receiver.respond = (response) => response.end();
    expect(await finish(id, 'retries-restarted')).toBe('delivered');
    expect(receiver.received).toHaveLength(3);
    expect(await deliveryOf(id)).toMatchObject({ status: 'delivered', attempts_total: 3, attempts_in_cycle: 1 });
  });

  it('opens the circuit breaker of its endpoint: new deliveries wait for the next probe', async () => {
    receiver.respond = (response) => response.writeHead(500).end();
    for (let count = 0; count < 2; count += 1) await finish(await failedDelivery(), 'dead');
    const { body } = await service.call('POST', '/payments', { amount: 10_000 });
    const endpoint = await findEndpoint(service.db, 'all', endpointId);
    expect(endpoint).toMatchObject({ status: 'enabled', consecutiveFailures: 2 * MAX_ATTEMPTS, pending: 1 });
    expect(endpoint.nextProbeAt).not.toBeNull();
    expect(await deliveryOf(body.payment.id)).toMatchObject({ status: 'pending', retry_workflow_started_at: null });
  });
});

describe('a ping', () => {
  const workflows = () => new PaymentWorkflowClient(environment.client);

  it('a ping has the response of the receiver, with a signature, and is not repeated', async () => {
    receiver.respond = (response) => response.writeHead(503).end('<b>not now</b>');
    const pingId = randomUUID();
    const input = { endpointId, merchantId: service.merchantId };
    expect(await workflows().retries.ping(pingId, input)).toMatchObject({
      statusCode: 503,
      failure: 'the receiver returned 503',
      responseExcerpt: '<b>not now</b>',
    });
    expect(receiver.received.map((webhook) => verifySignature(webhook, SECRET))).toEqual([true]);
    expect(receiver.received[0]?.headers['x-service-event']).toBe('ping');
    await recordHistory(environment.client, `webhook-ping-${endpointId}-${pingId}`, 'webhook-ping');
  });

  it('a ping that is requested again has the result of the first: a browser may send a form twice', async () => {
    receiver.respond = (response) => response.end();
    const pingId = randomUUID();
    const input = { endpointId, merchantId: service.merchantId };
    const first = await workflows().retries.ping(pingId, input);
    expect(await workflows().retries.ping(pingId, input)).toEqual(first);
    expect(receiver.received).toHaveLength(1);
  });

  it('a ping of the endpoint of another merchant is rejected: nothing is sent', async () => {
    const input = { endpointId, merchantId: randomUUID() };
    await expect(workflows().retries.ping(randomUUID(), input)).rejects.toBeInstanceOf(Error);
    expect(receiver.received).toEqual([]);
  });
});
