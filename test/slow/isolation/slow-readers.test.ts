import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { startTestApis, type TestApis } from '../../support/api';

/** The largest file, of 150 kB. */
const FILE = '/openapi.json';
const READERS = 1_000;
/** The requests of one connection: more than the kernel takes on its own. */
const PIPELINED = 400;
const MEGABYTE = 1_024 * 1_024;

/** Sends requests and reads nothing. */
async function connectSlowReader(url: string, requests = 1): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.pause();
  socket.write(`GET ${FILE} HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`.repeat(requests));
  return socket;
}

/** Also by a reset, which is an error. */
function closed(socket: Socket): Promise<unknown> {
  return new Promise((resolve) => socket.once('close', resolve));
}

describe('callers that do not read', () => {
  let apis: TestApis;
  afterEach(() => apis.close());

  it('share the bytes of a file: a thousand readers of 150 kB take less than 50 MB', async () => {
    apis = await startTestApis([{}]);
    const [url = ''] = apis.urls;
    await (await fetch(url + FILE)).arrayBuffer();
    const before = process.memoryUsage().arrayBuffers;
    const sockets = await Promise.all(Array.from({ length: READERS }, () => connectSlowReader(url)));
    // A response after theirs: all of them have been sent as far as the connections take them.
    await (await fetch(`${url}/healthz`)).arrayBuffer();
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(50 * MEGABYTE);
    for (const socket of sockets) socket.destroy();
  });

  it('a caller that does not read is cut after 30 s', async () => {
    apis = await startTestApis([{}]);
    const [url = ''] = apis.urls;
    const socket = await connectSlowReader(url, PIPELINED);
    const startedMs = performance.now();
    // A paused socket does not notice that the server has closed the connection: it reads again after 35 s.
    setTimeout(() => socket.resume(), 35_000);
    let bytes = 0;
    socket.on('data', (data) => (bytes += data.length));
    socket.pause();
    await closed(socket);
    expect(performance.now() - startedMs).toBeGreaterThan(29_000);
    expect(bytes).toBeLessThan(PIPELINED * 150_000);
  });

  it('take no more than MAX_CONNECTIONS: a further connection is closed', async () => {
    apis = await startTestApis([{ maxConnections: 5 }]);
    const [url = ''] = apis.urls;
    const sockets = await Promise.all(Array.from({ length: 5 }, () => connectSlowReader(url)));
    const further = await connectSlowReader(url);
    further.resume();
    await closed(further);
    expect(further.bytesRead).toBe(0);
    for (const socket of sockets) socket.destroy();
  });
});
