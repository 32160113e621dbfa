import { randomBytes, randomUUID } from 'node:crypto';
import { createSealer } from '../../../src/crypto/sealing';
import { transitionWriters } from '../../../src/db/transitions/payment-transitions';
import { setEndpoint } from '../../../src/services/webhooks/set-endpoint';
import { listDeliveries } from '../../../src/services/webhooks/webhook-deliveries';
import { findEndpoint, listEndpoints, listOwnEndpoints } from '../../../src/services/webhooks/webhook-endpoints';
import { redeliverRange } from '../../../src/services/webhooks/webhook-redelivery';
import { findNewestSecret } from '../../../src/services/webhooks/webhook-secrets';
import type { DeliveryAttempt } from '../../../src/webhooks/attempt-delivery';
import { openSecret } from '../../../src/webhooks/open-secrets';
import { claimDeliveries, type Delivery } from '../../../src/webhooks/outbox';
import { recordDelivered, recordFailed, recordRetryWorkflowStarted } from '../../../src/webhooks/record-attempt';
import { createWebhookSender, type WebhookSender } from '../../../src/webhooks/send';
import { sendPing } from '../../../src/webhooks/send-ping';
import { memberOf, osUser } from '../../support/actors';
import { collectLog, type CollectedLog } from '../../support/collect-log';
import { createTestLedger, creation, type TestLedger } from '../../support/payments';
import { startReceiver, verifySignature, type Receiver } from '../../support/receiver';
import { change, disable, enable, redeliverAs, registerEndpoint, remove, rotate } from '../../support/webhooks';

const UNKNOWN_ID = randomUUID();
const sealer = createSealer(randomBytes(32).toString('base64'));

let ledger: TestLedger;
let receiver: Receiver;
let sender: WebhookSender;
let collected: CollectedLog;

beforeEach(async () => {
  [ledger, receiver] = await Promise.all([createTestLedger(), startReceiver()]);
  sender = createWebhookSender({ environment: 'sandbox' });
  collected = collectLog();
});

afterEach(async () => {
  await Promise.all([sender.close(), receiver.close(), ledger.close()]);
});

const pinging = () => ({ db: ledger.db, log: collected.log, sealer, sender });

const register = (url = receiver.url) =>
  registerEndpoint(ledger.db, sealer, { merchantId: ledger.merchantId, url, events: [] });

const rotateBy = (endpointId: string, overlapSeconds: number) =>
  rotate({ db: ledger.db, sealer }, endpointId, { overlapSeconds });

const attempt = (changes: Partial<DeliveryAttempt> = {}): DeliveryAttempt => ({
  startedAt: new Date('2026-01-05T03:00:00.000Z'),
  durationMs: 12,
  statusCode: 500,
  failure: 'the receiver returned 500',
  responseExcerpt: 'oops',
  retryAfterSeconds: null,
  isOwnFault: false,
  ...changes,
});

/** Payments, and their deliveries leased by a relay. */
async function claimed(count: number) {
  for (let index = 0; index < count; index += 1) {
    await transitionWriters.create(ledger.context, creation(ledger.newTerms(), new Date()));
  }
  return claimDeliveries(ledger.db, { max: 99, maxPerEndpoint: 99 });
}

/** What the webhooks of a delivery are signed with, newest first. */
const secretsOf = (delivery: Delivery | undefined) =>
  delivery?.sealedSecrets.map((sealed) => openSecret(sealed, sealer));

const rowsOf = async (order = 'created_at') =>
  (await ledger.db.query(`select * from webhook_deliveries order by ${order}`)).rows;

