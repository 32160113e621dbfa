import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { type ApiProcess, startApiProcess } from '../support/api-process';
import { newNamespace, startTestService, type TestService } from '../support/service';
import { eventually } from '../support/eventually';

let service: TestService;
let api: ApiProcess;
beforeAll(async () => {
  service = await startTestService(await newNamespace());
});
afterAll(() => service.close());
beforeEach(async () => {
  api = await startApiProcess(service);
});
afterEach(() => api.stop());

/** Keeps its connections, as the clients of merchants do. */
const agent = new Agent({ keepAlive: true });

async function send(
  method: string,
  path: string,
  body = '',
): Promise<{ status: number | undefined; headers: IncomingMessage['headers']; body: string }> {
  const headers = { authorization: `Bearer ${service.secretKey}`, 'content-type': 'application/json' };
  const request = httpRequest(api.url + path, { method, headers, agent }).end(body);
  const [response]: IncomingMessage[] = await once(request, 'response');
  if (!response) throw new Error('There was no answer');
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}

async function connected(): Promise<Socket> {
  const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

/** The payment that is being created is not issued before the work is done. */
async function holdingBack(work: () => Promise<void>): Promise<void> {
  const holder = await service.db.connect();
  try {
    await holder.query('begin');
    await eventually(
      () => holder.query('select id from payments for update'),
      ({ rows }) => rows.length === 1,
    );
    await work();
  } finally {
    await holder.query('rollback');
    holder.release();
  }
}

it('SIGTERM: what is under way is answered, nothing new is taken, and the process ends by itself', async () => {
  await fetch(`${service.sandboxUrl}/simulator/faults`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ operation: 'charge', kind: 'slow', times: 1 }),
  });
  const inFlight = send('POST', '/payments', '{"amount":20000}');
  let stopped: Promise<number | null> | undefined;
  await holdingBack(async () => {
    // Leaves an idle connection behind.
    expect((await send('GET', '/transactions')).status).toBe(200);
    // Connected, and asks nothing; nothing yet.
    const [, late] = await Promise.all([connected(), connected()]);

    stopped = api.stop();
    await eventually(
      () =>
        fetch(`${api.url}/healthz`).then(
          () => 'answered',
          (error: Error) => String(error.cause),
        ),
      (outcome) => outcome.includes('ECONNREFUSED'),
    );
    late.write('GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n');
    expect(await text(late)).toMatch(/^HTTP\/1.1 404 [^]*Connection: close/);
    expect(await Promise.race([inFlight.then(() => 'answered'), Promise.resolve('under way')])).toBe('under way');
  });
  const { status, headers, body } = await inFlight;
  expect([status, JSON.parse(body).payment.status]).toEqual([201, 'pending']);
  expect(headers.connection).toBe('close');
  expect(await stopped).toBe(0);
});

it('SIGTERM: whoever had connected by then is answered, though none of them had been taken yet', async () => {
  api.signal('SIGSTOP');
  const callers = await Promise.all(Array.from({ length: 20 }, connected));
  const responses = callers.map((caller) => {
    caller.write('GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n');
    return text(caller).catch(String);
  });

  const stopped = api.stop();
  api.signal('SIGCONT');

  for (const response of responses) expect(await response).toMatch(/^HTTP\/1.1 404 /);
  expect(await stopped).toBe(0);
});
