import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request, type IncomingMessage } from 'node:http';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import express, { type RequestHandler } from 'express';
import { Pool } from 'pg';
import { StreamCursors } from '../../../src/api/webhook-stream/stream-cursor';
import { WebhookStreams } from '../../../src/api/webhook-stream/webhook-streams';
import { DerivedKeys } from '../../../src/crypto/derived-keys';
import { createSealer } from '../../../src/crypto/sealing';
import { findStreamEnd } from '../../../src/db/webhooks/find-webhook-stream';
import { ApiError } from '../../../src/http/api-error';
import { createLogger } from '../../../src/observability/logger';
import { redeliverNamed } from '../../../src/services/webhooks/webhook-redelivery';
import { eventually } from '../../support/eventually';
import { revokeAsOperator } from '../../support/keys';
import { startReceiver } from '../../support/receiver';
import { createSecondMerchant } from '../../support/second-merchant';
import { newNamespace, startTestService, type TestService } from '../../support/service';
import { registerEndpoint } from '../../support/webhooks';

const DAY_MS = 86_400_000;

let service: TestService;
beforeAll(async () => {
  service = await startTestService(await newNamespace());
});
afterAll(() => service.close());

/** The cursors of the service. */
const cursors = () => new StreamCursors(new DerivedKeys(service.db, createSealer(service.masterKey)));

interface Stream {
  readonly status: number;
  readonly messages: readonly EventSourceMessage[];
  /** Waits for the message of that event. */
  message(event: string, isIt?: (message: EventSourceMessage) => boolean): Promise<EventSourceMessage>;
  readonly ended: Promise<unknown>;
  close(): void;
}

const streams: Stream[] = [];
afterEach(() => {
  jest.restoreAllMocks();
  for (const stream of streams.splice(0)) stream.close();
});

async function openStream(secretKey: string, cursor?: string): Promise<Stream> {
  const headers = {
    authorization: `Bearer ${secretKey}`,
    ...(cursor !== undefined && { 'last-event-id': cursor }),
  };
  const [response]: IncomingMessage[] = await once(
    request(`${service.apiUrl}/webhooks/stream`, { headers }).end(),
    'response',
  );
  if (!response) throw new Error('There was no response');
  const messages: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (message) => messages.push(message) });
  response.setEncoding('utf8').on('data', (text: string) => parser.feed(text));
  response.on('error', () => undefined);
  const stream = {
    status: response.statusCode ?? 0,
    messages,
    async message(event: string, isIt: (message: EventSourceMessage) => boolean = () => true) {
      const find = () => messages.find((message) => message.event === event && isIt(message));
      const found = await eventually(
        async () => find(),
        (message) => message !== undefined,
      );
      if (!found) throw new Error('unreachable');
      return found;
    },
    ended: once(response, 'close'),
    close: () => response.destroy(),
  };
  streams.push(stream);
  return stream;
}

const deliveriesOf = ({ messages }: Stream): { payment_id: string; event: string }[] =>
  messages.filter(({ event }) => event === 'delivery').map(({ data }) => JSON.parse(data));

const eventsOf = (stream: Stream, paymentId: string): string[] =>
  deliveriesOf(stream)
    .filter(({ payment_id }) => payment_id === paymentId)
    .map(({ event }) => event);

async function createPayment(secretKey: string): Promise<string> {
  const headers = { authorization: `Bearer ${secretKey}` };
  const { status, body } = await service.call('POST', '/payments', { amount: 25_000 }, headers);
  expect(status).toBe(201);
  return body.payment.id;
}

/** The pages that the streams of this process have read since now. */
function pagesRead(): () => Promise<number> {
  const queries = jest.spyOn(Pool.prototype, 'query');
  return async () => queries.mock.calls.filter(([query]) => JSON.stringify(query)?.includes('find_stream_page')).length;
}

const ofPayment =
  (paymentId: string, name: string) =>
  ({ data }: EventSourceMessage): boolean =>
    data.includes(paymentId) && JSON.parse(data).event === name;

