import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { Client } from 'pg';
import { createLogger } from '../../../src/observability/logger';
import { startApi } from '../../../src/servers/api-server';
import { collectGarbage } from '../../support/collect-garbage';
import { destroyAll, openStream, openStreams, statusesOf } from '../../support/event-streams';
import { eventually } from '../../support/eventually';
import { freeListeners } from '../../support/listeners';
import { createPage } from '../../support/payment-page';
import { newNamespace, NO_LIMITS, startTestService, type TestService } from '../../support/service';

const VIEWERS = 1_000;
/** As many as a payment may have. */
const VIEWERS_OF_PAGE = 10;
const MEGABYTE = 1_024 * 1_024;
const OBSERVED_SECONDS = 5;

let service: TestService;
beforeAll(async () => {
  service = await startTestService(await newNamespace());
});
afterAll(() => service.close());
afterEach(() => jest.restoreAllMocks());

/** Another API process beside the service's, behind a proxy, on the same payments. */
async function startOtherApi(maxConnections: number) {
  const { listeners, apiUrl } = await freeListeners();
  const { databaseUrl, masterKey, temporal } = service;
  const log = createLogger('test', 'silent');
  const settings = { ...listeners, ...NO_LIMITS, databaseUrl, masterKey, temporal, log, maxConnections, trustProxy: 1 };
  return { apiUrl, api: await startApi({ ...settings, environment: 'sandbox' }) };
}

/** The page reads its status instead, at the rate of the header. */
async function expectRejected(response: IncomingMessage): Promise<void> {
  const { 'retry-after': retryAfter, 'x-error-reason': reason } = response.headers;
  expect([response.statusCode, retryAfter, reason]).toEqual([429, '10', 'streams_open']);
  expect(await text(response)).toContain('"code":"rate_limited"');
}

/** Collects what the server sends, until the expected text is there. */
async function readUntil(response: IncomingMessage, expected: string): Promise<string> {
  let received = '';
  response.setEncoding('utf8').on('data', (data: string) => (received += data));
  await eventually(
    async () => received.includes(expected),
    (isThere) => isThere,
  );
  response.destroy();
  return received;
}

interface ViewerStream {
  readonly response: IncomingMessage;
  received: string;
}

/** @param address of the client, as a proxy names it */
async function openViewer(url: string, address = '203.0.113.1'): Promise<ViewerStream> {
  const response = await openStream(`${url}/events?seen=2`, { 'x-forwarded-for': address });
  expect(response.statusCode).toBe(200);
  const stream = { response, received: '' };
  response.setEncoding('utf8').on('data', (text: string) => (stream.received += text));
  response.on('error', () => undefined);
  return stream;
}

describe('GET /pay/:token/events', () => {
  it('sends an event when the status differs from the one that the page shows', async () => {
    const { url, referenceId } = await createPage(service);
    const stream = await openStream(`${url}/events?seen=2`);
    expect([stream.statusCode, stream.headers['content-type'], stream.headers['cache-control']]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
      'no-store',
    ]);
    await service.pay(referenceId);
    expect(await readUntil(stream, 'paid')).toBe('retry: 2000\n\nid: 3\nevent: status\ndata: {"status":"paid"}\n\n');
  });

  it('sends the current status to a page that is old, and to one that connects again with an old id', async () => {
    const { url } = await createPage(service);
    const pending = 'id: 2\nevent: status\ndata: {"status":"pending"}\n\n';
    expect(await readUntil(await openStream(`${url}/events?seen=1`), 'pending')).toContain(pending);
    const again = await openStream(`${url}/events?seen=2`, { 'last-event-id': '1' });
    expect(await readUntil(again, 'pending')).toContain(pending);
  });

  it('ends a HEAD request', async () => {
    const { url } = await createPage(service);
    const response = await openStream(`${url}/events`, {}, 'HEAD');
    expect([response.statusCode, await text(response)]).toEqual([200, '']);
  });

  it('rejects a stream if half of the connections are streams', async () => {
    const { url } = await createPage(service);
    const { apiUrl, api } = await startOtherApi(2);
    const address = `${url.replace(service.apiUrl, apiUrl)}/events?seen=2`;
    const first = await openStream(address);
    await expectRejected(await openStream(address));
    first.destroy();
    await api.close();
  });

  it('rejects an eleventh stream of a payment until one has ended, and none of another payment', async () => {
    const [{ url }, other] = await Promise.all([createPage(service), createPage(service)]);
    const open = () => openStream(`${url}/events`);
    const streams = await openStreams(10, open);
    expect(statusesOf(streams)).toEqual([200]);
    await expectRejected(await open());
    streams.push(await openStream(`${other.url}/events`));
    expect(statusesOf(streams)).toEqual([200]);
    streams.shift()?.destroy();
    streams.push(await eventually(open, ({ statusCode }) => statusCode === 200));
    destroyAll(streams);
  });

  it.each([
    ['an IPv4 address', () => '203.0.113.9', '203.0.113.10'],
    ['an IPv6 /48', (index: number) => `2001:db8:1:${index}::1`, '2001:db8:2::1'],
  ])('rejects the 51st stream of %s behind a proxy, and none of another network', async (_name, of, elsewhere) => {
    const pages = await Promise.all(Array.from({ length: 6 }, () => createPage(service)));
    const { apiUrl, api } = await startOtherApi(1_000);
    const open = (index: number, address: string) => {
      const url = pages[index % pages.length]?.url.replace(service.apiUrl, apiUrl);
      return openStream(`${url}/events`, { 'x-forwarded-for': address });
    };
    const streams = await openStreams(50, (index) => open(index, of(index)));
    expect(statusesOf(streams)).toEqual([200]);
    await expectRejected(await open(5, of(50)));
    streams.push(await open(5, elsewhere));
    expect(statusesOf(streams)).toEqual([200]);
    destroyAll(streams);
    await api.close();
  });

  it('ends when the process stops, so that the browser connects to another one', async () => {
    const { url } = await createPage(service);
    const { apiUrl, api } = await startOtherApi(100);
    const stream = await openStream(`${url.replace(service.apiUrl, apiUrl)}/events?seen=2`);
    const ended = text(stream);
    await api.close();
    expect(await ended).toBe('retry: 2000\n\n');
  });
});

