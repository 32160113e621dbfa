import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { networkOf } from '../../src/lib/networks';
import { sendRequest, startTestApis, type TestApis } from '../support/api';
import { eventually } from '../support/eventually';

const MOST = 100;

let apis: TestApis;
beforeAll(async () => {
  const limit = { maxConnectionsPerClient: MOST };
  apis = await startTestApis([limit, { ...limit, trustProxy: ['127.0.0.0/8'] }, { ...limit, trustProxy: 1 }]);
});
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});
afterAll(() => apis.close());

/** Opens a connection, and returns the first line of its response; empty without one. */
async function statusLine(url = ''): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  sockets.push(socket);
  socket.on('error', () => undefined);
  const end = once(socket, 'close');
  socket.write('GET /none HTTP/1.1\r\nHost: localhost\r\n\r\n');
  const [data] = await Promise.race([once(socket, 'data'), end]).catch(() => end);
  return Buffer.isBuffer(data) ? (data.toString().split('\r\n')[0] ?? '') : '';
}

/** Opens a connection, and asks whether the API serves it. */
const isServed = async (url = '') => (await statusLine(url)) === 'HTTP/1.1 404 Not Found';

async function countServed(urls: readonly string[]): Promise<number> {
  let count = 0;
  for (let index = 0; index < MOST + 20; index += 1) if (await isServed(urls[index % urls.length])) count += 1;
  return count;
}

it('one address holds at most 100 connections of both listeners, and others can follow', async () => {
  const [url = '', operatorUrl = ''] = [apis.urls[0], apis.operatorUrls[0]];
  expect(await countServed([url, operatorUrl])).toBe(MOST);
  for (const socket of sockets.splice(0)) socket.destroy();
  await eventually(() => isServed(url), Boolean);
});

it('200 concurrent creates of one address all get a response, beyond its connections a 429', async () => {
  const { secret } = await apis.newKey();
  const create = () =>
    sendRequest(`${apis.urls[0]}/payments`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      // No payment is created: this API has no Temporal. It is as large as a bulk with many fields.
      body: JSON.stringify({ amount: 0, metadata: { text: 'x'.repeat(50_000) } }),
    });
  const results = await Promise.all(Array.from({ length: 2 * MOST }, create));
  const rejected = results.filter(({ status }) => status === 429);
  const served = results.filter(({ code }) => code === 'invalid_amount');
  expect([rejected.length + served.length, served.length >= MOST, rejected.length > 0]).toEqual([2 * MOST, true, true]);
  for (const { code, headers } of rejected) {
    const found = ['retry-after', 'connection', 'x-error-reason'].map((name) => headers.get(name));
    expect([code, ...found]).toEqual(['rate_limited', '1', 'close', 'connections_open']);
  }
  // The connections that were served are kept, and used by those that repeat.
  const repeated = await Promise.all(rejected.map(create));
  expect(new Set(repeated.map(({ code }) => code))).toEqual(new Set(['invalid_amount']));
});

it('a connection beyond the limit is closed without a request too, and further ones immediately', async () => {
  // `fetch` keeps the connections of the test above, from another address.
  const [url = ''] = apis.urls;
  const open = () => {
    const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', localAddress: '127.0.0.9' });
    sockets.push(socket);
    socket.on('error', () => undefined);
    return once(socket, 'close');
  };
  const closed: number[] = [];
  const closings = Array.from({ length: 6 * MOST }, (_, index) => open().then(() => closed.push(index)));
  // Those that wait for their request are as many as four times the limit.
  await eventually(
    async () => closed.length,
    (count) => count === 5 * MOST,
  );
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(closings);
  expect(Math.min(...closed.slice(0, MOST))).toBe(5 * MOST);
});

it('a proxy of TRUST_PROXY holds any number', async () => {
  expect(await countServed([apis.urls[1] ?? '', apis.operatorUrls[1] ?? ''])).toBe(MOST + 20);
});

it('a number of proxies is before the public listener only', async () => {
  expect(await countServed([apis.urls[2] ?? ''])).toBe(MOST + 20);
  expect(await countServed([apis.operatorUrls[2] ?? ''])).toBe(MOST);
});

it('a client of IPv6 is a /48', () => {
  expect(networkOf('2001:db8:1:2:3::4', 3)).toBe('2001:db8:1::/48');
});
