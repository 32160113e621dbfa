import { createServer, type Server } from 'node:http';
import { createServer as createTcpServer, Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { freePort } from '../../../src/local-stack/ports';
import { ProviderHttp } from '../../../src/providers/calls/http';

const PATH = '/v2/charge';
const charge = { method: 'POST', path: PATH, headers: {}, bytes: Buffer.from('{}') } as const;
const { signal } = new AbortController();

let server: Server;
let url: string;

beforeAll(async () => {
  server = createServer((request, response) => request.resume().on('end', () => response.end('{}')));
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${port}`;
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => new Promise((resolve) => server.close(resolve)));

it('a call whose connection is never ready ends at its deadline, and is not written later', async () => {
  const received: Buffer[] = [];
  const sockets: Socket[] = [];
  const silent = createTcpServer((socket) => sockets.push(socket.on('data', (bytes) => received.push(bytes))));
  const port = await freePort();
  await new Promise<void>((resolve) => silent.listen(port, '127.0.0.1', resolve));
  // It accepts the connection, and never responds by TLS.
  const http = new ProviderHttp(`https://127.0.0.1:${port}`);
  const sent = http.send(charge, { deadlineAtMs: Date.now() + 50, signal });
  const late = new Promise((resolve) => setTimeout(resolve, 5_000, 'five seconds later').unref());
  expect(await Promise.race([sent, late])).toMatchObject({ outcome: 'indeterminate' });
  expect(Buffer.concat(received).includes(PATH)).toBe(false);
  for (const socket of sockets) socket.destroy();
  await Promise.all([http.close(), new Promise((resolve) => silent.close(resolve))]);
});

/** Time that passes only in the steps of the event loop that follow a reading of the clock. */
class SteppedClock {
  nowMs = Date.now();
  /** When a request was written. */
  readonly writtenAtMs: number[] = [];

  constructor() {
    jest.spyOn(Date, 'now').mockImplementation(() => {
      this.#pass(20);
      return this.nowMs;
    });
    const { writtenAtMs } = this;
    const atMs = () => this.nowMs;
    jest.spyOn(Socket.prototype, 'write').mockImplementation(function (this: Socket, chunk, encoding = 'utf8', done) {
      if (String(chunk).startsWith(`POST ${PATH}`)) writtenAtMs.push(atMs());
      return Duplex.prototype.write.call(this, chunk, encoding, done);
    });
  }

  /** A millisecond before each of the next steps. */
  #pass(steps: number): void {
    if (steps === 0) return;
    queueMicrotask(() => {
      this.nowMs += 1;
      this.#pass(steps - 1);
    });
  }
}

it('no request is written after its deadline, wherever the process was suspended', async () => {
  const clock = new SteppedClock();
  const outcomes = new Map<string, number>();
  for (let leftMs = 1; leftMs <= 60; leftMs += 1) {
    const http = new ProviderHttp(url);
    clock.writtenAtMs.length = 0;
    const deadlineAtMs = clock.nowMs + leftMs;
    const { outcome } = await http.send(charge, { deadlineAtMs, signal });
    expect({ leftMs, late: clock.writtenAtMs.filter((atMs) => atMs >= deadlineAtMs) }).toEqual({ leftMs, late: [] });
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    await http.close();
  }
  expect([...outcomes.keys()].toSorted()).toEqual(['indeterminate', 'responded']);
});