/** The bytes of the heap that are in use, without garbage. */
function usedHeap(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/** Counts the statements of all connections, and lets them through. */
function countStatements(): () => number {
  const queries = jest.spyOn(Client.prototype, 'query');
  return () => queries.mock.calls.filter(([query]) => isStatusQuery(query)).length;
}

function isStatusQuery(query: unknown): boolean {
  return typeof query === 'object' && query !== null && 'name' in query && query.name === 'find_checkout_statuses';
}

describe(`${VIEWERS} viewers on one process`, () => {
  it('cost one statement per second and little memory, and all see the payment', async () => {
    const pages = await Promise.all(Array.from({ length: VIEWERS / VIEWERS_OF_PAGE }, () => createPage(service)));
    const { apiUrl, api } = await startOtherApi(10 * VIEWERS);
    const urls = pages.map(({ url }) => url.replace(service.apiUrl, apiUrl));
    const statements = countStatements();
    const before = usedHeap();
    const streams = await Promise.all(
      Array.from({ length: VIEWERS }, (_, index) =>
        openViewer(urls[index % urls.length] ?? '', `203.0.113.${index % 50}`),
      ),
    );
    const [countBefore, startedMs] = [statements(), performance.now()];
    await eventually(
      async () => performance.now() - startedMs,
      (ms) => ms > OBSERVED_SECONDS * 1_000,
    );
    const seconds = (performance.now() - startedMs) / 1_000;
    expect(statements() - countBefore).toBeGreaterThan(0);
    expect(statements() - countBefore).toBeLessThanOrEqual(Math.ceil(seconds));
    // Both ends of each connection are in this process.
    expect(usedHeap() - before).toBeLessThan(100 * MEGABYTE);
    expect(streams.filter(({ received }) => received.includes('event:'))).toEqual([]);

    const [paid] = pages;
    await service.pay(paid?.referenceId ?? '');
    const notified = () =>
      streams.filter(({ received }) => received.includes('event: status\ndata: {"status":"paid"}'));
    await eventually(
      async () => notified().length,
      (count) => count === VIEWERS_OF_PAGE,
    );
    expect(notified()).toEqual(streams.filter((_, index) => index % pages.length === 0));
    destroyAll(streams.map(({ response }) => response));
    await expectSilence(statements);
    await api.close();
  });

  it('leave: without a viewer there is no statement', async () => {
    const { url } = await createPage(service);
    const statements = countStatements();
    const stream = await openViewer(url);
    await eventually(
      async () => statements(),
      (count) => count > 0,
    );
    stream.response.destroy();
    await expectSilence(statements);
  });
});

/** Without a viewer no statement follows the one in flight. */
async function expectSilence(statements: () => number): Promise<void> {
  let [last, sinceMs] = [statements(), performance.now()];
  await eventually(
    async () => {
      if (statements() !== last) [last, sinceMs] = [statements(), performance.now()];
      return performance.now() - sinceMs;
    },
    (silentMs) => silentMs > 3_000,
  );
  expect(statements()).toBe(last);
}