describe('GET /webhooks/stream', () => {
  it("a stream has the events of a merchant without an endpoint, with the webhook's bytes", async () => {
    const { id: merchantId, secretKey } = await createSecondMerchant(service.db);
    const stream = await openStream(secretKey);
    await stream.message('ready');
    const other = await createPayment(service.secretKey);
    const paymentId = await createPayment(secretKey);
    const { data } = await stream.message('delivery', ofPayment(paymentId, 'payment.pending'));
    expect(eventsOf(stream, paymentId)).toEqual(['payment.created', 'payment.pending']);
    expect(eventsOf(stream, other)).toEqual([]);
    const { rows } = await service.db.query(
      `select body from webhook_events join payments on payments.id = payment_id
       where merchant_id = $1 and event = 'payment.pending'`,
      [merchantId],
    );
    expect(JSON.parse(data).body).toBe(rows[0]?.body);
  });

  it('continues after the cursor, and repeats nothing', async () => {
    const { secretKey } = await createSecondMerchant(service.db);
    const first = await openStream(secretKey);
    const [before] = [await createPayment(secretKey)];
    const { id: cursor } = await first.message('delivery', ofPayment(before, 'payment.pending'));
    first.close();
    const meantime = await createPayment(secretKey);
    const second = await openStream(secretKey, cursor);
    await second.message('delivery', ofPayment(meantime, 'payment.pending'));
    expect(eventsOf(second, before)).toEqual([]);
    expect(eventsOf(second, meantime)).toEqual(['payment.created', 'payment.pending']);
  });

  it('loses no event whose transaction commits after a later one', async () => {
    const { secretKey } = await createSecondMerchant(service.db);
    const slowId = await createPayment(secretKey);
    const stream = await openStream(secretKey);
    await stream.message('ready');
    const slow = await service.db.connect();
    try {
      await slow.query('begin');
      await slow.query(
        `insert into payment_transitions (payment_id, version, name, from_status, to_status, occurred_at, actor)
         select payment_id, 99, name, from_status, to_status, occurred_at, actor from payment_transitions
         where payment_id = $1 and version = 1`,
        [slowId],
      );
      await slow.query(
        `insert into webhook_events (payment_id, payment_version, event, body, occurred_at)
         values ($1, 99, 'payment.paid', '{}', now())`,
        [slowId],
      );
      const laterId = await createPayment(secretKey);
      await eventually(pagesRead(), (pages) => pages >= 2);
      // The later one is committed, and waits for the one before it.
      expect(eventsOf(stream, laterId)).toEqual([]);
      await slow.query('commit');
      await stream.message('delivery', ofPayment(laterId, 'payment.pending'));
      // A new stream begins at the oldest open transaction of the cluster, which may be before the slow payment's
      // creation: then the stream also has the events of that. The order after it is exact.
      expect(deliveriesOf(stream).slice(-3)).toMatchObject([
        { payment_id: slowId, event: 'payment.paid' },
        { payment_id: laterId, event: 'payment.created' },
        { payment_id: laterId, event: 'payment.pending' },
      ]);
      expect(eventsOf(stream, slowId).filter((event) => event === 'payment.paid')).toHaveLength(1);
    } finally {
      slow.release(true);
    }
  });

  it('a stream has a redelivery, under the same delivery id', async () => {
    const { id: merchantId, secretKey } = await createSecondMerchant(service.db);
    const receiver = await startReceiver();
    const sealer = createSealer(service.masterKey);
    await registerEndpoint(service.db, sealer, { merchantId, url: receiver.url, events: [] });
    const stream = await openStream(secretKey);
    const paymentId = await createPayment(secretKey);
    const { data: first } = await stream.message('delivery', ofPayment(paymentId, 'payment.pending'));
    await receiver.waitFor(2);
    const delivered = () =>
      service.db.query<{ id: string }>(
        `select id from webhook_deliveries where payment_id = $1 and payment_version = 2 and status = 'delivered'`,
        [paymentId],
      );
    const { rows } = await eventually(delivered, ({ rowCount }) => rowCount === 1);
    await redeliverNamed(service.operatorContext.db, [rows[0]?.id ?? '']);
    const { data: again } = await stream.message('delivery', ({ data }) => data.includes('"is_redelivery":true'));
    expect(JSON.parse(again)).toEqual({ ...JSON.parse(first), is_redelivery: true });
    await receiver.close();
  });

  it.each([
    ['of another database', { xid: '9000000000000000000' }],
    ['of more than three days ago', { atMs: Date.now() - 3 * DAY_MS - 60_000 }],
    ['without an encryption', undefined],
  ])('begins now with a cursor %s', async (_name, change) => {
    const { id: merchantId, secretKey } = await createSecondMerchant(service.db);
    const end = await findStreamEnd(service.db);
    const cursor = change ? cursors().seal({ ...end, ...change }, merchantId) : `${end.xid}.${end.subjectId}.0`;
    const stream = await openStream(secretKey, cursor);
    expect((await stream.message('ready')).id).not.toBe(cursor);
    const paymentId = await createPayment(secretKey);
    await stream.message('delivery', ofPayment(paymentId, 'payment.pending'));
  });

  it('continues with a cursor of less than three days ago', async () => {
    const { id: merchantId, secretKey } = await createSecondMerchant(service.db);
    const end = await findStreamEnd(service.db);
    const before = await createPayment(secretKey);
    const cursor = cursors().seal({ ...end, atMs: Date.now() - 3 * DAY_MS + 600_000 }, merchantId);
    const stream = await openStream(secretKey, cursor);
    expect((await stream.message('ready')).id).toBe(cursor);
    await stream.message('delivery', ofPayment(before, 'payment.pending'));
  });

  it("a stream's cursors disclose nothing, and are of no use to another merchant", async () => {
    const { id: merchantId, secretKey } = await createSecondMerchant(service.db);
    const stream = await openStream(secretKey);
    await stream.message('ready');
    const foreign = await createPayment(service.secretKey);
    const own = await createPayment(secretKey);
    const { id = '' } = await stream.message('delivery', ofPayment(own, 'payment.pending'));
    for (const message of stream.messages) {
      expect(message.id).toMatch(/^[\w-]{86}$/);
      expect(Buffer.from(message.id ?? '', 'base64url').includes(Buffer.from(foreign.slice(0, 8), 'hex'))).toBe(false);
    }
    expect(cursors().open(id, merchantId)).toMatchObject({ subjectId: own, version: 2 });
    expect(cursors().open(id, service.merchantId)).toBeUndefined();
    const other = await openStream(service.secretKey, id);
    expect((await other.message('ready')).id).not.toBe(id);
  });

  it('rejects a wrong key, and a fifth stream of a key', async () => {
    const headers = { authorization: 'Bearer sk_test_0000' };
    expect((await service.call('GET', '/webhooks/stream', undefined, headers)).body.error.code).toBe('invalid_api_key');
    const { secretKey } = await createSecondMerchant(service.db);
    for (let count = 0; count < 4; count += 1) await (await openStream(secretKey)).message('ready');
    expect((await openStream(secretKey)).status).toBe(429);
  });

  it('200 concurrent requests of one key open four streams', async () => {
    const { secretKey } = await createSecondMerchant(service.db);
    const all = await Promise.all(Array.from({ length: 200 }, () => openStream(secretKey)));
    expect(all.filter(({ status }) => status === 200)).toHaveLength(4);
    expect(all.filter(({ status }) => status === 429)).toHaveLength(196);
    for (const stream of all) stream.close();
    // The slots are free again.
    await eventually(
      () => openStream(secretKey),
      ({ status }) => status === 200,
    );
  });

  it('ends when the key is revoked', async () => {
    const { id: merchantId, secretKey } = await createSecondMerchant(service.db);
    const stream = await openStream(secretKey);
    await stream.message('ready');
    const { rows } = await service.db.query<{ id: string }>('select id from api_keys where merchant_id = $1', [
      merchantId,
    ]);
    await revokeAsOperator(service.operatorContext.db, rows[0]?.id ?? '');
    await stream.ended;
    expect((await openStream(secretKey)).status).toBe(401);
  });
});