describe('a rotated secret', () => {
  it('signs together with the old secret until the end of the overlap', async () => {
    const endpoint = await register();
    const rotated = await rotateBy(endpoint.id, 3_600);
    expect(rotated.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(rotated.merchantId).toBe(ledger.merchantId);
    expect(Math.abs(rotated.oldSecretExpiresAt.getTime() - Date.now() - 3_600_000)).toBeLessThan(60_000);
    const [delivery] = await claimed(1);
    expect(secretsOf(delivery)).toEqual([rotated.secret, endpoint.secret]);
    expect(await findNewestSecret(ledger.db, sealer, ledger.merchantId)).toBe(rotated.secret);

    await ledger.db.query('update webhook_secrets set expires_at = now() where expires_at is not null');
    const [later] = await claimed(1);
    expect(secretsOf(later)).toEqual([rotated.secret]);
  });

  it('invalidates older secrets immediately if there is no overlap', async () => {
    const endpoint = await register();
    await rotateBy(endpoint.id, 86_400);
    const { secret } = await rotateBy(endpoint.id, 0);
    const [delivery] = await claimed(1);
    expect(secretsOf(delivery)).toEqual([secret]);
  });

  it('a rotated secret does not extend the validity of older secrets', async () => {
    const endpoint = await register();
    await rotateBy(endpoint.id, 0);
    await rotateBy(endpoint.id, 86_400);
    const [delivery] = await claimed(1);
    expect(secretsOf(delivery)).toHaveLength(2);
    expect(secretsOf(delivery)).not.toContain(endpoint.secret);
  });

  it('needs an endpoint', async () => {
    await expect(rotateBy(UNKNOWN_ID, 0)).rejects.toThrow(`There is no endpoint ${UNKNOWN_ID}`);
    expect((await ledger.db.query('select from webhook_secrets')).rowCount).toBe(0);
  });
});

describe('a disabled endpoint', () => {
  it('a disabled endpoint has only dead and delivered deliveries, with or without a retry workflow', async () => {
    const endpoint = await register();
    const other = await register();
    const [first, second, third] = (await claimed(3)).filter(({ endpointId }) => endpointId === endpoint.id);
    if (!first || !second || !third) throw new Error('three were claimed');
    await recordDelivered(ledger.db, [{ delivery: first, attempt: attempt({ statusCode: 200, failure: null }) }]);
    await recordRetryWorkflowStarted(ledger.db, second.deliveryId);

    const disabled = await disable(ledger.db, endpoint.id);
    expect(disabled).toMatchObject({ status: 'disabled', disabledReason: 'operator', pending: 0 });
    const rows = await rowsOf();
    const statuses = (id: string) =>
      rows
        .filter((row) => row.endpoint_id === id)
        .map((row) => `${row.status} ${row.dead_reason}`)
        .sort();
    expect(statuses(endpoint.id)).toEqual(['dead endpoint_disabled', 'dead endpoint_disabled', 'delivered null']);
    expect(statuses(other.id)).toEqual(['pending null', 'pending null', 'pending null']);
  });

  it('keeps its reason and gets no event until it is enabled again, with its health reset', async () => {
    const { id } = await register();
    const [delivery] = await claimed(1);
    if (!delivery) throw new Error('one was claimed');
    await recordFailed(ledger.db, delivery, attempt({ statusCode: 410 }), { by: 'relay', deadReason: 'endpoint_gone' });
    expect(await disable(ledger.db, id)).toMatchObject({ status: 'disabled', disabledReason: 'gone' });
    expect(await claimed(1)).toEqual([]);
    expect(await enable(ledger.db, id)).toMatchObject({
      status: 'enabled',
      disabledReason: null,
      consecutiveFailures: 0,
      failingSince: null,
      nextProbeAt: null,
    });
    expect(await claimed(1)).toHaveLength(1);
  });

  it('an attempt in flight delivers to a disabled endpoint', async () => {
    const { id } = await register();
    const [delivery] = await claimed(1);
    if (!delivery) throw new Error('one was claimed');
    await disable(ledger.db, id);
    await recordDelivered(ledger.db, [{ delivery, attempt: attempt({ statusCode: 200, failure: null }) }]);
    expect(await rowsOf()).toMatchObject([{ status: 'delivered', dead_reason: null, attempts_total: 1 }]);
  });

  it('an endpoint that does not exist cannot be disabled or enabled', async () => {
    await expect(disable(ledger.db, UNKNOWN_ID)).rejects.toThrow(`There is no endpoint ${UNKNOWN_ID}`);
    await expect(enable(ledger.db, UNKNOWN_ID)).rejects.toThrow(`There is no endpoint ${UNKNOWN_ID}`);
  });
});

describe('a redelivery', () => {
  async function dead(count: number) {
    const deliveries = await claimed(count);
    for (const delivery of deliveries) {
      await recordFailed(ledger.db, delivery, attempt(), { by: 'workflow', deadReason: 'attempts_exhausted' });
    }
    return deliveries;
  }

  it('a redelivery is sent under the same id in a new retry cycle, and continues the log of attempts', async () => {
    await register();
    const [delivery] = await dead(1);
    if (!delivery) throw new Error('one died');
    expect(await redeliverAs(ledger.db, [delivery.deliveryId])).toEqual({ redelivered: 1, skipped: 0 });
    expect(await rowsOf()).toMatchObject([
      {
        id: delivery.deliveryId,
        status: 'pending',
        dead_reason: null,
        attempts_in_cycle: 0,
        attempts_total: 1,
        retry_workflow_started_at: null,
      },
    ]);
    const [again] = await claimed(0);
    expect(again).toMatchObject({ deliveryId: delivery.deliveryId, body: delivery.body, attemptsInCycle: 0 });
    await recordDelivered(ledger.db, [{ delivery, attempt: attempt({ statusCode: 204, failure: null }) }]);
    const [listed] = await listDeliveries(ledger.db, { limit: 9 });
    expect(listed?.attempts.map(({ number, statusCode }) => [number, statusCode])).toEqual([
      [1, 500],
      [2, 204],
    ]);
  });

  it('a redelivery of a delivered webhook is possible', async () => {
    await register();
    const [delivery] = await claimed(1);
    if (!delivery) throw new Error('one was claimed');
    await recordDelivered(ledger.db, [{ delivery, attempt: attempt({ statusCode: 200, failure: null }) }]);
    await redeliverAs(ledger.db, [delivery.deliveryId]);
    expect(await claimed(0)).toHaveLength(1);
  });

  it('includes all given deliveries, or none', async () => {
    const endpoint = await register();
    const [first, second] = await dead(2);
    const [pending] = await claimed(1);
    if (!first || !second || !pending) throw new Error('three were claimed');
    const rejected: [string[], string][] = [
      [[first.deliveryId, UNKNOWN_ID], `There is no delivery ${UNKNOWN_ID}`],
      [[first.deliveryId, pending.deliveryId], `The delivery ${pending.deliveryId} is pending already`],
    ];
    for (const [ids, reason] of rejected) await expect(redeliverAs(ledger.db, ids)).rejects.toThrow(reason);
    await disable(ledger.db, endpoint.id);
    await expect(redeliverAs(ledger.db, [second.deliveryId])).rejects.toMatchObject({
      reason: 'endpoint_disabled',
      data: { endpointId: endpoint.id },
    });
    expect((await rowsOf()).every(({ status }) => status === 'dead')).toBe(true);
  });

  it('a redelivery of a range has dead deliveries, of one merchant if given, not of disabled endpoints', async () => {
    const disabled = await register();
    const enabled = await register();
    await dead(3);
    await disable(ledger.db, disabled.id);
    await ledger.db.query(
      `update webhook_deliveries set created_at = '2026-01-05T03:00:00Z'::timestamptz + number * interval '1 hour'
       from (select id, row_number() over (partition by endpoint_id order by id) - 1 as number
          from webhook_deliveries) numbered
       where numbered.id = webhook_deliveries.id`,
    );
    const range = { since: new Date('2026-01-05T04:00:00Z'), until: new Date('2026-01-05T05:00:00Z') };
    expect(await redeliverRange(ledger.db, { ...range, merchantId: UNKNOWN_ID })).toEqual({
      redelivered: 0,
      skipped: 0,
    });
    expect(await redeliverRange(ledger.db, { ...range, merchantId: ledger.merchantId })).toEqual({
      redelivered: 1,
      skipped: 1,
    });
    const pending = (await rowsOf()).filter(({ status }) => status === 'pending');
    expect(pending.map((row) => [row.endpoint_id, row.created_at.toISOString()])).toEqual([
      [enabled.id, '2026-01-05T04:00:00.000Z'],
    ]);
  });
});

describe('the list of deliveries', () => {
  it('the deliveries are filtered by payment, merchant, status, event and time, newest first', async () => {
    const endpoint = await register();
    const [first, second] = await claimed(2);
    if (!first || !second) throw new Error('two were claimed');
    await recordDelivered(ledger.db, [
      { delivery: first, attempt: attempt({ statusCode: 200, failure: null, responseExcerpt: 'thanks' }) },
    ]);
    const found = async (filter: Partial<Parameters<typeof listDeliveries>[1]>) =>
      (await listDeliveries(ledger.db, { limit: 9, ...filter })).map(({ id }) => id);
    const [one, two] = [[first.deliveryId], [second.deliveryId]];
    const both = [...two, ...one];
    const { created_at: createdAt } = (await rowsOf()).find(({ id }) => id === second.deliveryId);

    expect(await found({})).toEqual(both);
    expect(await found({ limit: 1 })).toEqual(two);
    expect(await found({ payment: first.subject.id })).toEqual(one);
    expect(await found({ payment: second.referenceId })).toEqual(two);
    expect(await found({ payment: 'LN0' })).toEqual([]);
    expect(await found({ merchantId: ledger.merchantId })).toEqual(both);
    expect(await found({ merchantId: UNKNOWN_ID })).toEqual([]);
    expect(await found({ status: 'delivered' })).toEqual(one);
    expect(await found({ event: 'payment.created' })).toEqual(both);
    expect(await found({ event: 'payment.paid' })).toEqual([]);
    expect(await found({ since: createdAt })).toEqual(two);
    expect(await found({ until: createdAt })).toEqual(one);

    expect((await listDeliveries(ledger.db, { limit: 9, status: 'delivered' }))[0]).toEqual({
      id: first.deliveryId,
      event: 'payment.created',
      paymentId: first.subject.id,
      payoutId: null,
      invoiceId: null,
      referenceId: first.referenceId,
      merchantId: ledger.merchantId,
      endpointId: endpoint.id,
      url: `${new URL(receiver.url).origin}/…`,
      status: 'delivered',
      deadReason: null,
      createdAt: expect.any(Date),
      finishedAt: expect.any(Date),
      attempts: [
        {
          number: 1,
          startedAt: '2026-01-05T03:00:00.000Z',
          durationMs: 12,
          statusCode: 200,
          failure: null,
          responseExcerpt: 'thanks',
        },
      ],
    });
  });
});

describe('a ping', () => {
  it('a ping is a signed request with its own event name, and returns the response', async () => {
    receiver.respond = (response) => response.writeHead(202).end('noted');
    const endpoint = await register();
    const ping = await sendPing(pinging(), endpoint.id);
    expect(ping).toMatchObject({ statusCode: 202, failure: null, responseExcerpt: 'noted', url: receiver.url });
    const [webhook] = receiver.received;
    expect(webhook?.headers).toMatchObject({ 'x-service-event': 'ping', 'x-service-delivery': ping.deliveryId });
    expect(webhook?.body).toEqual({ event: 'ping', endpoint_id: endpoint.id, created_at: expect.any(String) });
    expect(webhook && verifySignature(webhook, endpoint.secret)).toBe(true);
    expect(await rowsOf()).toEqual([]);
  });

  it('a ping that fails returns the reason, and does not count as a failure of the endpoint', async () => {
    receiver.respond = (response) => response.writeHead(503).end('busy');
    const { id } = await register();
    const ping = await sendPing(pinging(), id);
    expect(ping).toMatchObject({ statusCode: 503, failure: 'the receiver returned 503', responseExcerpt: 'busy' });
    expect(await findEndpoint(ledger.db, 'all', id)).toMatchObject({ consecutiveFailures: 0 });
  });

  it('a ping that succeeds lets the relay send the waiting deliveries of a failing endpoint', async () => {
    const { id } = await register();
    await claimed(1);
    await ledger.db.query("update webhook_deliveries set leased_until = '-infinity'");
    await ledger.db.query(
      `update webhook_endpoints set consecutive_failures = 99, failing_since = now(),
         next_probe_at = now() + interval '1 hour'`,
    );
    expect(await claimed(0)).toHaveLength(0);
    await sendPing(pinging(), id);
    expect(await claimed(0)).toHaveLength(1);
  });

  it('a ping is signed with the secrets that can be opened, as a delivery is; the log names the others', async () => {
    const { id, secret } = await register();
    const lost = randomUUID();
    await ledger.db.query(
      "insert into webhook_secrets (id, endpoint_id, sealed_secret) values ($1, $2, 'v1.lost.key')",
      [lost, id],
    );
    expect(await sendPing(pinging(), id)).toMatchObject({ failure: null });
    const [webhook] = receiver.received;
    expect(webhook && verifySignature(webhook, secret)).toBe(true);
    expect(collected.lines('webhook secret not opened')).toMatchObject([{ level: 50, secrets: [lost] }]);
  });

  it('a ping is checked by the SSRF guard', async () => {
    const { id } = await register();
    const guarded = createWebhookSender({ environment: 'sandbox', allowedNetworks: [] });
    const ping = await sendPing({ ...pinging(), sender: guarded }, id);
    await guarded.close();
    expect(ping.failure).toContain('which is loopback');
    expect(receiver.received).toHaveLength(0);
  });

  it('needs an endpoint', async () => {
    await expect(sendPing(pinging(), UNKNOWN_ID)).rejects.toThrow(`There is no endpoint ${UNKNOWN_ID}`);
  });
});

describe('an endpoint that is changed', () => {
  it('gets its waiting deliveries at the new URL, whose health is not known', async () => {
    const { id, secret } = await register('http://127.0.0.1:9/moved');
    const [first] = await claimed(1);
    if (first === undefined) throw new Error('nothing was claimed');
    await recordFailed(ledger.db, first, attempt(), { by: 'relay', deadReason: null });
    const changed = await change(ledger.db, id, { url: receiver.url });
    expect(changed).toMatchObject({ id, url: receiver.url, events: null, consecutiveFailures: 0, failingSince: null });
    await claimed(1);
    const { rows } = await ledger.db.query('select endpoint_id from webhook_deliveries');
    expect(rows).toEqual([{ endpoint_id: id }, { endpoint_id: id }]);
    await sendPing(pinging(), id);
    expect(receiver.received.map((webhook) => verifySignature(webhook, secret))).toEqual([true]);
  });

  it('keeps its URL and health if only its events change', async () => {
    const { id } = await register();
    const [first] = await claimed(1);
    if (first === undefined) throw new Error('nothing was claimed');
    await recordFailed(ledger.db, first, attempt(), { by: 'relay', deadReason: null });
    const listed = await change(ledger.db, id, { events: ['payment.paid', 'payment.paid'] });
    expect(listed).toMatchObject({ url: receiver.url, events: ['payment.paid'], consecutiveFailures: 1 });
    await claimed(1);
    expect(await rowsOf()).toHaveLength(1);
    expect(await change(ledger.db, id, { events: [] })).toMatchObject({ events: null });
  });

  it('accepts only a URL that a new endpoint may have', async () => {
    const { id } = await register();
    const call = { path: { endpoint: id }, input: { url: 'http://10.0.0.1/' }, formId: randomUUID() };
    const needs = { db: ledger.db, receiverRules: { environment: 'sandbox' } } as const;
    expect(await setEndpoint.run(needs, osUser('root'), call)).toMatchObject({
      outcome: 'rejected',
      rejection: { reason: 'url_not_allowed', rule: 'not_public' },
    });
    expect(await findEndpoint(ledger.db, 'all', id)).toMatchObject({ url: receiver.url });
  });
});

describe('an endpoint that is deleted', () => {
  it('gets nothing again: its pending deliveries are dead, and stay as history', async () => {
    const { id } = await register();
    const [pending] = await claimed(1);
    await remove(ledger.db, id);
    await claimed(1);
    const rows = await rowsOf();
    expect(rows).toMatchObject([{ id: pending?.deliveryId, status: 'dead', dead_reason: 'endpoint_disabled' }]);
    await expect(redeliverAs(ledger.db, [rows[0].id])).rejects.toMatchObject({ reason: 'endpoint_deleted' });
    const range = { since: new Date(0), until: new Date(Date.now() + 60_000) };
    expect(await redeliverRange(ledger.db, range)).toEqual({ redelivered: 0, skipped: 1 });
    const { rows: secrets } = await ledger.db.query('select expires_at <= now() as ended from webhook_secrets');
    expect(secrets).toEqual([{ ended: true }]);
  });

  it('a deleted endpoint is in no list, and no operation finds it', async () => {
    const { id } = await register();
    await remove(ledger.db, id);
    expect(await listEndpoints(ledger.db)).toEqual([]);
    expect(await listOwnEndpoints(ledger.db, ledger.merchantId)).toEqual([]);
    for (const operate of [
      () => findEndpoint(ledger.db, 'all', id),
      () => enable(ledger.db, id),
      () => disable(ledger.db, id),
      () => remove(ledger.db, id),
      () => rotateBy(id, 0),
      () => sendPing(pinging(), id),
      () => change(ledger.db, id, { events: [] }),
    ]) {
      await expect(operate()).rejects.toThrow(`There is no endpoint ${id}`);
    }
  });
});

it('an endpoint and a delivery are not found for another merchant, and stay as they are', async () => {
  const { id, secret } = await register();
  const [pending] = await claimed(1);
  const { db } = ledger;
  const stranger = memberOf({ userId: UNKNOWN_ID, merchantId: UNKNOWN_ID, role: 'owner' });
  for (const operate of [
    () => findEndpoint(db, stranger, id),
    () => enable(db, id, stranger),
    () => disable(db, id, stranger),
    () => remove(db, id, stranger),
    () => rotate({ db, sealer }, id, { overlapSeconds: 0 }, stranger),
    () => change(db, id, { events: ['payment.paid'] }, stranger),
    () => redeliverAs(db, [pending?.deliveryId ?? ''], stranger),
  ]) {
    await expect(operate()).rejects.toThrow('There is no ');
  }
  expect(await listOwnEndpoints(db, ledger.merchantId)).toMatchObject([
    { id, events: null, status: 'enabled', pending: 1 },
  ]);
  expect(await findNewestSecret(db, sealer, ledger.merchantId)).toBe(secret);
});

it('a rotation with the same id of a secret makes one secret, and ends none', async () => {
  const { id } = await register();
  const rotation = { overlapSeconds: 0, formId: randomUUID() };
  const { secret } = await rotate({ db: ledger.db, sealer }, id, rotation);
  expect(await rotate({ db: ledger.db, sealer }, id, rotation)).toMatchObject({ id, secret: null });
  expect(await findNewestSecret(ledger.db, sealer, ledger.merchantId)).toBe(secret);
});

it('a limit ends the redelivery of a range after the oldest', async () => {
  const { id } = await register();
  await claimed(3);
  await disable(ledger.db, id);
  await enable(ledger.db, id);
  const range = { since: new Date(0), until: new Date(Date.now() + 60_000), limit: 2 };
  expect(await redeliverRange(ledger.db, range)).toEqual({ redelivered: 2, skipped: 0 });
  expect((await rowsOf()).map(({ status }) => status)).toEqual(['pending', 'pending', 'dead']);
});
