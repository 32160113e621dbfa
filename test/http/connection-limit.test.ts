import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { networkOf } from '../../src/lib/networks';
import { startTestApis, type TestApis } from '../support/api';
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

/** Opens a connection, and asks whether the API serves it. */
async function isServed(url = ''): Promise<boolean> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  sockets.push(socket);
  socket.on('error', () => undefined);
  const end = once(socket, 'close');
  socket.write('GET /none HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await Promise.race([once(socket, 'data'), end]).catch(() => end);
  return socket.bytesRead > 0;
}

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