describe('a slot in the streams', () => {
  const slot = { keyId: randomUUID(), merchantId: randomUUID() };
  const reader = { lastEventId: undefined, isAuthorized: () => Promise.resolve(true) };
  const streamsWith = (lifetimeMs?: number) =>
    new WebhookStreams(service.db, {
      cursors: cursors(),
      log: createLogger('test', 'silent'),
      ...(lifetimeMs !== undefined && { lifetimeMs }),
    });

  /** Serves one request. */
  async function serve(handle: RequestHandler): Promise<{ readonly url: string; close(): Promise<void> }> {
    const server = createServer(express().get('/', handle)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('The server has no port');
    return {
      url: `http://127.0.0.1:${address.port}/`,
      async close() {
        server.closeAllConnections();
        await once(server.close(), 'close');
      },
    };
  }

  it('a slot in the streams is free again if the client has gone before the stream is opened', async () => {
    const webhookStreams = streamsWith();
    let reserved = 0;
    let opened = 0;
    const server = await serve((_request, response) => {
      const own = webhookStreams.reserve(slot);
      reserved += 1;
      const open = () => {
        webhookStreams.open(own, reader, response);
        opened += 1;
      };
      response.once('close', () => setImmediate(open));
    });
    for (let count = 1; count <= 4; count += 1) {
      const leaving = request(server.url).on('error', () => undefined);
      leaving.end();
      const isReserved = () => Promise.resolve(reserved === count);
      await eventually(isReserved, Boolean);
      leaving.destroy();
      const isOpened = () => Promise.resolve(opened === count);
      await eventually(isOpened, Boolean);
    }
    for (let free = 0; free < 4; free += 1) webhookStreams.reserve(slot);
    expect(() => webhookStreams.reserve(slot)).toThrow(ApiError);
    await server.close();
  });

  it('eight of a merchant, whatever its keys', () => {
    const webhookStreams = streamsWith();
    for (let count = 0; count < 8; count += 1) webhookStreams.reserve({ ...slot, keyId: randomUUID() });
    expect(() => webhookStreams.reserve({ ...slot, keyId: randomUUID() })).toThrow(ApiError);
    webhookStreams.reserve({ keyId: randomUUID(), merchantId: randomUUID() });
  });

  it('the stream ends after its lifetime, with a cursor to continue from', async () => {
    const webhookStreams = streamsWith(0);
    const server = await serve((_request, response) => {
      webhookStreams.open(webhookStreams.reserve(slot), reader, response);
    });
    const response = await fetch(server.url);
    expect(await response.text()).toMatch(/^id: [\w-]{86}\nevent: ready\ndata: {}\n\nid: [\w-]{86}\nevent: end\n/);
    await server.close();
  });
});
